/**
 * One host holds a data folder. The lock is a write transaction held open on a small SQLite file of its own: the kernel gives it back
 * when the process dies, however it dies, so a stale lock never blocks. Who holds it stands in the file, for the message; readers may
 * look, as the held transaction writes nothing.
 */
import { existsSync, openSync, closeSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { InterlockError } from '../contract/errors.ts';
import { LOCK_NAME } from './folder.ts';

export interface FolderLock {
  release(): void;
}

export interface LockHolder {
  pid: number;
  hostname: string;
  sinceWallMs: number;
}

/** Fails with `host_running`, naming the holder, or with SQLite's own error where the folder cannot be written. */
export function lockFolder(folder: string, wallMs: number): FolderLock {
  const file = path.join(folder, LOCK_NAME);
  // Made here, for its mode.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  const db = new Database(file, { timeout: 200 });
  try {
    db.pragma('journal_mode = DELETE');
    for (let tries = 0; ; tries++) {
      db.exec('BEGIN IMMEDIATE');
      db.exec('CREATE TABLE IF NOT EXISTS holder (pid INTEGER, hostname TEXT, since_wall_ms INTEGER)');
      db.exec('DELETE FROM holder');
      db.prepare('INSERT INTO holder VALUES (?, ?, ?)').run(process.pid, hostname(), wallMs);
      db.exec('COMMIT');
      // Between the two somebody else may have come; then the name is not ours any more.
      db.exec('BEGIN IMMEDIATE');
      if (db.prepare('SELECT pid FROM holder').pluck().get() === process.pid) break;
      db.exec('ROLLBACK');
      if (tries >= 3) throw new InterlockError('host_running', 'Another host is starting in this data folder.');
    }
  } catch (error) {
    db.close();
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) {
      const holder = readHolder(folder);
      const who = holder ? ` (pid ${holder.pid} on ${holder.hostname})` : '';
      throw new InterlockError('host_running', `Another host${who} holds the data folder ${folder}.`, holder ? { ...holder } : undefined);
    }
    throw error;
  }
  return {
    release() {
      if (!db.open) return;
      db.exec('ROLLBACK');
      db.close();
    },
  };
}

/** Who held it last; null if nobody ever did. Does not say whether they still do. */
export function readHolder(folder: string): LockHolder | null {
  const file = path.join(folder, LOCK_NAME);
  if (!existsSync(file)) return null;
  let db: Database.Database | null = null;
  try {
    db = new Database(file, { readonly: true, timeout: 200 });
    const row = db.prepare('SELECT pid, hostname, since_wall_ms AS sinceWallMs FROM holder').get() as LockHolder | undefined;
    return row ?? null;
  } catch {
    return null;
  } finally {
    db?.close();
  }
}
