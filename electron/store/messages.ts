/** What travels between the store's door and its threads: typed calls with numbers, and told events. */
import type { BlockPlan } from '../analysis/experiment.ts';
import type { CallOutput, CheckedInput, ProofSummary } from '../contract/api.ts';
import type { Failure } from '../contract/errors.ts';
import type { LiveMessage, LiveSnapshot, Notice } from '../contract/live.ts';
import type { ProofReport, RunReport, RunSummary } from '../contract/run-report.ts';
import type { EventName, StateLine } from '../contract/timeline-events.ts';
import type { ExperimentReport } from '../contract/what-if.ts';
import type { FoundNotice, ReadOnly } from './open.ts';
import type {
  BlockEnd, CommittedBatch, ExperimentEnd, ExperimentStart, FinishAnswer, HoldStart, IngestStatus, JournalVerdict, OpenExperiment, OpenRun, ProcessEnd,
  ProcessRecord, ProcessStart, ProofFinish, ProofSpec, RunClose, RunningProof, RunStart, WaitingProof,
} from './types.ts'; // prettier-ignore

/** The calls of the writing thread. */
export interface WriterCalls {
  addProofs(specs: ProofSpec[]): string[];
  takeWaiting(limit: number): WaitingProof[];
  listRunning(): RunningProof[];
  countProofs(): { waiting: number; running: number };
  markSubmitted(proof: string, attempt: number, run: string, process: string): void;
  returnToHead(proof: string, how: { countsAsAttempt: boolean; message?: string }): { state: 'waiting' | 'withdrawn' | 'valid' };
  finishProof(proof: string, attempt: number, finish: ProofFinish): FinishAnswer;
  withdraw(proofs: string[]): { proof: string; state: 'withdrawn' | 'stopping' | 'ended' }[];
  createRun(start: RunStart): { run: string; uid: string };
  closeRun(run: string, close: RunClose): void;
  storeSummary(run: string, summary: string): void;
  openRuns(): OpenRun[];
  addProcess(start: ProcessStart): void;
  liveProcesses(): ProcessRecord[];
  journalsLeft(): ProcessRecord[];
  closeProcess(process: string, end: ProcessEnd): void;
  follow(process: string): void;
  finishFollowing(process: string): Promise<void>;
  journalDone(process: string): JournalVerdict;
  journalDeleted(process: string): void;
  recordStep(process: string | null, step: string, detail?: Record<string, unknown>): void;
  recordNotice(notice: FoundNotice): Notice;
  beginHold(hold: HoldStart): number;
  endHold(hold: number, toNs: string): void;
  endLeftHolds(now: { bootId: string; ns: string }): void;
  liveSnapshot(run?: string): LiveSnapshot | null;
  ingestStatus(): IngestStatus;
  /** Which committed events are wanted: all, or these. */
  listen(wanted: { committed: 'all' | EventName[]; state: boolean; live: boolean }): void;
  backup(path: string): void;
  beginImport(input: CheckedInput<'import_begin'>): CallOutput<'import_begin'>;
  importPiece(id: string, base64: string): CallOutput<'import_piece'> | Promise<CallOutput<'import_piece'>>;
  endImport(id: string): CallOutput<'import_end'> | Promise<CallOutput<'import_end'>>;
  createExperiment(start: ExperimentStart): { experiment: string };
  beginBlock(experiment: string, block: BlockPlan, specs: ProofSpec[]): { position: number; proofs: string[] };
  endBlock(experiment: string, position: number, end: BlockEnd): void;
  endExperiment(experiment: string, end: ExperimentEnd): void;
  openExperiments(): OpenExperiment[];
  close(): void | Promise<void>;
}

/** The calls of the reading thread. */
export interface ReaderCalls {
  listProofs(input: { state: 'waiting' | 'running' | 'ended' | 'any'; limit: number }): ProofSummary[];
  listRuns(input: { limit: number; before?: string | undefined }): {
    runs: RunSummary[];
    more: boolean;
    computed: { run: string; summary: string }[];
  };
  showRun(run: string): RunReport;
  readEvents(input: { run: string; after?: string | undefined; limit: number }): { lines: string[]; next: string | null };
  showProof(proof: string): { summary: ProofSummary; report: ProofReport | null };
  proofFile(proof: string): { sha256: string; path: string } | null;
  listNotices(limit: number): Notice[];
  /** What is wrong with the pages; null nothing. */
  quickCheck(): string | null;
  idle(run: string): CallOutput<'idle'>;
  gaps(input: CheckedInput<'gaps'>): CallOutput<'gaps'>;
  simulate(input: CheckedInput<'simulate'>): CallOutput<'simulate'>;
  compare(runs: string[]): CallOutput<'compare'>;
  showExperiment(experiment: string): ExperimentReport;
  beginExport(input: CheckedInput<'export_begin'>): CallOutput<'export_begin'> | Promise<CallOutput<'export_begin'>>;
  exportPiece(id: string): CallOutput<'export_piece'>;
  stopExport(id: string): void;
}

type AnyCalls = WriterCalls & ReaderCalls;
export type CallOf<C> = { [K in keyof C]: C[K] extends (...args: infer A) => unknown ? { id: number; call: K; args: A } : never }[keyof C];
export type AnswerOf<K extends keyof AnyCalls> = Awaited<ReturnType<AnyCalls[K]>>;

export type Answer = { id: number; ok: true; value: unknown } | (Failure & { id: number });

export type Told =
  | { told: 'opened'; readOnly: ReadOnly | null; notices: Notice[]; uuid: string; unclean: boolean }
  | { told: 'refused'; failure: Failure }
  | ({ told: 'committed' } & CommittedBatch)
  | { told: 'state'; process: string; state: StateLine }
  | { told: 'live'; message: LiveMessage }
  | { told: 'notice'; notice: Notice }
  | { told: 'failing'; failing: IngestStatus['failing'] }
  | { told: 'wal_large'; bytes: number };

export interface WriterSetup {
  folder: string;
  fileSystemType: number | undefined;
  /** Asked for: nothing is changed, whoever else holds the folder. */
  readOnly: boolean;
}
export interface ReaderSetup {
  folder: string;
}
