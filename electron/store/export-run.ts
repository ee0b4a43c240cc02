/**
 * A stored run held still for an export: how far it reached when the export began, and its pages from then on. Events that a running
 * prover adds meanwhile are not in it, so every file of an export tells the same run.
 */
import type { RunAxis } from '../analysis/run-axis.ts';
import type { RunFeed } from '../analysis/run-feed.ts';
import type { StateLine, TimelineEvent } from '../contract/timeline-events.ts';
import type { Nanoseconds } from '../contract/units.ts';
import type { ExportFacts } from '../formats/export-facts.ts';
import type { AttemptFacts } from '../formats/import-sink.ts';
import type { RunFileLoss, RunFileProblem, RunFileProcess } from '../formats/run-file/shapes.ts';
import { readHolds } from './holds.ts';
import type { Reads, Stretch } from './reads.ts';
import { endOf, horizonOf } from './run-end.ts';
import { factsOfRow, readRunRow } from './run-row.ts';

/** Events read at once: the thread answers others in between. */
const PAGE = 1_000;

export class StillRun {
  readonly run: string;
  readonly originRun: string;
  readonly reads: Reads;
  readonly facts: ExportFacts;
  /** `seqTo`: the last event that was stored when the export began. */
  readonly stretches: readonly Stretch[];
  readonly axis: RunAxis | null;
  /** Events in all. */
  readonly events: number;
  /** On the run's axis, how far everything is known; null where the run is over. */
  readonly horizonNs: Nanoseconds | null;
  readonly #ends: readonly (Nanoseconds | null)[];
  readonly #isImported: boolean;

  /** `run`: an id or `last`. Fails with `not_found`. */
  constructor(reads: Reads, run: string) {
    this.reads = reads;
    this.run = reads.resolveRun(run);
    const row = readRunRow(reads.db, this.run);
    const whole = reads.stretchesOf(this.run);
    const count = reads.db.prepare<[number, number, number], { n: number; last: number | null }>(
      'SELECT count(*) AS n, max(seq) AS last FROM event WHERE process = ? AND seq >= ? AND seq <= ?',
    );
    const counts = whole.map((stretch) => count.get(stretch.id, stretch.seqFrom, stretch.seqTo) ?? { n: 0, last: null });
    this.stretches = whole.map((stretch, index) => ({ ...stretch, seqTo: counts[index]?.last ?? stretch.seqFrom - 1 }));
    this.events = counts.reduce((sum, { n }) => sum + n, 0);
    this.axis = reads.axisOf(whole);
    this.#ends = whole.map((stretch) => endOf(reads, this.run, stretch));
    this.#isImported = row.imported_from !== null;
    this.originRun = row.origin_run ?? row.run;
    this.horizonNs = horizonOf(reads, this.run, whole);
    this.facts = {
      ...factsOfRow(row),
      // An importer that does not know the wall clock says 0.
      startedWallNs: this.axis === null || whole[0]?.hello.wall_ns === '0' ? null : this.axis.startedWallNs,
    };
  }

  /** Tells the run to the feed, a page between two yields. No cursor is open while it waits. */
  *walk(feed: RunFeed): Generator<void> {
    for (const [index, stretch] of this.stretches.entries()) {
      feed.beginProcess(stretch.hello, this.stretches[0]?.startedT ?? 0, stretch.seqFrom === 0);
      for (const page of this.pages(stretch)) {
        for (const event of page) feed.take(event);
        yield;
      }
      for (const loss of this.lossesOf(stretch)) {
        const count = loss.count - loss.filled;
        if (count > 0) feed.takeLoss?.({ count, tFrom: loss.tFrom, tTo: loss.tTo, healedT: loss.healedT, state: loss.state });
      }
      feed.endProcess?.(this.#ends[index] ?? null);
      yield;
    }
    for (const { fromNs, toNs } of this.holds()) feed.takeHold?.(fromNs, toNs);
  }

  /** Events of a stretch in the order of `seq`, page by page. */
  *pages(stretch: Stretch): Generator<TimelineEvent[]> {
    for (let from = stretch.seqFrom; from <= stretch.seqTo;) {
      const page = this.reads.readPage(stretch.id, from, stretch.seqTo, PAGE);
      const last = page.at(-1);
      if (!last) return;
      yield page;
      from = last.seq + 1;
    }
  }

  /** Facts of a process as a run file has them; null where its rows are gone. */
  processOf(stretch: Stretch): RunFileProcess {
    const row = this.reads.db
      .prepare(
        `SELECT rp.seq_from AS seqFrom, rp.seq_to AS seqTo, rp.started_seq AS startedSeq, rp.started_t AS startedT, rp.ended_t AS endedT,
           rp.reason, p.ended, p.exit, p.signal, j.horizon, j.peak_rss_bytes AS peakRssBytes, j.unparsed
         FROM run_process rp JOIN process p ON p.id = rp.process JOIN journal j ON j.process = rp.process
         WHERE rp.run = ? AND rp.process = ?`,
      )
      .get(this.run, stretch.id) as Omit<RunFileProcess, 'hello'>;
    return { ...row, hello: stretch.hello };
  }

  lossesOf(stretch: Stretch): RunFileLoss[] {
    const rows = this.reads.db
      .prepare(
        `SELECT kind, seq_from AS seqFrom, seq_to AS seqTo, ring, count, filled, t_from AS tFrom, t_to AS tTo, healed_t AS healedT,
           healed_state AS state FROM loss WHERE process = ? AND seq_from >= ? AND seq_from <= ? ORDER BY t_from, kind, seq_from`,
      )
      .all(stretch.id, stretch.seqFrom, stretch.seqTo) as (Omit<RunFileLoss, 'state'> & { state: string | null })[];
    return rows.map((row) => ({ ...row, state: row.state === null ? null : (JSON.parse(row.state) as StateLine) }));
  }

  problemsOf(stretch: Stretch): RunFileProblem[] {
    return this.reads.db
      .prepare('SELECT offset, bytes, kind, problem FROM problem WHERE process = ? ORDER BY offset, kind')
      .all(stretch.id) as RunFileProblem[];
  }

  /** Stretches in which the host kept proofs back, on the run's axis. */
  holds(): { fromNs: Nanoseconds; toNs: Nanoseconds | null }[] {
    return readHolds(this.reads, this.run);
  }

  /** What the host that made the run knew of its proofs. */
  attempts(): AttemptFacts[] {
    if (this.#isImported) {
      return this.reads.db
        .prepare('SELECT proof, attempt, outcome, sha256, file, code, message FROM imported_attempt WHERE run = ? ORDER BY id')
        .all(this.run) as AttemptFacts[];
    }
    const rows = this.reads.db
      .prepare('SELECT proof, attempt, outcome, sha256, path AS file, code, message FROM proof_attempt WHERE run = ? ORDER BY id')
      .all(this.run) as AttemptFacts[];
    return rows.map((row) => ({ ...row, file: row.file === null ? null : nameOf(row.file) }));
  }
}

/** The last part of a path. */
function nameOf(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}
