/**
 * One run as a database of its own: SQLite's backup, from which everything else is taken out. The copy lies in a private temporary
 * folder and has lost its name by the time its first byte is read, so nothing is left behind whatever ends this thread.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { InterlockError } from '../contract/errors.ts';
import { PIECE_BYTES } from '../contract/transfer.ts';
import type { RunRedactor } from '../formats/redact/redact.ts';
import type { Pieces } from './export-pieces.ts';
import type { StillRun } from './export-run.ts';
import { redactCopy } from './export-sqlite-redact.ts';
import type { Db } from './open.ts';

/** Pages of a step of the backup: the thread answers others in between. */
const PAGES_PER_STEP = 2_000;

export async function beginSqlite(
  still: StillRun,
  redactor: RunRedactor | null,
  pieces: Pieces,
): Promise<{ steps: Generator<void>; close: () => void }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'interlock-export-'));
  let file: number | null = null;
  try {
    const copy = path.join(folder, 'run.sqlite');
    await still.reads.db.backup(copy, { progress: () => PAGES_PER_STEP });
    const db = new Database(copy);
    try {
      // A file of its own needs no WAL beside it.
      db.pragma('journal_mode = DELETE');
      db.pragma('secure_delete = ON');
      keepOnly(db, still);
      if (redactor) redactCopy(db, redactor);
      db.exec('VACUUM');
      const found = db.pragma('integrity_check', { simple: true }) as string;
      if (found !== 'ok') throw new InterlockError('corrupt_data', `The copy does not pass SQLite's own check: ${found.slice(0, 200)}`);
    } finally {
      db.close();
    }
    file = openSync(copy, 'r');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const open = file;
  let isOpen = true;
  const close = () => {
    if (isOpen) closeSync(open);
    isOpen = false;
  };
  return { steps: readSteps(open, pieces, close), close };
}

function* readSteps(file: number, pieces: Pieces, close: () => void): Generator<void> {
  try {
    for (;;) {
      const bytes = Buffer.allocUnsafe(PIECE_BYTES);
      const count = readSync(file, bytes, 0, bytes.length, null);
      if (count === 0) return;
      pieces.writeBytes(0, bytes.subarray(0, count));
      yield;
    }
  } finally {
    close();
  }
}

/** Takes out other runs, the queue, notices, and steps of others. Of a process that served several runs, this run's events stay. */
function keepOnly(db: Db, still: StillRun): void {
  db.pragma('foreign_keys = OFF');
  db.transaction(() => {
    db.exec('CREATE TEMP TABLE kept (id INTEGER PRIMARY KEY, seq_from INTEGER NOT NULL, seq_to INTEGER NOT NULL)');
    const keep = db.prepare('INSERT INTO kept VALUES (?, ?, ?)');
    for (const { id, seqFrom, seqTo } of still.stretches) keep.run(id, seqFrom, seqTo);
    const { run } = still;
    // The hello (0) gives instants their meaning.
    db.exec(`DELETE FROM event WHERE NOT EXISTS (SELECT 1 FROM kept k WHERE k.id = event.process AND (event.seq = 0 OR event.seq BETWEEN k.seq_from AND k.seq_to));
      DELETE FROM loss WHERE NOT EXISTS (SELECT 1 FROM kept k WHERE k.id = loss.process AND loss.seq_from BETWEEN k.seq_from AND k.seq_to);
      DELETE FROM problem WHERE process NOT IN (SELECT id FROM kept);
      DELETE FROM step WHERE process IS NULL OR process NOT IN (SELECT p.process FROM process p JOIN kept k ON k.id = p.id);
      DELETE FROM notice;`);
    db.prepare('DELETE FROM proof WHERE run IS NOT ?').run(run);
    db.prepare('DELETE FROM proof_attempt WHERE run IS NOT ? AND id NOT IN (SELECT subject FROM event WHERE subject IS NOT NULL)').run(run);
    // The host's holds bear no run; those of the run's own machine boots say why it was idle.
    const boots = JSON.stringify([...new Set(still.stretches.map(({ hello }) => hello.boot_id))]);
    db.prepare('DELETE FROM hold WHERE run IS NOT ? AND (run IS NOT NULL OR boot_id NOT IN (SELECT value FROM json_each(?)))').run(
      run,
      boots,
    );
    db.prepare('DELETE FROM imported_attempt WHERE run IS NOT ?').run(run);
    db.prepare('DELETE FROM run_process WHERE run IS NOT ?').run(run);
    db.prepare('DELETE FROM run WHERE run IS NOT ?').run(run);
    db.exec('DELETE FROM journal WHERE process NOT IN (SELECT id FROM kept); DELETE FROM process WHERE id NOT IN (SELECT id FROM kept)');
    db.exec('DROP TABLE kept');
  })();
  db.pragma('foreign_keys = ON');
}
