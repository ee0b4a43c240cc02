/** Runs, processes and what is said beside the events of an import: small statements, each within the caller's transaction. */
import type { Statement } from 'better-sqlite3';
import type { RunState } from '../contract/run-report.ts';
import type { Nanoseconds } from '../contract/units.ts';
import type { AttemptFacts, ImportedLoss, ImportedProcess, ImportedProcessEnd, ImportedRun } from '../formats/import-sink.ts';
import type { Db } from './open.ts';
import { insertRun, NO_JOURNAL } from './processes.ts';

export interface KnownRun {
  run: string;
  state: RunState;
  endedBy: string | null;
  /** False: it is this host's own. */
  imported: boolean;
  /** The import that is at it; null none. */
  importing: string | null;
}

export class ImportFacts {
  readonly #db: Db;
  readonly #progress: Statement<unknown[]>;
  readonly #problem: Statement<unknown[]>;
  readonly #loss: Statement<unknown[]>;
  readonly #attempt: Statement<unknown[]>;
  readonly #hold: Statement<unknown[]>;

  constructor(db: Db) {
    this.#db = db;
    this.#progress = db.prepare(
      'UPDATE journal SET last_seq = ?, events = events + ?, horizon = nullif(max(coalesce(horizon, -1), coalesce(?, -1)), -1) WHERE process = ?',
    );
    this.#problem = db.prepare('INSERT OR IGNORE INTO problem (process, offset, kind, bytes, problem) VALUES (?, ?, ?, ?, ?)');
    this.#loss = db.prepare(
      `INSERT INTO loss (process, kind, seq_from, seq_to, ring, count, filled, t_from, t_to, healed_t, healed_state)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET seq_to = excluded.seq_to, ring = excluded.ring, count = excluded.count,
         filled = excluded.filled, t_from = excluded.t_from, t_to = excluded.t_to, healed_t = excluded.healed_t,
         healed_state = excluded.healed_state
       WHERE (seq_to, ring, count, filled, t_from, t_to, healed_t, healed_state) IS NOT
         (excluded.seq_to, excluded.ring, excluded.count, excluded.filled, excluded.t_from, excluded.t_to, excluded.healed_t, excluded.healed_state)`,
    );
    this.#attempt = db.prepare(
      `INSERT INTO imported_attempt (run, proof, attempt, outcome, sha256, file, code, message) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (run, proof, attempt) DO UPDATE SET outcome = excluded.outcome, sha256 = excluded.sha256, file = excluded.file,
         code = excluded.code, message = excluded.message`,
    );
    this.#hold = db.prepare(
      `INSERT INTO hold (run, from_ns, to_ns, reason) VALUES (?, ?, ?, 'imported')
       ON CONFLICT (run, from_ns) WHERE run IS NOT NULL DO UPDATE SET to_ns = excluded.to_ns`,
    );
  }

  findRun(uid: string): KnownRun | null {
    const row = this.#db
      .prepare('SELECT run, state, ended_by AS endedBy, imported_from AS importedFrom, importing FROM run WHERE uid = ?')
      .get(uid) as
      { run: string; state: RunState; endedBy: string | null; importedFrom: string | null; importing: string | null } | undefined;
    if (!row) return null;
    const { importedFrom, ...known } = row;
    return { ...known, imported: importedFrom !== null };
  }

  /** Answers its id here. */
  addRun(run: ImportedRun, name: string, importing: string, wallMs: number): string {
    const { uid, engine, backend, emulate, originRun, found } = run;
    const id = insertRun(this.#db, { uid, engine, backend, emulate, scheduler: JSON.stringify(run.scheduler) }, wallMs);
    this.#db
      .prepare('UPDATE run SET found = ?, imported_from = ?, origin_run = ?, importing = ? WHERE run = ?')
      .run(JSON.stringify(found), name, originRun, importing, id);
    return id;
  }

  /** It is under way (again): a start-up that finds it so closes it. */
  markRun(run: string, importing: string): void {
    this.#db.prepare(`UPDATE run SET state = 'running', ended_by = NULL, importing = ?, summary = NULL WHERE run = ?`).run(importing, run);
  }

  endRun(run: string, end: { state: RunState; endedBy: string | null }, wallMs: number): void {
    this.#db
      .prepare('UPDATE run SET state = ?, ended_by = ?, importing = NULL, closed_wall_ms = coalesce(closed_wall_ms, ?) WHERE run = ?')
      .run(end.state, end.endedBy, wallMs, run);
  }

  findProcess(process: string): { id: number; isOwn: boolean; lastSeq: number } | null {
    const row = this.#db
      .prepare('SELECT p.id, j.path FROM process p JOIN journal j ON j.process = p.id WHERE p.process = ?')
      .get(process) as { id: number; path: string } | undefined;
    if (!row) return null;
    return { id: row.id, isOwn: row.path !== NO_JOURNAL, lastSeq: this.#lastSeq(row.id, Number.MAX_SAFE_INTEGER) };
  }

  addProcess({ hello }: ImportedProcess, run: string): number {
    const id = this.#db
      .prepare('INSERT INTO process (process, pid, start_ticks, folder, backend, run, started_wall_ms) VALUES (?, ?, ?, ?, ?, ?, ?)')
      .run(hello.process, hello.pid, hello.start_ticks, '', hello.backend, run, Number(BigInt(hello.wall_ns) / 1_000_000n)).lastInsertRowid;
    this.#db.prepare('INSERT INTO journal (process, path, finished, deleted) VALUES (?, ?, 1, 1)').run(id, NO_JOURNAL);
    return Number(id);
  }

  /** The part of a process's events that belongs to the run. Answers the highest seq of it that is stored already; −1 none. */
  beginPart(run: string, id: number, process: ImportedProcess, place: number): number {
    const before = this.#db.prepare('SELECT seq_to AS seqTo FROM run_process WHERE run = ? AND process = ?').get(run, id) as
      { seqTo: number | null } | undefined;
    if (before) return this.#lastSeq(id, before.seqTo ?? Number.MAX_SAFE_INTEGER);
    this.#db
      .prepare('INSERT INTO run_process (run, process, started_seq, started_t, seq_from, place) VALUES (?, ?, ?, ?, ?, ?)')
      .run(run, id, process.startedSeq, process.startedT, process.seqFrom, place);
    return -1;
  }

  endPart(run: string, id: number, end: ImportedProcessEnd): void {
    this.#db
      .prepare('UPDATE run_process SET seq_to = ?, ended_t = ?, reason = ? WHERE run = ? AND process = ?')
      .run(end.seqTo, end.endedT, end.reason, run, id);
    this.#db.prepare('UPDATE process SET ended = ?, exit = ?, signal = ? WHERE id = ?').run(end.ended, end.exit, end.signal, id);
    this.#db
      .prepare('UPDATE journal SET horizon = ?, peak_rss_bytes = ?, unparsed = ? WHERE process = ?')
      .run(end.horizon, end.peakRssBytes, end.unparsed, id);
  }

  progress(id: number, lastSeq: number, added: number, horizon: Nanoseconds | null): void {
    this.#progress.run(lastSeq, added, horizon, id);
  }

  addProblem(id: number, problem: { offset: number; bytes: number; kind: string; problem: string }): void {
    this.#problem.run(id, problem.offset, problem.kind, problem.bytes, problem.problem.slice(0, 500));
  }

  /** True if it says something new. */
  addLoss(id: number, loss: ImportedLoss): boolean {
    const { kind, seqFrom, seqTo, ring, count, filled, tFrom, tTo, healedT } = loss;
    const state = loss.state === null ? null : JSON.stringify(loss.state);
    return this.#loss.run(id, kind, seqFrom, seqTo, ring, count, filled, tFrom, tTo, healedT, state).changes > 0;
  }

  /** A whole copy tells all of its losses: others of this part were those of a copy that was cut. */
  dropOtherLosses(id: number, seqFrom: number, seqTo: number, told: ReadonlySet<string>): void {
    const rows = this.#db
      .prepare('SELECT kind, seq_from AS seqFrom FROM loss WHERE process = ? AND seq_from >= ? AND seq_from <= ?')
      .all(id, seqFrom, seqTo) as { kind: string; seqFrom: number }[];
    const drop = this.#db.prepare('DELETE FROM loss WHERE process = ? AND kind = ? AND seq_from = ?');
    for (const row of rows) if (!told.has(`${row.kind} ${row.seqFrom}`)) drop.run(id, row.kind, row.seqFrom);
  }

  addHold(run: string, fromNs: Nanoseconds, toNs: Nanoseconds | null): void {
    this.#hold.run(run, String(fromNs), toNs === null ? null : String(toNs));
  }

  addAttempt(run: string, attempt: AttemptFacts): void {
    const { proof, outcome, sha256, file, code, message } = attempt;
    this.#attempt.run(run, proof, attempt.attempt, outcome, sha256, file, code, message);
  }

  #lastSeq(id: number, seqTo: number): number {
    return (this.#db.prepare('SELECT max(seq) FROM event WHERE process = ? AND seq <= ?').pluck().get(id, seqTo) as number | null) ?? -1;
  }
}

/** Runs that an import left in the middle: of one import, or (null) of whoever died with them. */
export function closeCutRuns(db: Db, importing: string | null, endedBy: string, wallMs: number): void {
  db.prepare(
    `UPDATE run SET state = 'interrupted', ended_by = ?, importing = NULL, closed_wall_ms = coalesce(closed_wall_ms, ?)
     WHERE importing IS NOT NULL AND importing = coalesce(?, importing)`,
  ).run(endedBy, wallMs, importing);
}

export function readRunState(db: Db, run: string): RunState {
  return (db.prepare('SELECT state FROM run WHERE run = ?').pluck().get(run) as RunState | undefined) ?? 'interrupted';
}
