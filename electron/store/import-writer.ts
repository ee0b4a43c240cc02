/**
 * Writes what a reader of somebody else's bytes tells: runs, processes, events in bulk, facts beside them. Everything happens within the
 * caller's transactions, {@link ImportWriter.flush} last of all. A run is known by its uid, an event by (process, seq):
 *
 *   the same bytes again            nothing changes
 *   a longer copy of a log          what the shorter one's end made up gives way, from the first difference on
 *   a shorter copy                  what is stored stays; its own made-up end is left out
 *   a run or process of this host   is never touched
 */
import { InterlockError } from '../contract/errors.ts';
import type { TimelineEvent } from '../contract/timeline-events.ts';
import type { ImportProblem } from '../contract/transfer.ts';
import type { Nanoseconds } from '../contract/units.ts';
import type {
  AttemptFacts, ImportedLoss, ImportedProcess, ImportedProcessEnd, ImportedRun, ImportSink,
} from '../formats/import-sink.ts'; // prettier-ignore
import type { RunState } from '../contract/run-report.ts';
import type { WritingDictionary } from './dictionary.ts';
import { ImportFacts, type KnownRun } from './import-facts.ts';
import { ImportRows, ROWS_AT_ONCE, type Clash, type RowTarget } from './import-rows.ts';
import type { ImportedLive } from './live-feed.ts';
import type { Db } from './open.ts';

/** Listed in full; all are counted. */
export const PROBLEMS_KEPT = 1_000;
const PROOFS_COUNTED = 1_000_000;
const LOSSES_REMEMBERED = 10_000;

interface WrittenRun {
  run: string;
  again: boolean;
  events: number;
  proofs: Set<string>;
}

interface RunInWork extends WrittenRun {
  /** As it was stored before; null for a new one. */
  known: KnownRun | null;
  /** Not to be written: it is this host's own, or another import is at it. */
  skipped: boolean;
  /** Marked as being imported. */
  marked: boolean;
  originT: Nanoseconds | null;
  place: number;
  /** Something of it is stored beyond what came. */
  shorter: boolean;
}

interface ProcessInWork extends RowTarget {
  process: ImportedProcess;
  /** A log's events after its last line are made up by whoever reads it. */
  isLog: boolean;
  /** Highest stored seq of this run's part before this import; −1 none. */
  storedBefore: number;
  lastSeq: number;
  counted: number;
  horizon: Nanoseconds | null;
  losses: Set<string>;
}

export interface ImportWriterOptions {
  id: string;
  /** Of what is imported. */
  name: string;
  wallMs: () => number;
  /** Told of what came, by {@link ImportWriter.takeLive}. */
  follow: boolean;
}

export class ImportWriter implements ImportSink {
  readonly runs: WrittenRun[] = [];
  /** About the input as a whole: always listed. */
  readonly remarks: ImportProblem[] = [];
  readonly problems: ImportProblem[] = [];
  moreProblems = 0;
  unparsed = 0;
  events = 0;
  /** The input is over: what comes now is made up to close what was open. */
  ending = false;
  readonly #options: ImportWriterOptions;
  #db: Db | null = null;
  #rows: ImportRows | null = null;
  #facts: ImportFacts | null = null;
  #batch: TimelineEvent[] = [];
  #run: RunInWork | null = null;
  #process: ProcessInWork | null = null;
  /** The process that problems are kept with. */
  #home: number | null = null;
  #homeless: ImportProblem[] = [];
  #live: ((live: ImportedLive) => void)[] = [];
  #liveEvents: TimelineEvent[] | null = null;

  constructor(options: ImportWriterOptions) {
    this.#options = options;
  }

  /** At the beginning of each transaction: the connection may be another one than before. */
  use(db: Db, dictionary: WritingDictionary): void {
    if (this.#db === db) return;
    this.#db = db;
    this.#rows = new ImportRows(db, dictionary);
    this.#facts = new ImportFacts(db);
  }

  /** At the end of each transaction: everything told is written. */
  flush(): void {
    this.#writeBatch();
    const process = this.#process;
    if (process) this.#writeProgress(process);
  }

  /** What came since it was last asked for, for a live view; only of an import that follows. After the commit. */
  takeLive(): ((live: ImportedLive) => void)[] {
    const steps = this.#live;
    this.#live = [];
    this.#liveEvents = null;
    return steps;
  }

  beginRun(run: ImportedRun): void {
    if (this.#run) this.endRun({ state: 'interrupted', endedBy: 'the next run began' });
    const { name, id, follow } = this.#options;
    const known = this.#need().facts.findRun(run.uid);
    const skipped = known !== null && (!known.imported || (known.importing !== null && known.importing !== id));
    const row = known?.run ?? this.#need().facts.addRun(run, name, id, this.#options.wallMs());
    this.#run = {
      run: row, again: known !== null, events: 0, proofs: new Set(), known, skipped, marked: known === null, originT: null, place: 0,
      shorter: false,
    }; // prettier-ignore
    this.runs.push(this.#run);
    if (known && skipped) this.#note(known.imported ? `run ${row} is being imported already` : `this is run ${row} of this host; it is left as it is`); // prettier-ignore
    if (follow && !skipped) this.#tell((live) => live.beginRun(row, run.scheduler));
  }

  beginProcess(process: ImportedProcess): void {
    const run = this.#run;
    if (!run) throw new InterlockError('internal', 'an import told of a process without a run');
    if (this.#process) this.#closeProcess(null);
    run.originT ??= process.startedT;
    run.place += 1;
    if (run.skipped) return;
    const { facts } = this.#need();
    const found = facts.findProcess(process.hello.process);
    if (found?.isOwn) {
      this.#note(`process ${process.hello.process} ran on this host; what the import says of it is left out`);
      return;
    }
    const id = found?.id ?? facts.addProcess(process, run.run);
    const storedBefore = facts.beginPart(run.run, id, process, run.place);
    this.#process = {
      id, process, storedUpTo: found?.lastSeq ?? -1, added: 0, stopped: false, storedBefore, lastSeq: -1, counted: 0, horizon: null,
      isLog: process.hello.boot_id === 'imported', losses: new Set(),
    }; // prettier-ignore
    this.#home = id;
    for (const problem of this.#homeless.splice(0)) facts.addProblem(id, problem);
    const originT = run.originT;
    this.#tell((live) => live.beginProcess(process.hello, originT, process.seqFrom === 0));
  }

  event(event: TimelineEvent): void {
    this.events += 1;
    const run = this.#run;
    if (run) {
      run.events += 1;
      if ((event.e === 'proof_accepted' || event.e === 'proof_named' || event.e === 'proof_ended') && run.proofs.size < PROOFS_COUNTED) {
        run.proofs.add(event.proof);
      }
    }
    const process = this.#process;
    if (!process) return;
    this.#batch.push(event);
    if (this.#batch.length >= ROWS_AT_ONCE) this.#writeBatch();
    if (this.#options.follow) {
      if (this.#liveEvents === null) {
        const events: TimelineEvent[] = [];
        this.#tell((live) => live.takeEvents(events));
        this.#liveEvents = events;
      }
      this.#liveEvents.push(event);
    }
  }

  horizon(t: Nanoseconds): void {
    const process = this.#process;
    if (!process) return;
    process.horizon = Math.max(process.horizon ?? 0, t);
    this.#tell((live) => live.takeHorizon(t));
  }

  loss(loss: ImportedLoss): void {
    const process = this.#process;
    if (!process) return;
    this.#writeBatch();
    if (process.stopped) return;
    if (process.losses.size < LOSSES_REMEMBERED) process.losses.add(`${loss.kind} ${loss.seqFrom}`);
    if (this.#need().facts.addLoss(process.id, loss)) this.#mark();
    const { tFrom, tTo, healedT, state } = loss;
    this.#tell((live) => live.takeLoss({ tFrom, tTo, count: loss.count - loss.filled, healedT, state }));
  }

  oldProblem(problem: { offset: number; bytes: number; kind: string; problem: string }): void {
    if (this.#process) this.#need().facts.addProblem(this.#process.id, problem);
  }

  endProcess(end: ImportedProcessEnd): void {
    this.#closeProcess(end);
  }

  hold(fromNs: Nanoseconds, toNs: Nanoseconds | null): void {
    const run = this.#run;
    if (!run || run.skipped) return;
    this.#need().facts.addHold(run.run, fromNs, toNs);
    this.#tell((live) => live.takeHold(fromNs, toNs));
  }

  attempt(attempt: AttemptFacts): void {
    const run = this.#run;
    if (run && !run.skipped) this.#need().facts.addAttempt(run.run, attempt);
  }

  endRun(end: { state: RunState; endedBy: string | null }): void {
    this.#closeProcess(null);
    const run = this.#run;
    this.#run = null;
    if (!run || run.skipped) return;
    const lasted = end.state === 'running';
    const told = lasted ? { state: 'interrupted' as const, endedBy: 'it still lasted when it was written down' } : end;
    // What is stored reaches further than this copy: its end stays.
    const stays = run.shorter && run.known && run.known.state !== 'running' ? run.known : told;
    this.#need().facts.endRun(run.run, stays, this.#options.wallMs());
    this.#tell((live) => live.endRun());
  }

  problem(problem: ImportProblem): void {
    if (problem.kind === 'unparsed' || problem.kind === 'torn') this.unparsed += 1;
    if (this.problems.length >= PROBLEMS_KEPT) this.moreProblems += 1;
    else {
      this.problems.push(problem);
      this.#keep(problem);
    }
  }

  remark(problem: ImportProblem): void {
    this.remarks.push(problem);
    this.#keep(problem);
  }

  #keep(problem: ImportProblem): void {
    if (this.#run?.skipped) return;
    if (this.#home === null) this.#homeless.push(problem);
    else this.#need().facts.addProblem(this.#home, problem);
  }

  /** Closes what an input that was given up left open. */
  giveUp(endedBy: string): void {
    if (this.#run) this.endRun({ state: 'interrupted', endedBy });
  }

  #closeProcess(end: ImportedProcessEnd | null): void {
    this.#writeBatch();
    const process = this.#process;
    const run = this.#run;
    this.#process = null;
    if (!process || !run) return;
    this.#writeProgress(process);
    const shorter = process.stopped || process.storedBefore > process.lastSeq;
    if (shorter) run.shorter = true;
    const { facts } = this.#need();
    if (end && !shorter) facts.endPart(run.run, process.id, end);
    if (!shorter && process.losses.size < LOSSES_REMEMBERED)
      facts.dropOtherLosses(process.id, process.process.seqFrom, process.lastSeq, process.losses);
    this.#tell((live) => live.endProcess());
  }

  #writeBatch(): void {
    const process = this.#process;
    const batch = this.#batch;
    const last = batch.at(-1);
    if (!process || !last) return;
    const before = process.added;
    this.#need().rows.write(process, batch, (event) => this.#clash(process, event));
    if (process.added !== before) this.#mark();
    if (!process.stopped) process.lastSeq = last.seq;
    this.#batch = [];
  }

  #clash(process: ProcessInWork, event: TimelineEvent): Clash {
    if (process.isLog) {
      if (this.ending) return 'stop';
      process.storedBefore = Math.min(process.storedBefore, event.seq - 1);
      // At the latest now it is another run than the one that was finished.
      this.#mark();
      return 'replace';
    }
    this.#note(`event ${event.seq} (${event.e}) is stored already and says something else; the stored one stays`);
    return 'keep';
  }

  #writeProgress(process: ProcessInWork): void {
    this.#need().facts.progress(process.id, process.storedUpTo, process.added - process.counted, process.horizon);
    process.counted = process.added;
  }

  /** Something new of a run that was there: until its end is told again it is under way. */
  #mark(): void {
    const run = this.#run;
    if (!run || run.marked) return;
    run.marked = true;
    this.#need().facts.markRun(run.run, this.#options.id);
  }

  #note(problem: string): void {
    this.problem({ line: 0, offset: 0, bytes: 0, kind: 'note', problem, text: '' });
  }

  #tell(step: (live: ImportedLive) => void): void {
    if (!this.#options.follow || this.#run?.skipped) return;
    this.#liveEvents = null;
    this.#live.push(step);
  }

  #need(): { rows: ImportRows; facts: ImportFacts } {
    if (!this.#rows || !this.#facts) throw new InterlockError('internal', 'an import writes outside of a transaction');
    return { rows: this.#rows, facts: this.#facts };
  }
}
