/**
 * What a live view gets: one snapshot, then batches. A client draws from `horizonNs` (everything before it is known) and may let
 * the lanes flow on towards now; it never invents an end. Batches are numbered; a client that missed one asks for a new snapshot.
 *
 * All instants are ns since the run's start.
 */
import type { Backend, Scheduler } from './scheduler.ts';
import type { Cause, Group, IdleParts } from './idle.ts';
import type { DeviceWindows, ProofState, SecondsPerProof } from './run-report.ts';
import type { ErrorCode } from './errors.ts';

export type ProverPhase = 'absent' | 'starting' | 'ready' | 'draining' | 'stopping' | 'lost' | 'hung' | 'stuck' | 'crash_loop';

export interface Notice {
  id: number;
  severity: 'info' | 'warning' | 'error';
  code: ErrorCode | 'info';
  message: string;
  wallMs: number;
}

export interface HostStatus {
  version: string;
  dataFolder: string;
  /** Null when the history can be written. */
  readOnly: { code: ErrorCode; message: string } | null;
  machine: { cpus: number; memoryBytes: number; hostname: string };
  prover: {
    phase: ProverPhase;
    pid: number | null;
    backend: Backend | null;
    /** Plain words about the phase, e.g. "killed by signal 9, not by us (kernel out-of-memory likely)". */
    detail: string | null;
    /** Wall clock, ms since the epoch. */
    sinceMs: number;
  };
  run: { run: string; scheduler: Scheduler; backend: Backend; emulate: string | null; startedWallMs: number } | null;
  /** A switch that waits for the run to become quiescent. */
  switching: { scheduler: Scheduler; backend: Backend; restarts: boolean } | null;
  /** Held: the operator, a drain or a crash loop keeps the queue back. */
  queue: { waiting: number; inProver: number; held: string | null };
  ingest: { lagNs: number; lost: number; unparsed: number; failing: string | null };
  notices: Notice[];
}

export type LaneKind = 'kernel' | 'copy' | 'lock' | 'worker' | 'synthesis';
/** One lane; the key is stable within a run: `kernel:cpu0:0`, `worker:cpu0:1`, `synthesis:2`. */
export interface Lane {
  key: string;
  kind: LaneKind;
  device: string | null;
  index: number;
  label: string;
}

export const SPAN_KINDS = ['kernel', 'copy', 'lock', 'waiting', 'prepare', 'device', 'finish', 'synthesis'] as const;
export type SpanKind = (typeof SPAN_KINDS)[number];

export interface LiveSpan {
  /** Stable within the run; a span comes again under the same id when it ends. */
  id: number;
  lane: string;
  kind: SpanKind;
  startNs: number;
  endNs: number | null;
  proof: string;
  attempt: number;
  partition: number;
  /** Kernel's name, or null. */
  detail: string | null;
}

export const PARTITION_STATES = [
  'pending', 'permit', 'synthesis', 'withheld', 'queued', 'prepare', 'waiting', 'device', 'finish', 'valid', 'invalid', 'failed', 'cancelled',
] as const; // prettier-ignore
export type PartitionState = (typeof PARTITION_STATES)[number];

export interface LiveProof {
  proof: string;
  attempt: number;
  circuit: string;
  state: ProofState;
  partitions: PartitionState[];
  acceptedNs: number | null;
  endedNs: number | null;
  /** Expected seconds until it ends, from this run's own proofs; null when unknown. */
  etaS: number | null;
  error: string | null;
}

/**
 * Why a device was idle so far. kernel_ns + Σ idle + Σ provisional + Σ groups + unknown_ns = wall_ns. What is not named is 0. The final
 * nanoseconds never fall; `provisional` may still change its cause with the device's next pick-up, or turn out as unknown.
 */
export interface DeviceIdleLive {
  device: string;
  /** From the run's start to the horizon, or to its end. */
  wall_ns: number;
  /** Null where kernels are not recorded (then 0 in the identity). */
  kernel_ns: number | null;
  /** Final alone. */
  idle_ns: Partial<Record<Cause, number>>;
  provisional: Partial<Record<Cause, number>>;
  groups: Partial<Record<Group, number>>;
  unknown_ns: number;
  /** The steady stretch that s/proof is measured over, divided by its proofs; null where there are too few. */
  steady: { from_ns: number; to_ns: number; proofs: number; per_proof: IdleParts } | null;
}

/** Windows of the trailing 60 s and of the run, per device. */
export interface LiveFigures {
  last60s: DeviceWindows[];
  run: DeviceWindows[];
  idle: DeviceIdleLive[];
  /** Kernel, lock, job ratio of each of the last 60 whole seconds, oldest first; null where nothing is known. */
  sparkline: { device: string; kernel: (number | null)[]; lock: (number | null)[]; job: (number | null)[] }[];
  sPerProof: SecondsPerProof;
  latency: { lastS: number | null; medianS: number | null; n: number };
  /** Seconds of the last ten valid proofs, oldest first. */
  lastLatenciesS: number[];
  memory: { rssBytes: number | null; peakRssBytes: number | null; budgetBytes: number | null; permitBytes: number | null };
  permits: { used: number; total: number } | null;
  counts: { valid: number; invalid: number; failed: number; running: number };
  params: { circuit: string; is: 'absent' | 'loading' | 'resident' }[];
}

/** A stretch in which events are missing, of one device or (null) of all. */
export interface UnknownStretch {
  device: string | null;
  startNs: number;
  endNs: number;
}

export interface LiveSnapshot {
  run: string;
  batch: number;
  horizonNs: number;
  /** The host's estimate of now on the run's clock, for the flow. */
  nowNs: number;
  endedNs: number | null;
  lanes: Lane[];
  /** The spans of the last 90 s and every open one. */
  spans: LiveSpan[];
  unknown: UnknownStretch[];
  proofs: LiveProof[];
  figures: LiveFigures;
}

export type LiveMessage =
  | { kind: 'status'; status: HostStatus }
  | { kind: 'no_run' }
  | { kind: 'snapshot'; live: LiveSnapshot }
  | {
      kind: 'batch';
      run: string;
      batch: number;
      horizonNs: number;
      nowNs: number;
      endedNs: number | null;
      lanes: Lane[];
      spans: LiveSpan[];
      unknown: UnknownStretch[];
      proofs: LiveProof[];
      /** At most twice a second. */
      figures: LiveFigures | null;
    };
