/**
 * The one contract: every call, its input and its answer, named once. Handlers and clients are typed off `CALLS`, so drift does not
 * compile. A door adds transport and access control, no behaviour; it checks the input with the schema before the handler sees it.
 */
import * as v from 'valibot';
import { BACKENDS, PRESETS, SchedulerSpecSchema, type Scheduler } from './scheduler.ts';
import type { Result } from './errors.ts';
import type { GapsReport, IdleReport } from './idle.ts';
import type { HostStatus, LiveMessage } from './live.ts';
import type { ProofReport, ProofState, RunReport, RunSummary } from './run-report.ts';
import { EXPORT_FORMATS, PIECE_BYTES, type ImportProgress, type ImportReport } from './transfer.ts';
import type { ComparisonReport, ExperimentReport, SimulationReport } from './what-if.ts';

const Id = v.pipe(v.string(), v.regex(/^[A-Za-z0-9._-]{1,64}$/, 'an id has 1 to 64 of A-Z a-z 0-9 . _ -'));
/** A run's id, or `last`. */
const RunRef = Id;
const Count = (most: number) => v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(most));

export const CIRCUITS = ['sha256', 'squarings'] as const;
export const CIRCUIT_DEFAULTS = { sha256: 62_500, squarings: 65_000 } as const;

export const ProveSchema = v.strictObject({
  backend: v.optional(v.picklist(BACKENDS)),
  scheduler: v.optional(SchedulerSpecSchema),
  circuit: v.optional(v.picklist(CIRCUITS), 'sha256'),
  constraints: v.optional(v.pipe(v.number(), v.integer(), v.minValue(16), v.maxValue(200_000_000))),
  partitions: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1024)), 10),
  count: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000)), 1),
  priority: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(4)), 2),
  deadline_wall_ns: v.optional(v.pipe(v.string(), v.regex(/^\d{1,20}$/))),
  emulate: v.optional(v.pipe(v.string(), v.maxLength(500))),
  /** Change backend or scheduler if another one is active; without it such a call is refused with `other_scheduler`. */
  switch: v.optional(v.boolean(), false),
});
export type ProveInput = v.InferInput<typeof ProveSchema>;

export interface ProveAnswer {
  proofs: string[];
  /** The run that will serve them, if it has begun already. */
  run: string | null;
  scheduler: Scheduler;
}

export interface ProofSummary {
  proof: string;
  attempt: number;
  state: ProofState;
  circuit: string;
  partitions: number;
  priority: number;
  run: string | null;
  /** Why it waits, failed or was interrupted. */
  message: string | null;
  sha256: string | null;
  submittedWallMs: number;
  endedWallMs: number | null;
}

/** Changes to a scheduler: only what is given changes. */
const SchedulerChange = v.omit(SchedulerSpecSchema, ['preset']);
/** Half a million nanoseconds to a month: a stage's duration. */
const StageSeconds = v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(2_592_000));

export const SimulateSchema = v.strictObject({
  /** The run whose stage durations are used; or `stages`. */
  run: v.optional(RunRef),
  /** Seconds of each stage. Lists of equal length are rows, of which whole ones are drawn; else each list is drawn from by itself. */
  stages: v.optional(
    v.strictObject({
      synthesis: v.pipe(v.array(StageSeconds), v.minLength(1), v.maxLength(10_000)),
      prepare: v.pipe(v.array(StageSeconds), v.minLength(1), v.maxLength(10_000)),
      device: v.pipe(v.array(StageSeconds), v.minLength(1), v.maxLength(10_000)),
      finish: v.pipe(v.array(StageSeconds), v.minLength(1), v.maxLength(10_000)),
      partitions: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1024)),
      /** Stretch of each stage per further synthesis at once; 0 none. */
      contention: v.optional(
        v.record(v.picklist(['synthesis', 'prepare', 'device', 'finish']), v.pipe(v.number(), v.minValue(0), v.maxValue(10))),
      ),
    }),
  ),
  preset: v.optional(v.picklist(PRESETS)),
  change: v.optional(SchedulerChange, {}),
  proofs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000))),
  rounds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(200)), 20),
  seed: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2 ** 32 - 1)), 1),
});

export const ExperimentSchema = v.strictObject({
  a: SchedulerSpecSchema,
  b: SchedulerSpecSchema,
  rounds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(2), v.maxValue(100)), 5),
  proofs_per_block: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000)), 5),
  backend: v.optional(v.picklist(BACKENDS)),
  emulate: v.optional(v.pipe(v.string(), v.maxLength(500))),
  circuit: v.optional(v.picklist(CIRCUITS), 'sha256'),
  constraints: v.optional(v.pipe(v.number(), v.integer(), v.minValue(16), v.maxValue(200_000_000))),
  partitions: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1024)), 10),
});

const TransferId = v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,64}$/, 'not an id of a transfer'));
/** Base64 of at most {@link PIECE_BYTES} bytes. */
const Piece = v.pipe(v.string(), v.maxLength(Math.ceil(PIECE_BYTES / 3) * 4), v.regex(/^[A-Za-z0-9+/]*={0,2}$/, 'not base64'));

export interface DoctorCheck {
  check: string;
  state: 'ok' | 'warning' | 'error' | 'not_run';
  found: string;
  /** One line, empty when all is well. */
  cure: string;
}

export interface ConfigValue {
  key: string;
  value: string;
  source: 'flag' | 'environment' | 'file' | 'default';
  /** Where exactly: the flag, the variable's name, or file and line. */
  from: string;
}

/** `changes`: the call alters something (over HTTP all calls are POST with JSON all the same). */
export const CALLS = {
  status: { input: v.strictObject({}), changes: false, output: null as unknown as HostStatus },
  list_runs: {
    input: v.strictObject({ limit: v.optional(Count(500), 100), before: v.optional(RunRef) }),
    changes: false,
    output: null as unknown as { runs: RunSummary[]; more: boolean },
  },
  show_run: { input: v.strictObject({ run: RunRef }), changes: false, output: null as unknown as RunReport },
  read_events: {
    input: v.strictObject({ run: RunRef, after: v.optional(v.pipe(v.string(), v.maxLength(64))), limit: v.optional(Count(5000), 1000) }),
    changes: false,
    /** `lines`: NDJSON lines with `process`, `seq`, `t` (process clock), `run_t` (ns since run start; may be negative before it). `next`: pass as `after`; null at the end. */
    output: null as unknown as { lines: string[]; next: string | null },
  },
  list_proofs: {
    input: v.strictObject({
      state: v.optional(v.picklist(['waiting', 'running', 'ended', 'any']), 'any'),
      limit: v.optional(Count(1000), 200),
    }),
    changes: false,
    output: null as unknown as { proofs: ProofSummary[] },
  },
  show_proof: {
    input: v.strictObject({ proof: Id }),
    changes: false,
    output: null as unknown as { summary: ProofSummary; report: ProofReport | null },
  },
  read_proof: { input: v.strictObject({ proof: Id }), changes: false, output: null as unknown as { sha256: string; text: string } },
  prove: { input: ProveSchema, changes: true, output: null as unknown as ProveAnswer },
  withdraw: {
    input: v.strictObject({ proofs: v.pipe(v.array(Id), v.minLength(1), v.maxLength(10_000)) }),
    changes: true,
    /** `withdrawn`: left the queue. `stopping`: still on the device. `ended`: too late. */
    output: null as unknown as { states: { proof: string; state: 'withdrawn' | 'stopping' | 'ended' }[] },
  },
  switch_scheduler: {
    input: v.strictObject({
      scheduler: SchedulerSpecSchema,
      backend: v.optional(v.picklist(BACKENDS)),
      emulate: v.optional(v.pipe(v.string(), v.maxLength(500))),
    }),
    changes: true,
    /** `restarts`: the prover must restart (params are loaded again); otherwise the same process goes on with params resident. */
    output: null as unknown as { scheduler: Scheduler; restarts: boolean; waitsForProofs: number },
  },
  resolve_scheduler: {
    input: v.strictObject({ scheduler: SchedulerSpecSchema, backend: v.optional(v.picklist(BACKENDS)) }),
    changes: false,
    output: null as unknown as { scheduler: Scheduler; restarts: boolean; waitsForProofs: number },
  },
  /** Drain: finish proofs with a started partition, return the others, end the prover. Now: after the running kernel; what was started is lost work. */
  stop: {
    input: v.strictObject({ how: v.picklist(['drain', 'now']) }),
    changes: true,
    output: null as unknown as { waitsForProofs: number },
  },
  /** Go on: lifts a hold (operator's, crash loop's) and starts the prover if there is work. */
  start: { input: v.strictObject({}), changes: true, output: null as unknown as Record<string, never> },
  idle: { input: v.strictObject({ run: RunRef }), changes: false, output: null as unknown as IdleReport },
  gaps: {
    input: v.strictObject({
      run: RunRef,
      min_ns: v.optional(Count(Number.MAX_SAFE_INTEGER), 10_000_000),
      limit: v.optional(Count(100_000), 1000),
    }),
    changes: false,
    output: null as unknown as GapsReport,
  },
  simulate: { input: SimulateSchema, changes: false, output: null as unknown as SimulationReport },
  compare: {
    input: v.strictObject({ runs: v.pipe(v.array(RunRef), v.minLength(2), v.maxLength(8)) }),
    changes: false,
    output: null as unknown as ComparisonReport,
  },
  /** Runs A and B in turns on this machine, in one process where that is possible; one at a time. */
  start_experiment: { input: ExperimentSchema, changes: true, output: null as unknown as ExperimentReport },
  show_experiment: { input: v.strictObject({ experiment: Id }), changes: false, output: null as unknown as ExperimentReport },
  stop_experiment: { input: v.strictObject({ experiment: Id }), changes: true, output: null as unknown as ExperimentReport },
  /** An import: begin, pieces in order, end. `follow`: a log that grows; what came so far is shown live. One left alone for ten minutes is ended. */
  import_begin: {
    input: v.strictObject({ name: v.pipe(v.string(), v.maxLength(200)), follow: v.optional(v.boolean(), false) }),
    changes: true,
    output: null as unknown as { import: string },
  },
  /** An empty piece keeps an import alive. Answers once the piece is durable. */
  import_piece: { input: v.strictObject({ import: TransferId, base64: Piece }), changes: true, output: null as unknown as ImportProgress },
  import_end: { input: v.strictObject({ import: TransferId }), changes: true, output: null as unknown as ImportReport },
  /** An export: begin, then pieces until `done`. Files come one after another. */
  export_begin: {
    input: v.strictObject({ run: RunRef, format: v.picklist(EXPORT_FORMATS), redact: v.optional(v.boolean(), false) }),
    changes: false,
    /** `name`: a suggestion for the file or folder. `files`: names inside of it; one nameless file where the format is one file. */
    output: null as unknown as { export: string; name: string; files: string[] },
  },
  export_piece: {
    input: v.strictObject({ export: TransferId }),
    changes: false,
    /** `file`: index into `files`. `done`: this was the last piece; the export is over. */
    output: null as unknown as { file: number; base64: string; done: boolean },
  },
  export_stop: { input: v.strictObject({ export: TransferId }), changes: false, output: null as unknown as Record<string, never> },
  doctor: { input: v.strictObject({}), changes: false, output: null as unknown as { checks: DoctorCheck[] } },
  show_config: { input: v.strictObject({}), changes: false, output: null as unknown as { values: ConfigValue[] } },
  /** A fresh single-use link to the web door; only the socket door answers it. */
  make_link: { input: v.strictObject({}), changes: true, output: null as unknown as { url: string } },
} as const;

export type CallName = keyof typeof CALLS;
export type CallInput<C extends CallName> = v.InferInput<(typeof CALLS)[C]['input']>;
export type CheckedInput<C extends CallName> = v.InferOutput<(typeof CALLS)[C]['input']>;
export type CallOutput<C extends CallName> = (typeof CALLS)[C]['output'];

export function isCallName(text: string): text is CallName {
  return Object.hasOwn(CALLS, text);
}

/** What the object behind every door implements. Handlers throw InterlockError; the router turns it into a Result. */
export type Handlers = { [C in CallName]: (input: CheckedInput<C>) => Promise<CallOutput<C>> };

/** A live subscription: `send` returns false when the client is too slow; the host then skips batches and sends a snapshot later. */
export interface LiveSubscriber {
  send(message: LiveMessage): boolean;
}

/** The host as its doors see it. */
export interface Host {
  handlers: Handlers;
  /** Begins with `status` and a `snapshot` (or `no_run`). Returns the function that ends it. */
  subscribe(subscriber: LiveSubscriber): () => void;
}

/** The two functions over which the typed client is built, whatever the transport. */
export interface Transport {
  call(name: CallName, input: unknown): Promise<Result<unknown>>;
  /** Calls `onMessage` until closed; `onClose` once when the connection is lost. */
  live(onMessage: (message: LiveMessage) => void, onClose: () => void): () => void;
}

export type Client = {
  [C in CallName]: (input: CallInput<C>) => Promise<CallOutput<C>>;
} & { live: Transport['live'] };
