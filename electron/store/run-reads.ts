/** Runs and proofs as reports, computed from the stored events; finished runs are computed once. */
import { ANALYSIS_VERSION, RunReportBuilder, summarizeReport, type RunFacts } from '../analysis/run-report.ts';
import type { ProofSummary } from '../contract/api.ts';
import { InterlockError } from '../contract/errors.ts';
import type { ProofReport, RunReport, RunSummary } from '../contract/run-report.ts';
import { keepNewest } from './keep-newest.ts';
import type { Reads, Stretch } from './reads.ts';
import { horizonOf } from './run-end.ts';
import { factsOfRow, readRunRow, type RunRow } from './run-row.ts';
import { walkRun } from './run-walk.ts';

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
    const row = readRunRow(this.reads.db, name);
    return this.#report(row);
  }

  /** What an analysis of the run's events rests on beside them; `key` changes whenever it would say something else. */
  factsFor(run: string): { key: string; row: RunRow; horizonNs: number | null } {
    const name = this.reads.resolveRun(run);
    const row = readRunRow(this.reads.db, name);
    return { key: this.#keyOf(row), row, horizonNs: horizonOf(this.reads, name, this.reads.stretchesOf(name)) };
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
    keepNewest(this.#cache, key, report, CACHED_REPORTS);
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
    walkRun(this.reads, row.run, builder);
    const report = builder.build(this.#factsOf(row, stretches), horizonOf(this.reads, row.run, stretches));
    if (stretches.length === 0) report.started_wall_ns = `${row.created_wall_ms}000000`;
    return this.#withQueue(report);
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
      ...factsOfRow(row),
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
