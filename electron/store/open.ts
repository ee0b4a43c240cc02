/**
 * Opening the database by rule: what is checked, what is set, and what is done when something is wrong. The writer's connection and
 * the reader's are both made here and nowhere else.
 */
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import Database from 'better-sqlite3';
import { InterlockError, type ErrorCode } from '../contract/errors.ts';
import type { Notice } from '../contract/live.ts';
import { DAMAGED_NAME, DATABASE_NAME, moveAside, prepareFolder, syncFolder } from './folder.ts';
import { migrate, readVersion, SCHEMA_VERSION } from './migrations/index.ts';

export type Db = Database.Database;
export type FoundNotice = Pick<Notice, 'severity' | 'code' | 'message'>;
export type ReadOnly = { code: ErrorCode; message: string };

export interface Opened {
  /** Null where there is nothing to read either. */
  db: Db | null;
  readOnly: ReadOnly | null;
  notices: FoundNotice[];
  /** True: the last writer did not close it; a check in the background is due. */
  unclean: boolean;
}

export interface OpenRules {
  folder: string;
  wallMs: number;
  fileSystemType?: number | undefined;
  /** Tests only: what the connection's `synchronous` is set to. */
  synchronous?: 'FULL' | 'NORMAL' | undefined;
  /** Tests only: leave out the readback, so that the power-cut test can look at NORMAL. */
  trustSynchronous?: boolean | undefined;
}

/** The WAL is cut back to this after a checkpoint, and checkpoints keep it from growing past it. */
export const WAL_LIMIT_BYTES = 64 * 2 ** 20;
/** Up to this size the whole database is checked at every opening: it costs less than 50 ms. */
const CHECK_AT_ONCE_BYTES = 64 * 2 ** 20;
const BUSY_TIMEOUT_MS = 2_000;
/** A history that is only shown from a copy in memory may be so large. */
const LARGEST_COPY_BYTES = 512 * 2 ** 20;
const NO_SHARED_MEMORY = new Set([
  'SQLITE_CANTOPEN',
  'SQLITE_READONLY_CANTINIT',
  'SQLITE_READONLY_DIRECTORY',
  'SQLITE_IOERR_SHMSIZE',
  'SQLITE_IOERR_SHMOPEN',
]);
const OLDEST_SQLITE = [3, 51, 3];
const HEADER = 'SQLite format 3\0';

/** For the writer. Never throws for a damaged, newer, full or read-only history: that is told in the answer. */
export function openWriter(rules: OpenRules): Opened {
  const notices: FoundNotice[] = [];
  const warning = prepareFolder(rules.folder, rules.fileSystemType);
  if (warning !== null) notices.push({ severity: 'warning', code: 'info', message: warning });
  const file = path.join(rules.folder, DATABASE_NAME);
  try {
    const found = inspect(file);
    if (found.version > SCHEMA_VERSION) return { ...openNewer(rules.folder, found.version), notices };
    const why = found.damage ?? readMarker(rules.folder);
    if (why !== null) notices.push(putAside(rules, why));
    return { ...openOrReplace(rules, file, notices), notices };
  } catch (error) {
    const readOnly = explainUnwritable(error, rules.folder);
    if (!readOnly) throw error;
    return { db: tryReader(rules.folder), readOnly, notices, unclean: false };
  }
}

/** For somebody who only looks, beside a host or without one. */
export function openBeside(folder: string): Opened {
  const readOnly: ReadOnly = { code: 'read_only', message: 'The history was opened for reading.' };
  return { db: openReader(folder), readOnly, notices: [], unclean: false };
}

/** The writer again, after its connection could no longer be trusted. Nothing is moved or migrated. Fails as SQLite does. */
export function reopenWriter(rules: OpenRules): Db {
  const db = connect(path.join(rules.folder, DATABASE_NAME), rules, true);
  try {
    setMeta(db, 'clean_shutdown', '0');
    requireFull(db, rules);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** A read-only connection; null if there is no database yet. */
export function openReader(folder: string): Db | null {
  const file = path.join(folder, DATABASE_NAME);
  if (!existsSync(file) || statSync(file).size === 0) return null;
  let db: Db | null = null;
  try {
    db = new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
    readVersion(db);
    db.prepare('SELECT count(*) FROM sqlite_master').get();
  } catch (error) {
    db?.close();
    if (!NO_SHARED_MEMORY.has(codeOf(error))) throw error;
    db = openCopy(file, error);
  }
  hardenConnection(db);
  db.pragma('query_only = ON');
  return db;
}

/**
 * A folder that cannot be written has no room for WAL's shared memory. With an empty WAL the file alone is whole, and a copy of it in
 * memory, marked as having no WAL, can be read.
 */
function openCopy(file: string, why: unknown): Db {
  const wal = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (wal > 0 || statSync(file).size > LARGEST_COPY_BYTES) throw why;
  const bytes = readFileSync(file);
  bytes[18] = 1;
  bytes[19] = 1;
  return new Database(bytes, { readonly: true });
}

/** What is wrong with the pages, or null. Takes about 0.5 s a GB. */
export function checkQuickly(db: Db): string | null {
  try {
    const found = db.pragma('quick_check(1)', { simple: true }) as string;
    return found === 'ok' ? null : found;
  } catch (error) {
    if (isDamage(error)) return (error as Error).message;
    throw error;
  }
}

export function setMeta(db: Db, key: string, value: string): void {
  db.prepare('INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value').run(key, value);
}

export function getMeta(db: Db, key: string): string | null {
  return (db.prepare('SELECT value FROM meta WHERE key = ?').pluck().get(key) as string | undefined) ?? null;
}

export function codeOf(error: unknown): string {
  return (error as { code?: string } | null)?.code ?? '';
}

export function isDamage(error: unknown): boolean {
  const code = codeOf(error);
  return code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB';
}

function openOrReplace(rules: OpenRules, file: string, notices: FoundNotice[]): Omit<Opened, 'notices'> {
  for (;;) {
    let db: Db | null = null;
    try {
      const isNew = !existsSync(file);
      // Made here, for its mode; SQLite gives -wal and -shm the same.
      if (isNew) closeSync(openSync(file, 'a', 0o600));
      const small = statSync(file).size <= CHECK_AT_ONCE_BYTES;
      const looked = small && !isNew ? checkUntouched(file) : null;
      if (typeof looked === 'string') throw damageError(looked);
      db = connect(file, rules);
      const damage = looked === ONLY_A_WRITER ? checkQuickly(db) : null;
      if (damage !== null) throw damageError(damage);
      migrate(db);
      const unclean = !isNew && getMeta(db, 'clean_shutdown') !== '1';
      if (getMeta(db, 'uuid') === null) setMeta(db, 'uuid', randomUUID());
      setMeta(db, 'clean_shutdown', '0');
      requireFull(db, rules);
      if (isNew) syncFolder(rules.folder);
      return { db, readOnly: null, unclean: unclean && !small };
    } catch (error) {
      db?.close();
      if (!isDamage(error)) throw error;
      notices.push(putAside(rules, (error as Error).message));
    }
  }
}

function damageError(found: string): Error {
  return Object.assign(new Error(found), { code: 'SQLITE_CORRUPT' });
}

/** The file was left in mid-change by a rollback journal, which only a writer can undo. */
const ONLY_A_WRITER = Symbol('only a writer can tell');

/** By a connection that only reads: what is damaged is kept as it was found, WAL and all. */
function checkUntouched(file: string): string | null | typeof ONLY_A_WRITER {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  try {
    return checkQuickly(db);
  } catch (error) {
    if (codeOf(error).startsWith('SQLITE_READONLY')) return ONLY_A_WRITER;
    throw error;
  } finally {
    db.close();
  }
}

function connect(file: string, rules: OpenRules, mustExist = false): Db {
  const db = new Database(file, { timeout: BUSY_TIMEOUT_MS, fileMustExist: mustExist });
  try {
    requireVersion(db);
    const mode = db.pragma('journal_mode = WAL', { simple: true });
    if (mode !== 'wal')
      throw new InterlockError('folder_unusable', `The history cannot use a write-ahead log here (SQLite answers "${String(mode)}").`);
    db.pragma(`synchronous = ${rules.synchronous ?? 'FULL'}`);
    db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
    hardenConnection(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function hardenConnection(db: Db): void {
  db.pragma('trusted_schema = OFF');
  db.pragma('cell_size_check = ON');
  db.pragma('mmap_size = 0');
  db.pragma('foreign_keys = ON');
}

/**
 * better-sqlite3 is built to fall to NORMAL with the first write in WAL mode, and NORMAL loses committed events in a power cut. So it
 * is read back after a write, and anything but FULL (2) or EXTRA (3) is refused.
 */
function requireFull(db: Db, rules: OpenRules): void {
  if (rules.trustSynchronous === true) return;
  const level = db.pragma('synchronous', { simple: true }) as number;
  if (level < 2)
    throw new InterlockError('internal', `The history would not survive a power cut: synchronous is ${level} after a write, not FULL.`);
}

function requireVersion(db: Db): void {
  const version = db.prepare('SELECT sqlite_version()').pluck().get() as string;
  const parts = version.split('.').map(Number);
  for (const [index, least] of OLDEST_SQLITE.entries()) {
    const part = parts[index] ?? 0;
    if (part > least) return;
    if (part < least) throw new InterlockError('internal', `SQLite ${version} can damage a database in use; 3.51.3 or newer is needed.`);
  }
}

/** Looks at the header alone: a file of a newer program must not be touched, not even by recovery. */
function inspect(file: string): { version: number; damage: string | null } {
  if (!existsSync(file)) return { version: 0, damage: null };
  const size = statSync(file).size;
  if (size === 0) return { version: 0, damage: null };
  const header = Buffer.alloc(100);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, header, 0, 100, 0);
  } finally {
    closeSync(descriptor);
  }
  if (size < 512 || header.toString('latin1', 0, 16) !== HEADER) return { version: 0, damage: 'it does not begin like a database' };
  const inFile = header.readUInt32BE(60);
  return { version: Math.max(inFile, inFile > SCHEMA_VERSION ? 0 : versionThroughWal(file)), damage: null };
}

/** A migration that has not been checkpointed yet stands in the WAL only. */
function versionThroughWal(file: string): number {
  const wal = `${file}-wal`;
  if (!existsSync(wal) || statSync(wal).size === 0) return 0;
  let db: Db | null = null;
  try {
    db = new Database(file, { readonly: true, fileMustExist: true });
    return readVersion(db);
  } catch {
    return 0;
  } finally {
    db?.close();
  }
}

function openNewer(folder: string, version: number): Omit<Opened, 'notices'> {
  const message = `This history was made by a newer version of Interlock (schema ${version}, this one knows ${SCHEMA_VERSION}). It is shown, not changed.`;
  return { db: tryReader(folder), readOnly: { code: 'newer_data', message }, unclean: false };
}

function tryReader(folder: string): Db | null {
  try {
    return openReader(folder);
  } catch {
    return null;
  }
}

function putAside(rules: OpenRules, why: string): FoundNotice {
  const name = moveAside(rules.folder, rules.wallMs);
  return {
    severity: 'error',
    code: 'corrupt_data',
    message: `The history was damaged (${why.slice(0, 200)}). It was kept as ${name} in ${rules.folder}, and a new one was begun.`,
  };
}

function readMarker(folder: string): string | null {
  const marker = path.join(folder, DAMAGED_NAME);
  return existsSync(marker) ? readFileSync(marker, 'utf8').slice(0, 200) : null;
}

/** Words for a folder that cannot be written; null if it is something else. */
export function explainUnwritable(error: unknown, folder: string): ReadOnly | null {
  const code = codeOf(error);
  if (code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_SHMSIZE' || code === 'ENOSPC' || code === 'EDQUOT') {
    return { code: 'disk_full', message: `The disk is full: the history in ${folder} cannot be written.` };
  }
  if (code.startsWith('SQLITE_READONLY') || code === 'SQLITE_CANTOPEN' || ['EROFS', 'EACCES', 'EPERM'].includes(code)) {
    return {
      code: 'read_only',
      message: `The history in ${folder} cannot be written: the folder or its file system is read-only for this user.`,
    };
  }
  return null;
}
