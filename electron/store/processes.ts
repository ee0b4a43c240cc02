/** Processes, their journals, runs, steps and notices. Each method is one transaction on the writer's connection. */
import { randomUUID } from 'node:crypto';
import { InterlockError } from '../contract/errors.ts';
import type { Notice } from '../contract/live.ts';
import type { Backend, Scheduler } from '../contract/scheduler.ts';
import type { StateLine } from '../contract/timeline-events.ts';
import type { Db } from './open.ts';
import { inTransaction } from './queue.ts';
import type { JournalVerdict, OpenRun, ProcessEnd, ProcessRecord, ProcessStart, RunClose, RunStart } from './types.ts';

interface ProcessRow {
  id: number;
  process: string;
  pid: number;
  start_ticks: string;
  folder: string;
  backend: Backend;
  run: string | null;
  started_wall_ms: number;
  path: string;
  committed_bytes: number;
  last_seq: number;
  horizon: number | null;
  last_state: string | null;
}

/** Path of the journal of a process that never ran here. */
export const NO_JOURNAL = '';

const SELECT_PROCESS = `SELECT p.id, p.process, p.pid, p.start_ticks, p.folder, p.backend, p.run, p.started_wall_ms,
  j.path, j.committed_bytes, j.last_seq, j.horizon, j.last_state FROM process p JOIN journal j ON j.process = p.id`;

export class Processes {
  readonly #db: Db;
  readonly #wallMs: () => number;

  constructor(db: Db, wallMs: () => number) {
    this.#db = db;
    this.#wallMs = wallMs;
  }

  createRun(start: RunStart): { run: string; uid: string } {
    return inTransaction(this.#db, () => {
      const uid = randomUUID();
      const { engine, backend, emulate, scheduler } = start;
      return { run: insertRun(this.#db, { uid, engine, backend, emulate, scheduler: JSON.stringify(scheduler) }, this.#wallMs()), uid };
    });
  }

  closeRun(run: string, close: RunClose): void {
    inTransaction(this.#db, () => {
      const changed = this.#db
        .prepare(`UPDATE run SET state = ?, ended_by = ?, at_last_event = ?, closed_wall_ms = ? WHERE run = ? AND state = 'running'`)
        .run(close.state, close.endedBy, close.atLastEvent ? 1 : 0, this.#wallMs(), run).changes;
      if (changed === 0 && !this.#db.prepare('SELECT 1 FROM run WHERE run = ?').get(run)) {
        throw new InterlockError('not_found', `There is no run ${run}.`);
      }
    });
  }

  /** What a finished run amounts to, so that lists need not read its events again. */
  storeSummary(run: string, summary: string): void {
    this.#db.prepare('UPDATE run SET summary = ? WHERE run = ?').run(summary, run);
  }

  /** Of this host: one that is being imported is nobody's to close. */
  openRuns(): OpenRun[] {
    const rows = this.#db
      .prepare(
        `SELECT run, uid, engine, backend, emulate, scheduler, created_wall_ms FROM run WHERE state = 'running' AND imported_from IS NULL ORDER BY id`,
      )
      .all() as {
      run: string;
      uid: string;
      engine: string;
      backend: Backend;
      emulate: string | null;
      scheduler: string;
      created_wall_ms: number;
    }[];
    const processes = this.#db
      .prepare('SELECT p.process FROM run_process r JOIN process p ON p.id = r.process WHERE r.run = ? ORDER BY r.process')
      .pluck();
    return rows.map((row) => ({
      run: row.run,
      uid: row.uid,
      engine: row.engine,
      backend: row.backend,
      emulate: row.emulate,
      scheduler: JSON.parse(row.scheduler) as Scheduler,
      startedWallMs: row.created_wall_ms,
      processes: processes.all(row.run) as string[],
    }));
  }

  addProcess(start: ProcessStart): void {
    inTransaction(this.#db, () => {
      const id = this.#db
        .prepare('INSERT INTO process (process, pid, start_ticks, folder, backend, run, started_wall_ms) VALUES (?, ?, ?, ?, ?, ?, ?)')
        .run(start.process, start.pid, start.startTicks, start.folder, start.backend, start.run, this.#wallMs()).lastInsertRowid;
      this.#db.prepare('INSERT INTO journal (process, path) VALUES (?, ?)').run(id, start.journal);
    });
  }

  liveProcesses(): ProcessRecord[] {
    return (
      this.#db.prepare(`${SELECT_PROCESS} WHERE p.ended IS NULL AND j.path <> '${NO_JOURNAL}' ORDER BY p.id`).all() as ProcessRow[]
    ).map(toRecord);
  }

  journalsLeft(): ProcessRecord[] {
    return (this.#db.prepare(`${SELECT_PROCESS} WHERE j.deleted = 0 ORDER BY p.id`).all() as ProcessRow[]).map(toRecord);
  }

  find(process: string): ProcessRecord & { id: number } {
    const row = this.#db.prepare(`${SELECT_PROCESS} WHERE p.process = ?`).get(process) as ProcessRow | undefined;
    if (!row) throw new InterlockError('not_found', `There is no process ${process}.`);
    return { ...toRecord(row), id: row.id };
  }

  closeProcess(process: string, end: ProcessEnd): void {
    const { id } = this.find(process);
    this.#db
      .prepare('UPDATE process SET ended = ?, exit = ?, signal = ?, ended_wall_ms = ? WHERE id = ? AND ended IS NULL')
      .run(end.ended, end.exit, end.signal, this.#wallMs(), id);
  }

  journalDone(process: string): JournalVerdict {
    const { id } = this.find(process);
    const journal = this.#db.prepare('SELECT last_seq AS lastSeq, events, unparsed, finished FROM journal WHERE process = ?').get(id) as {
      lastSeq: number;
      events: number;
      unparsed: number;
      finished: number;
    };
    const counted = this.#db.prepare('SELECT count(*) FROM event WHERE process = ?').pluck().get(id) as number;
    const sum = (sql: string) => (this.#db.prepare(sql).pluck().get(id) as number | null) ?? 0;
    const holes = sum(`SELECT sum(count - filled) FROM loss WHERE process = ? AND kind = 'hole'`);
    const lost = sum('SELECT sum(count - filled) FROM loss WHERE process = ?');
    const open = this.#db
      .prepare(`SELECT r.run FROM run_process rp JOIN run r ON r.run = rp.run WHERE rp.process = ? AND r.state = 'running' LIMIT 1`)
      .pluck()
      .get(id) as string | undefined;
    const ended = this.#db.prepare('SELECT ended FROM process WHERE id = ?').pluck().get(id) as string | null;
    const reason =
      ended === null
        ? 'the process has not ended'
        : journal.finished === 0
          ? 'it has not been read to its end'
          : open !== undefined
            ? `run ${open} is open`
            : counted !== journal.events
              ? `${counted} events are stored, ${journal.events} were counted`
              : counted + holes !== journal.lastSeq + 1
                ? `${counted} events and ${holes} missing ones do not make ${journal.lastSeq + 1}`
                : null;
    return { done: reason === null, reason, events: counted, lost, unparsed: journal.unparsed };
  }

  journalDeleted(process: string): void {
    this.#db.prepare('UPDATE journal SET deleted = 1 WHERE process = ?').run(this.find(process).id);
  }

  recordStep(process: string | null, step: string, detail?: Record<string, unknown>): void {
    this.#db
      .prepare('INSERT INTO step (process, wall_ms, step, detail) VALUES (?, ?, ?, ?)')
      .run(process, this.#wallMs(), step, detail ? JSON.stringify(detail) : null);
  }

  recordNotice(notice: Pick<Notice, 'severity' | 'code' | 'message'>): Notice {
    const wallMs = this.#wallMs();
    const id = this.#db
      .prepare('INSERT INTO notice (wall_ms, severity, code, message) VALUES (?, ?, ?, ?)')
      .run(wallMs, notice.severity, notice.code, notice.message).lastInsertRowid;
    return { id: Number(id), wallMs, ...notice };
  }
}

/** Gives a run the next number and answers its id. Within the caller's transaction. `scheduler`: JSON. */
export function insertRun(
  db: Db,
  run: { uid: string; engine: string; backend: string; emulate: string | null; scheduler: string },
  wallMs: number,
): string {
  let number = ((db.prepare(`SELECT seq FROM sqlite_sequence WHERE name = 'run'`).pluck().get() as number | undefined) ?? 0) + 1;
  // A journal may have named a run of its own.
  while (db.prepare('SELECT 1 FROM run WHERE run = ? OR id = ?').get(`r${number}`, number)) number += 1;
  const name = `r${number}`;
  db.prepare(
    `INSERT INTO run (id, run, uid, state, engine, backend, emulate, scheduler, created_wall_ms) VALUES (?, ?, ?, 'running', ?, ?, ?, ?, ?)`,
  ).run(number, name, run.uid, run.engine, run.backend, run.emulate, run.scheduler, wallMs);
  return name;
}

export function listNotices(db: Db, limit: number): Notice[] {
  return db.prepare('SELECT id, wall_ms AS wallMs, severity, code, message FROM notice ORDER BY id DESC LIMIT ?').all(limit) as Notice[];
}

function toRecord(row: ProcessRow): ProcessRecord {
  return {
    process: row.process,
    pid: row.pid,
    startTicks: row.start_ticks,
    folder: row.folder,
    journal: row.path,
    backend: row.backend,
    run: row.run,
    startedWallMs: row.started_wall_ms,
    committedBytes: row.committed_bytes,
    lastSeq: row.last_seq,
    horizonNs: row.horizon,
    lastState: row.last_state === null ? null : (JSON.parse(row.last_state) as StateLine),
  };
}
