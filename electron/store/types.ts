/**
 * What the store offers to the host: records, calls and subscriptions. Everything here crosses a thread boundary by structured clone.
 * Every promise rejects with an InterlockError; after a resolved call the change is durable (synchronous=FULL).
 */
import type { CheckedInput, CallOutput, ProofSummary } from '../contract/api.ts';
import type { BlockPlan } from '../analysis/experiment.ts';
import type { Clock } from '../contract/clock.ts';
import type { ErrorCode } from '../contract/errors.ts';
import type { HostStatus, LiveMessage, LiveSnapshot, Notice } from '../contract/live.ts';
import type { ProofOutcome, ProofReport, RunReport, RunState, RunSummary } from '../contract/run-report.ts';
import type { Backend, Scheduler } from '../contract/scheduler.ts';
import type { EventName, StateLine, TimelineEvent } from '../contract/timeline-events.ts';
import type { ExperimentReport } from '../contract/what-if.ts';

export interface StoreOptions {
  /** The data folder; made (0700) if absent. */
  folder: string;
  /** The host's clock, for labels and the slow-query log. Worker threads have the machine's. */
  clock: Clock;
  /** A call that takes longer is told to `onSlow`; default 200 ms. */
  slowMs?: number;
  onSlow?: (entry: { call: string; ms: number }) => void;
  /** Tests only: the file system type that `statfs` would name. */
  fileSystemType?: number;
}

/** A proof as it is queued. */
export interface ProofSpec {
  /** Kind and constraints, as in the journal: `sha256-62500`. */
  circuit: string;
  partitions: number;
  /** 1-4, 4 goes first. */
  priority: number;
  /** Wall clock, decimal ns. */
  submittedWallNs: string;
  deadlineWallNs: string | null;
  /** 32 bytes, hex. */
  seed: string;
}

/** One that may be submitted now. `attempt` is the number to submit it under. */
export interface WaitingProof extends ProofSpec {
  proof: string;
  attempt: number;
  /** It came back from a prover and stands at the head. */
  returned: boolean;
}

/** One that a prover holds. */
export interface RunningProof extends WaitingProof {
  run: string | null;
  process: string | null;
  withdrawAsked: boolean;
}

export interface ProofFinish {
  outcome: ProofOutcome;
  sha256: string | null;
  /** Where the proof's bytes are; null unless valid. */
  path: string | null;
  code: string | null;
  message: string | null;
}

/** `already_ended`: this attempt has its outcome. `old_attempt`: a later attempt is under way; kept aside. `already_valid`: never overwritten. */
export type FinishAnswer = { accepted: true } | { accepted: false; reason: 'already_ended' | 'old_attempt' | 'already_valid' | 'unknown' };

export interface RunStart {
  scheduler: Scheduler;
  backend: Backend;
  engine: string;
  emulate: string | null;
}

export interface OpenRun extends RunStart {
  run: string;
  uid: string;
  startedWallMs: number;
  /** Processes that served it, in order. */
  processes: string[];
}

export interface RunClose {
  state: Exclude<RunState, 'running'>;
  endedBy: string;
  /** True: nobody saw its end (crash); it ends at its last event. */
  atLastEvent: boolean;
}

export interface ProcessStart {
  process: string;
  pid: number;
  /** /proc/PID/stat field 22: with the pid it names the process for ever. */
  startTicks: string;
  folder: string;
  /** Path of the journal file; it need not exist yet. */
  journal: string;
  backend: Backend;
  /** The run that it is started for; null if none yet. */
  run: string | null;
}

export interface ProcessRecord extends ProcessStart {
  startedWallMs: number;
  /** Bytes of the journal whose events are committed. */
  committedBytes: number;
  /** Highest committed seq, −1 none. */
  lastSeq: number;
  /** Newest `mark` or `state` seen, ns since the process's origin; null none. */
  horizonNs: number | null;
  /** The newest `state` line. */
  lastState: StateLine | null;
}

/** At least one proof is kept back in the host from here on. */
export interface HoldStart {
  bootId: string;
  /** The machine's monotonic clock, decimal ns. */
  fromNs: string;
  /** `held` by the operator or a fault, or `switch`. */
  reason: string;
}

export interface ProcessEnd {
  /** Words: "drained", "killed by signal 9, not by us". */
  ended: string;
  exit: number | null;
  signal: string | null;
}

export interface JournalVerdict {
  /** True: everything is committed and counted, and the runs are closed; the file may be deleted. */
  done: boolean;
  /** Why not; null when done. */
  reason: string | null;
  events: number;
  lost: number;
  unparsed: number;
}

export interface FollowStatus {
  process: string;
  committedBytes: number;
  lastSeq: number;
  horizonNs: number | null;
  /** Host's monotonic ns when its horizon last moved; null never. */
  heardNs: number | null;
  finished: boolean;
}

export interface IngestStatus extends Pick<HostStatus['ingest'], 'lagNs' | 'lost' | 'unparsed'> {
  /** Null while commits succeed; else why they do not. Nothing is lost meanwhile: the journal keeps it. */
  failing: { code: ErrorCode; message: string } | null;
  following: FollowStatus[];
}

export interface ExperimentStart {
  a: Scheduler;
  b: Scheduler;
  rounds: number;
  proofsPerBlock: number;
  warmUpProofs: number;
  /** The host's set-up to go back to, in the host's own words. */
  before: string;
}
export interface BlockEnd {
  run: string | null;
  sPerProof: number | null;
  /** How many are in `sPerProof`. */
  proofs: number;
}
export interface ExperimentEnd {
  state: 'done' | 'stopped' | 'failed';
  message: string | null;
}
/** One without an end. */
export interface OpenExperiment {
  experiment: string;
  before: string;
  /** How far it came. */
  round: number;
  rounds: number;
  /** Proofs of its blocks that wait or are in a prover. */
  proofs: string[];
}

/** Events of one process that have just become durable, in seq order. */
export interface CommittedBatch {
  process: string;
  events: TimelineEvent[];
  /** Highest committed seq. */
  lastSeq: number;
}

export type Unsubscribe = () => void;

export interface Store {
  /** `readOnly` is null when the history can be written; otherwise every changing call fails with that code. */
  readonly access: { readOnly: { code: ErrorCode; message: string } | null };
  /** What opening found worth telling (a damaged file moved aside, an unclean end …). */
  readonly notices: Notice[];
  /** The data folder's own id. */
  readonly uuid: string;

  // Queue of proofs
  /** Queues them in this order; durable before it resolves. */
  addProofs(specs: ProofSpec[]): Promise<string[]>;
  listProofs(input: { state: 'waiting' | 'running' | 'ended' | 'any'; limit: number }): Promise<ProofSummary[]>;
  /** Those that go next, in queue order: returned ones first, then higher priority, then first come. Changes nothing. */
  takeWaiting(limit: number): Promise<WaitingProof[]>;
  listRunning(): Promise<RunningProof[]>;
  countProofs(): Promise<{ waiting: number; running: number }>;
  markSubmitted(proof: string, attempt: number, run: string, process: string): Promise<void>;
  /**
   * Back to the queue's head, from running, interrupted, failed or invalid. One whose withdrawal was asked becomes `withdrawn`.
   * `countsAsAttempt`: the attempt is used up, the next one has the next number. A valid proof is left alone.
   */
  returnToHead(proof: string, how: { countsAsAttempt: boolean; message?: string }): Promise<{ state: 'waiting' | 'withdrawn' | 'valid' }>;
  /** Exactly one finish is accepted per (proof, attempt); a valid proof is never overwritten. */
  finishProof(proof: string, attempt: number, finish: ProofFinish): Promise<FinishAnswer>;
  /** `stopping`: a prover holds it; its next return ends it as withdrawn. */
  withdraw(proofs: string[]): Promise<{ proof: string; state: 'withdrawn' | 'stopping' | 'ended' }[]>;

  // Runs
  createRun(start: RunStart): Promise<{ run: string; uid: string }>;
  closeRun(run: string, close: RunClose): Promise<void>;
  openRuns(): Promise<OpenRun[]>;

  // Processes and journals
  addProcess(start: ProcessStart): Promise<void>;
  /** Those without an end. */
  liveProcesses(): Promise<ProcessRecord[]>;
  closeProcess(process: string, end: ProcessEnd): Promise<void>;
  /** Processes whose journal has not been deleted yet. */
  journalsLeft(): Promise<ProcessRecord[]>;
  /** Follows the journal from the last committed byte; waits for the file if it is not there yet. */
  follow(process: string): Promise<void>;
  /** The process has ended: reads to the end of the file, commits, stops following. */
  finishFollowing(process: string): Promise<void>;
  journalDone(process: string): Promise<JournalVerdict>;
  /** To be called after the file was deleted. */
  journalDeleted(process: string): Promise<void>;
  /** A supervision step, e.g. `stop_sent`, `term_sent`, `exit`. `process` null: of the host itself. */
  recordStep(process: string | null, step: string, detail?: Record<string, unknown>): Promise<void>;
  recordNotice(notice: { severity: Notice['severity']; code: Notice['code']; message: string }): Promise<Notice>;
  listNotices(limit: number): Promise<Notice[]>;
  /** Answers the number under which the hold is ended. */
  beginHold(hold: HoldStart): Promise<number>;
  endHold(hold: number, toNs: string): Promise<void>;
  /** Those that an earlier host left open. */
  endLeftHolds(now: { bootId: string; ns: string }): Promise<void>;

  // Experiments
  createExperiment(start: ExperimentStart): Promise<{ experiment: string }>;
  /** Queues the block's proofs and notes whose they are, both or neither. */
  beginBlock(experiment: string, block: BlockPlan, specs: ProofSpec[]): Promise<{ position: number; proofs: string[] }>;
  endBlock(experiment: string, position: number, end: BlockEnd): Promise<void>;
  /** Only one that runs can end; a second end changes nothing. */
  endExperiment(experiment: string, end: ExperimentEnd): Promise<void>;
  openExperiments(): Promise<OpenExperiment[]>;
  showExperiment(experiment: string): Promise<ExperimentReport>;

  // What is heard
  /** After each commit. With `names` only those events come (and batches without any are left out): cheaper. */
  onCommitted(listener: (batch: CommittedBatch) => void, names?: readonly EventName[]): Unsubscribe;
  /** Every `state` line of a followed process, as it is read (not waiting for a commit). */
  onState(listener: (message: { process: string; state: StateLine }) => void): Unsubscribe;
  /** Snapshots and batches of the newest run, at most every 100 ms. */
  onLive(listener: (message: LiveMessage) => void): Unsubscribe;
  /** The newest run's live view, or that run's if it is the newest; null otherwise. */
  liveSnapshot(run?: string): Promise<LiveSnapshot | null>;
  ingestStatus(): Promise<IngestStatus>;
  /** The writing side is gone and could not be restarted, or fails and recovers again (null). */
  onFailing(listener: (failing: IngestStatus['failing']) => void): Unsubscribe;

  // Reads. `run` may be `last`.
  listRuns(input: { limit: number; before?: string | undefined }): Promise<{ runs: RunSummary[]; more: boolean }>;
  showRun(run: string): Promise<RunReport>;
  readEvents(input: { run: string; after?: string | undefined; limit: number }): Promise<{ lines: string[]; next: string | null }>;
  showProof(proof: string): Promise<{ summary: ProofSummary; report: ProofReport | null }>;
  /** Where a proof's bytes are. */
  proofFile(proof: string): Promise<{ sha256: string; path: string } | null>;

  // What it means. `run` may be `last`.
  idle(run: string): Promise<CallOutput<'idle'>>;
  gaps(input: CheckedInput<'gaps'>): Promise<CallOutput<'gaps'>>;
  simulate(input: CheckedInput<'simulate'>): Promise<CallOutput<'simulate'>>;
  compare(runs: string[]): Promise<CallOutput<'compare'>>;

  // Runs that come from elsewhere, and go there
  beginImport(input: CheckedInput<'import_begin'>): Promise<CallOutput<'import_begin'>>;
  importPiece(id: string, base64: string): Promise<CallOutput<'import_piece'>>;
  endImport(id: string): Promise<CallOutput<'import_end'>>;
  beginExport(input: CheckedInput<'export_begin'>): Promise<CallOutput<'export_begin'>>;
  exportPiece(id: string): Promise<CallOutput<'export_piece'>>;
  stopExport(id: string): Promise<void>;

  /** A consistent copy of the database by VACUUM INTO; refuses to overwrite. */
  backup(path: string): Promise<void>;
  /** Stops following, commits, empties the WAL, sets the clean flag, releases the folder. */
  close(): Promise<void>;
}
