/**
 * How a reader of somebody else's bytes tells what it finds. Runs come one after another; within one, processes; within one, events in the
 * order of `seq` (0 is the hello). Nothing is held back longer than a reader needs to be sure.
 */
import type { EventOf, StateLine, TimelineEvent } from '../contract/timeline-events.ts';
import type { Backend, Scheduler } from '../contract/scheduler.ts';
import type { RunState } from '../contract/run-report.ts';
import type { ImportProblem } from '../contract/transfer.ts';
import type { Nanoseconds } from '../contract/units.ts';

export interface ImportedRun {
  /** Names the run for ever: the same bytes give the same uid, so a second import is known as such. */
  uid: string;
  /** Its id where it was made; null of a log. */
  originRun: string | null;
  engine: string;
  backend: Backend;
  emulate: string | null;
  scheduler: Scheduler | null;
  found: Record<string, string>;
  startedWallNs: string;
}

export interface ImportedProcess {
  hello: EventOf<'hello'>;
  seqFrom: number;
  startedSeq: number;
  startedT: Nanoseconds;
}

/** On the process's clock, as in FORMAT.md, section 10. */
export interface ImportedLoss {
  kind: 'ring' | 'hole';
  seqFrom: number;
  seqTo: number;
  ring: string | null;
  count: number;
  filled: number;
  tFrom: Nanoseconds;
  tTo: Nanoseconds;
  healedT: Nanoseconds | null;
  state: StateLine | null;
}

export interface ImportedProcessEnd {
  seqTo: number | null;
  endedT: Nanoseconds | null;
  reason: string | null;
  ended: string | null;
  exit: number | null;
  signal: string | null;
  horizon: Nanoseconds | null;
  peakRssBytes: number | null;
  unparsed: number;
}

/** What the host knows of a proof of the run. */
export interface AttemptFacts {
  proof: string;
  attempt: number;
  outcome: string | null;
  sha256: string | null;
  /** A name, never a path. */
  file: string | null;
  code: string | null;
  message: string | null;
}

export interface ImportSink {
  beginRun(run: ImportedRun): void;
  beginProcess(process: ImportedProcess): void;
  event(event: TimelineEvent): void;
  /** Everything before `t` (process's clock) has been told: a live view may show up to there. */
  horizon(t: Nanoseconds): void;
  loss(loss: ImportedLoss): void;
  /** A problem of the journal that the run had where it was made; those of this import come as `problem`. */
  oldProblem(problem: { offset: number; bytes: number; kind: string; problem: string }): void;
  endProcess(end: ImportedProcessEnd): void;
  hold(fromNs: Nanoseconds, toNs: Nanoseconds | null): void;
  attempt(attempt: AttemptFacts): void;
  endRun(end: { state: RunState; endedBy: string | null }): void;
  problem(problem: ImportProblem): void;
}

/** A reader of one format. Constant memory whatever the input's size; never throws for what the bytes say. */
export interface ImportReader {
  readonly lines: number;
  /** Bytes as they come (unpacked), cut anywhere. */
  push(bytes: Uint8Array): void;
  /** No more will come: what is open is closed. */
  end(): void;
}
