/** The queue of proofs. Each method is one transaction on the writer's connection; durable when it returns. */
import type { ProofSummary } from '../contract/api.ts';
import { InterlockError } from '../contract/errors.ts';
import type { ProofState } from '../contract/run-report.ts';
import type { Db } from './open.ts';
import type { FinishAnswer, ProofFinish, ProofSpec, RunningProof, WaitingProof } from './types.ts';

interface ProofRow {
  id: number;
  proof: string;
  state: ProofState;
  returned: number;
  priority: number;
  attempt: number;
  withdraw_asked: number;
  circuit: string;
  partitions: number;
  seed: string;
  submitted_wall_ns: string;
  deadline_wall_ns: string | null;
  run: string | null;
  process: string | null;
  message: string | null;
  sha256: string | null;
  path: string | null;
  ended_wall_ms: number | null;
}

const ENDED = ['withdrawn', 'valid', 'invalid', 'failed', 'interrupted'];

export class Queue {
  readonly #db: Db;
  readonly #wallMs: () => number;

  constructor(db: Db, wallMs: () => number) {
    this.#db = db;
    this.#wallMs = wallMs;
  }

  addProofs(specs: ProofSpec[]): string[] {
    return this.#write(() => insertProofs(this.#db, specs, this.#wallMs()).proofs);
  }

  takeWaiting(limit: number): WaitingProof[] {
    const rows = this.#db
      .prepare(`SELECT * FROM proof WHERE state = 'waiting' ORDER BY returned DESC, priority DESC, position LIMIT ?`)
      .all(limit) as ProofRow[];
    return rows.map(toWaiting);
  }

  listRunning(): RunningProof[] {
    const rows = this.#db.prepare(`SELECT * FROM proof WHERE state = 'running' ORDER BY id`).all() as ProofRow[];
    return rows.map((row) => ({ ...toWaiting(row), run: row.run, process: row.process, withdrawAsked: row.withdraw_asked === 1 }));
  }

  countProofs(): { waiting: number; running: number } {
    const count = (sql: string) => this.#db.prepare(sql).pluck().get() as number;
    return {
      waiting: count(`SELECT count(*) FROM proof WHERE state = 'waiting'`),
      running: count(`SELECT count(*) FROM proof WHERE state = 'running'`),
    };
  }

  markSubmitted(proof: string, attempt: number, run: string, process: string): void {
    this.#write(() => {
      const row = this.#need(proof);
      if (row.attempt !== attempt) throw new InterlockError('internal', `${proof} is at attempt ${row.attempt}, not ${attempt}`);
      if (row.state !== 'waiting') throw new InterlockError('busy', `${proof} is ${row.state}; it cannot be submitted`);
      this.#db
        .prepare(`UPDATE proof SET state = 'running', run = ?, process = ?, returned = 0, code = NULL, message = NULL WHERE id = ?`)
        .run(run, process, row.id);
      this.#db
        .prepare(
          `INSERT INTO proof_attempt (proof, attempt, run, process, submitted_wall_ms) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (proof, attempt) DO UPDATE SET run = excluded.run, process = excluded.process,
             submitted_wall_ms = excluded.submitted_wall_ms`,
        )
        .run(proof, attempt, run, process, this.#wallMs());
    });
  }

  returnToHead(proof: string, how: { countsAsAttempt: boolean; message?: string }): { state: 'waiting' | 'withdrawn' | 'valid' } {
    return this.#write(() => {
      const row = this.#need(proof);
      if (row.state === 'valid' || row.state === 'withdrawn') return { state: row.state };
      if (how.countsAsAttempt) {
        this.#db
          .prepare(
            `UPDATE proof_attempt SET outcome = 'interrupted', message = ?, ended_wall_ms = ? WHERE proof = ? AND attempt = ? AND outcome IS NULL`,
          )
          .run(how.message ?? null, this.#wallMs(), proof, row.attempt);
      }
      const state = row.withdraw_asked === 1 ? 'withdrawn' : 'waiting';
      // An attempt that has its outcome cannot be begun again under the same number.
      const ended = this.#db
        .prepare('SELECT 1 FROM proof_attempt WHERE proof = ? AND attempt = ? AND outcome IS NOT NULL')
        .get(proof, row.attempt);
      const attempt = row.attempt + (ended === undefined ? 0 : 1);
      this.#db
        .prepare(
          `UPDATE proof SET state = ?, returned = 1, attempt = ?, run = NULL, process = NULL, code = NULL, message = ?, ended_wall_ms = ? WHERE id = ?`,
        )
        .run(
          state,
          state === 'withdrawn' ? row.attempt : attempt,
          how.message ?? null,
          state === 'withdrawn' ? this.#wallMs() : null,
          row.id,
        );
      return { state };
    });
  }

  finishProof(proof: string, attempt: number, finish: ProofFinish): FinishAnswer {
    return this.#write((): FinishAnswer => {
      const row = this.#db.prepare('SELECT * FROM proof WHERE proof = ?').get(proof) as ProofRow | undefined;
      if (!row) return { accepted: false, reason: 'unknown' };
      const now = this.#wallMs();
      const before = this.#db.prepare('SELECT outcome FROM proof_attempt WHERE proof = ? AND attempt = ?').get(proof, attempt) as
        { outcome: string | null } | undefined;
      if (row.state === 'valid') return { accepted: false, reason: before?.outcome == null ? 'already_valid' : 'already_ended' };
      // One that was handed back, and whose proof was found after all, is done; an attempt that was never submitted has no result.
      const waits = row.attempt === attempt && row.state === 'waiting';
      if (waits && !(before && before.outcome === null && finish.outcome === 'valid')) return { accepted: false, reason: 'unknown' };
      const current = row.attempt === attempt && (row.state === 'running' || waits);
      if (!current) {
        // What comes late is kept with its attempt, not with the proof; the outcome that the attempt has stays.
        this.#db
          .prepare(
            `INSERT INTO proof_attempt (proof, attempt, outcome, sha256, path, code, message, ended_wall_ms, late) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1)
             ON CONFLICT (proof, attempt) DO UPDATE SET late = 1, sha256 = coalesce(sha256, excluded.sha256), path = coalesce(path, excluded.path),
               outcome = coalesce(outcome, excluded.outcome), message = coalesce(message, excluded.message)`,
          )
          .run(proof, attempt, finish.outcome, finish.sha256, finish.path, finish.code, finish.message, now);
        return { accepted: false, reason: row.attempt === attempt ? 'already_ended' : 'old_attempt' };
      }
      if (before?.outcome != null) return { accepted: false, reason: 'already_ended' };
      this.#db
        .prepare(
          `INSERT INTO proof_attempt (proof, attempt, run, process, outcome, sha256, path, code, message, ended_wall_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (proof, attempt) DO UPDATE SET outcome = excluded.outcome, sha256 = excluded.sha256, path = excluded.path,
             code = excluded.code, message = excluded.message, ended_wall_ms = excluded.ended_wall_ms`,
        )
        .run(proof, attempt, row.run, row.process, finish.outcome, finish.sha256, finish.path, finish.code, finish.message, now);
      this.#db
        .prepare(`UPDATE proof SET state = ?, sha256 = ?, path = ?, code = ?, message = ?, ended_wall_ms = ? WHERE id = ?`)
        .run(finish.outcome, finish.sha256, finish.path, finish.code, finish.message, now, row.id);
      return { accepted: true };
    });
  }

  withdraw(proofs: string[]): { proof: string; state: 'withdrawn' | 'stopping' | 'ended' }[] {
    return this.#write(() =>
      proofs.map((proof) => {
        const row = this.#need(proof);
        if (row.state === 'waiting') {
          this.#db
            .prepare(`UPDATE proof SET state = 'withdrawn', withdraw_asked = 1, ended_wall_ms = ? WHERE id = ?`)
            .run(this.#wallMs(), row.id);
          return { proof, state: 'withdrawn' as const };
        }
        if (row.state === 'running') {
          this.#db.prepare('UPDATE proof SET withdraw_asked = 1 WHERE id = ?').run(row.id);
          return { proof, state: 'stopping' as const };
        }
        return { proof, state: row.state === 'withdrawn' ? ('withdrawn' as const) : ('ended' as const) };
      }),
    );
  }

  #need(proof: string): ProofRow {
    const row = this.#db.prepare('SELECT * FROM proof WHERE proof = ?').get(proof) as ProofRow | undefined;
    if (!row) throw new InterlockError('not_found', `There is no proof ${proof}.`);
    return row;
  }

  #write<T>(work: () => T): T {
    return inTransaction(this.#db, work);
  }
}

/** Queues proofs, inside of a transaction. Their ids follow one another. */
export function insertProofs(db: Db, specs: ProofSpec[], nowMs: number): { proofs: string[]; firstId: number; lastId: number } {
  const next = db.prepare(
    `INSERT INTO proof (proof, state, priority, position, circuit, partitions, seed, submitted_wall_ns, deadline_wall_ns, created_wall_ms)
     VALUES (?, 'waiting', ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const before = (db.prepare(`SELECT seq FROM sqlite_sequence WHERE name = 'proof'`).pluck().get() as number | undefined) ?? 0;
  const proofs = specs.map((spec, index) => {
    const id = before + index + 1;
    const proof = `p${id}`;
    next.run(proof, spec.priority, id, spec.circuit, spec.partitions, spec.seed, spec.submittedWallNs, spec.deadlineWallNs, nowMs);
    return proof;
  });
  return { proofs, firstId: before + 1, lastId: before + specs.length };
}

/** BEGIN IMMEDIATE … COMMIT: a read that turns into a write would fail at once, whatever the timeout. */
export function inTransaction<T>(db: Db, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const value = work();
    db.exec('COMMIT');
    return value;
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function toWaiting(row: ProofRow): WaitingProof {
  return {
    proof: row.proof,
    attempt: row.attempt,
    returned: row.returned === 1,
    circuit: row.circuit,
    partitions: row.partitions,
    priority: row.priority,
    submittedWallNs: row.submitted_wall_ns,
    deadlineWallNs: row.deadline_wall_ns,
    seed: row.seed,
  };
}

/** For readers. Newest first, except that waiting ones come in queue order. */
export function listProofs(db: Db, state: 'waiting' | 'running' | 'ended' | 'any', limit: number): ProofSummary[] {
  const rows =
    state === 'any'
      ? db.prepare('SELECT * FROM proof ORDER BY id DESC LIMIT ?').all(limit)
      : state === 'waiting'
        ? db.prepare(`SELECT * FROM proof WHERE state = 'waiting' ORDER BY returned DESC, priority DESC, position LIMIT ?`).all(limit)
        : state === 'running'
          ? db.prepare(`SELECT * FROM proof WHERE state = 'running' ORDER BY id LIMIT ?`).all(limit)
          : db.prepare(`SELECT * FROM proof WHERE state NOT IN ('waiting', 'running') ORDER BY id DESC LIMIT ?`).all(limit);
  return (rows as ProofRow[]).map(toSummary);
}

export function readProofSummary(db: Db, proof: string): ProofSummary | null {
  const row = db.prepare('SELECT * FROM proof WHERE proof = ?').get(proof) as ProofRow | undefined;
  return row ? toSummary(row) : null;
}

export function readProofFile(db: Db, proof: string): { sha256: string; path: string } | null {
  const row = db.prepare(`SELECT sha256, path FROM proof WHERE proof = ? AND state = 'valid'`).get(proof) as ProofRow | undefined;
  return row?.sha256 != null && row.path !== null ? { sha256: row.sha256, path: row.path } : null;
}

function toSummary(row: ProofRow): ProofSummary {
  return {
    proof: row.proof,
    attempt: row.attempt,
    state: row.state,
    circuit: row.circuit,
    partitions: row.partitions,
    priority: row.priority,
    run: row.run,
    message: row.message,
    sha256: row.sha256,
    submittedWallMs: Number(BigInt(row.submitted_wall_ns) / 1_000_000n),
    endedWallMs: ENDED.includes(row.state) ? row.ended_wall_ms : null,
  };
}
