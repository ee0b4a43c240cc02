/** Runs and proofs as reports, computed from the stored events; finished runs are computed once. */
import { ANALYSIS_VERSION, RunReportBuilder, summarizeReport, type RunFacts } from '../analysis/run-report.ts';
import type { ProofSummary } from '../contract/api.ts';
import { InterlockError } from '../contract/errors.ts';
import type { ProofReport, RunReport, RunState, RunSummary } from '../contract/run-report.ts';
import type { Backend, Scheduler } from '../contract/scheduler.ts';
import type { Reads, Stretch } from './reads.ts';

/** A row of the table of runs. */
export interface RunRow {
  id: number;
  run: string;
  uid: string;
  state: RunState;
  ended_by: string | null;
  engine: string;
  backend: Backend;
  emulate: string | null;
  scheduler: string;
  found: string;
  imported_from: string | null;
  origin_run: string | null;
  created_wall_ms: number;
  summary: string | null;
}

const PAGE = 10_000;
const CACHED_REPORTS = 8;

export class RunReads {
  readonly reads: Reads;
  /** Newest last. Key: run, last seq of each process, state, analysis version. */
  readonly #cache = new Map<string, RunReport>();

  constructor(reads: Reads) {
    this.reads = reads;
  }

  showRun(run: string): RunReport {
    const name = this.reads.resolveRun(run);
    const row = this.reads.db.prepare('SELECT * FROM run WHERE run = ?').get(name) as RunRow;
    return this.#report(row);
  }

  /** What an analysis of the run's events rests on beside them; `key` changes whenever it would say something else. */
  factsFor(run: string): { key: string; row: RunRow; horizonNs: number | null } {
    const name = this.reads.resolveRun(run);
    const row = this.reads.db.prepare('SELECT * FROM run WHERE run = ?').get(name) as RunRow;
    return { key: this.#keyOf(row), row, horizonNs: this.#horizonOf(row, this.reads.stretchesOf(name)) };
  }

  listRuns(input: { limit: number; before?: string | undefined }): {
    runs: RunSummary[];
    more: boolean;
    computed: { run: string; summary: string }[];
  } {
    const before =
      input.before === undefined
        ? Number.MAX_SAFE_INTEGER
        : (this.reads.db.prepare('SELECT id FROM run WHERE run = ?').pluck().get(this.reads.resolveRun(input.before)) as number);
    const rows = this.reads.db.prepare('SELECT * FROM run WHERE id < ? ORDER BY id DESC LIMIT ?').all(before, input.limit + 1) as RunRow[];
    const computed: { run: string; summary: string }[] = [];
    const runs = rows.slice(0, input.limit).map((row) => {
      const stored = this.#storedSummary(row);
      if (stored) return stored;
      const summary = summarizeReport(this.#report(row));
      if (row.state !== 'running')
        computed.push({ run: row.run, summary: JSON.stringify({ version: ANALYSIS_VERSION, key: this.#keyOf(row), summary }) });
      return summary;
    });
    return { runs, more: rows.length > input.limit, computed };
  }

  showProof(proof: string): { summary: ProofSummary; report: ProofReport | null } {
    const summary = this.reads.proofSummary(proof);
    const run = this.reads.db
      .prepare('SELECT run FROM proof_attempt WHERE proof = ? AND run IS NOT NULL ORDER BY attempt DESC LIMIT 1')
      .pluck()
      .get(proof) as string | undefined;
    if (run === undefined) return { summary, report: null };
    const reports = this.showRun(run).proofs.filter((report) => report.id === proof);
    return { summary, report: reports.at(-1) ?? null };
  }

  #storedSummary(row: RunRow): RunSummary | null {
    if (row.state === 'running' || row.summary === null) return null;
    const stored = JSON.parse(row.summary) as { version: number; key: string; summary: RunSummary };
    return stored.version === ANALYSIS_VERSION && stored.key === this.#keyOf(row) ? stored.summary : null;
  }

  #report(row: RunRow): RunReport {
    const key = this.#keyOf(row);
    const cached = this.#cache.get(key);
    if (cached) return cached;
    const report = this.#compute(row);
    this.#cache.set(key, report);
    if (this.#cache.size > CACHED_REPORTS) this.#cache.delete(this.#cache.keys().next().value ?? '');
    return report;
  }

  /** Changes whenever the report would. */
  #keyOf(row: RunRow): string {
    const seqs = this.reads.db
      .prepare(
        `SELECT group_concat(j.process || ':' || j.last_seq || ':' || j.events || ':' || coalesce(j.horizon, '') || ':' || coalesce(p.ended, ''), ' ')
         FROM run_process rp JOIN journal j ON j.process = rp.process JOIN process p ON p.id = rp.process WHERE rp.run = ?`,
      )
      .pluck()
      .get(row.run) as string | null;
    const queue = this.reads.db
      .prepare('SELECT count(*) || max(coalesce(ended_wall_ms, 0)) FROM proof_attempt WHERE run = ?')
      .pluck()
      .get(row.run) as string | null;
    return `${row.run} ${row.state} ${row.ended_by ?? ''} ${seqs ?? ''} ${queue ?? ''} v${ANALYSIS_VERSION}`;
  }

  #compute(row: RunRow): RunReport {
    const stretches = this.reads.stretchesOf(row.run);
    const builder = new RunReportBuilder();
    for (const stretch of stretches) {
      builder.beginProcess(stretch.hello, stretch.startedT);
      for (let from = stretch.seqFrom; ;) {
        const page = this.reads.readPage(stretch.id, from, stretch.seqTo, PAGE);
        for (const event of page) builder.take(event);
        const last = page.at(-1);
        if (!last || page.length < PAGE) break;
        from = last.seq + 1;
      }
    }
    const report = builder.build(this.#factsOf(row, stretches), this.#horizonOf(row, stretches));
    if (stretches.length === 0) report.started_wall_ns = `${row.created_wall_ms}000000`;
    return this.#withQueue(report);
  }

  /** How far everything is known of a run that lasts; null once it is over or its process is gone. */
  #horizonOf(row: RunRow, stretches: Stretch[]): number | null {
    const last = stretches.at(-1);
    if (row.state !== 'running' || !last) return null;
    const found = this.reads.db
      .prepare(
        `SELECT j.horizon, p.ended, rp.ended_t AS endedT FROM journal j JOIN process p ON p.id = j.process
         JOIN run_process rp ON rp.process = j.process AND rp.run = ? WHERE j.process = ?`,
      )
      .get(row.run, last.id) as { horizon: number | null; ended: string | null; endedT: number | null };
    if (found.horizon === null || found.ended !== null || found.endedT !== null) return null;
    const offset = this.reads.axisOf(stretches)?.offsetOf(last.hello) ?? 0;
    return Math.max(0, found.horizon + offset);
  }

  /** What the host found out about a proof stands in the queue: where its bytes are, and an error that came after the events. */
  #withQueue(report: RunReport): RunReport {
    const attempt =
      report.imported_from === null
        ? this.reads.db.prepare('SELECT outcome, path, code, message FROM proof_attempt WHERE proof = ? AND attempt = ? AND run = ?')
        : this.reads.db.prepare(
            'SELECT outcome, NULL AS path, code, message FROM imported_attempt WHERE proof = ? AND attempt = ? AND run = ?',
          );
    for (const proof of report.proofs) {
      // The bytes of another host's proof are not here.
      if (report.imported_from !== null) proof.path = null;
      const found = attempt.get(proof.id, proof.attempt, report.run) as
        { outcome: string | null; path: string | null; code: string | null; message: string | null } | undefined;
      if (found?.outcome == null) continue;
      if (found.outcome === 'valid') proof.path = found.path ?? proof.path;
      else if (proof.error === null && found.message !== null) proof.error = { code: found.code ?? 'proof_failed', message: found.message };
    }
    return report;
  }

  #factsOf(row: RunRow, stretches: Stretch[]): RunFacts {
    const db = this.reads.db;
    const count = (sql: string) =>
      stretches.reduce(
        (sum, stretch) => sum + ((db.prepare(sql).pluck().get(stretch.id, stretch.seqFrom, stretch.seqTo) as number | null) ?? 0),
        0,
      );
    const ids = stretches.map((stretch) => stretch.id);
    const processes = db.prepare('SELECT process, ended, exit FROM process WHERE id = ?');
    const journal = db.prepare('SELECT unparsed, peak_rss_bytes AS peak FROM journal WHERE process = ?');
    const journals = ids.map((id) => journal.get(id) as { unparsed: number; peak: number | null });
    return {
      run: row.run,
      uid: row.uid,
      state: row.state,
      endedBy: row.ended_by,
      engine: row.engine,
      backend: row.backend,
      emulate: row.emulate,
      scheduler: JSON.parse(row.scheduler) as Scheduler | null,
      found: JSON.parse(row.found) as Record<string, string>,
      importedFrom: row.imported_from,
      lost: count('SELECT sum(count - filled) FROM loss WHERE process = ? AND seq_from >= ? AND seq_from <= ?'),
      unparsed: journals.reduce((sum, { unparsed }) => sum + unparsed, 0),
      peakRssBytes: journals.reduce<number | null>((most, { peak }) => (peak === null ? most : Math.max(most ?? 0, peak)), null),
      processes: stretches.map((stretch) => {
        const found = processes.get(stretch.id) as { process: string; ended: string | null; exit: number | null } | undefined;
        if (!found) throw new InterlockError('internal', `process ${stretch.process} is not in the history`);
        return { ...found, started_wall_ns: stretch.hello.wall_ns };
      }),
    };
  }
}
