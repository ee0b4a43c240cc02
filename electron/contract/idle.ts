/**
 * Why a device was idle: the shape of `interlock idle RUN --json` and `interlock gaps RUN --json`. The causes are defined in
 * docs/idle-causes.md. Instants are ns since the run's start, durations integer ns.
 *
 *   kernel_ns + Σ idle_ns + Σ groups + unknown_ns = wall_ns
 */
import type { RunState } from './run-report.ts';
import type { Scheduler } from './scheduler.ts';

export const IDLE_SCHEMA = 1;

/** In the table's order, which is the order of precedence and of every chart. */
export const CAUSES = [
  'down', 'fault', 'in_lock', 'handoff', 'preamble', 'warm_up', 'epilogue', 'dispatch', 'held', 'no_work', 'permit', 'first_synthesis',
  'starved', 'cross_sector',
] as const; // prettier-ignore
export type Cause = (typeof CAUSES)[number];

/** What a log that lacks events cannot tell apart. */
export const GROUPS = ['lock_or_kernel', 'inside_job', 'outside_lock', 'between_work'] as const;
export type Group = (typeof GROUPS)[number];

/** Hue families of the charts. */
export type CauseFamily = 'lock' | 'worker' | 'supply' | 'nothing';
/** Name, family and one sentence: the same words in every chart, table, export and doc. */
export const CAUSE_WORDS: Record<Cause | Group | 'kernel' | 'unknown', { name: string; family: CauseFamily | 'busy' | 'unknown'; says: string }> = {
  kernel: { name: 'kernels', family: 'busy', says: 'A compute kernel runs on the device.' },
  unknown: { name: 'unknown', family: 'unknown', says: 'Events are missing here, so nothing is claimed.' },
  down: { name: 'down', family: 'nothing', says: 'No prover process of the run is alive.' },
  fault: { name: 'fault', family: 'nothing', says: 'Every worker of the device is dead or fenced.' },
  in_lock: { name: 'in lock', family: 'lock', says: 'A worker holds the device in its device stage, and no kernel runs.' },
  handoff: { name: 'handoff', family: 'lock', says: 'The lock is free and a worker that waits has not got it yet.' },
  preamble: { name: 'preamble', family: 'worker', says: 'A worker prepares a partition on the CPU.' },
  warm_up: { name: 'warm-up', family: 'supply', says: 'The process starts, or the parameters that the next partition needs are loading.' },
  epilogue: { name: 'epilogue', family: 'worker', says: 'Work is ready, but every worker still finishes on the CPU: a second worker removes this.' },
  dispatch: { name: 'dispatch', family: 'supply', says: 'A partition is ready and a worker is free, or the batch keeps a partition back.' },
  held: { name: 'held', family: 'nothing', says: 'A pause, a drain or a switch keeps proofs in the host.' },
  no_work: { name: 'no work', family: 'nothing', says: 'There was no proof to work for.' },
  permit: { name: 'permit', family: 'supply', says: 'The next partition would be here, had it not waited for memory or a place in flight.' },
  first_synthesis: { name: 'first synthesis', family: 'supply', says: 'The first partition is still being synthesised.' },
  starved: { name: 'starved', family: 'supply', says: 'The next partition of the same proof is still being synthesised.' },
  cross_sector: { name: 'cross-sector', family: 'supply', says: 'The first partition of the next proof is still being synthesised.' },
  lock_or_kernel: { name: 'lock held', family: 'lock', says: 'The lock is held; this log cannot tell kernels from idle time inside it.' },
  inside_job: { name: 'inside job', family: 'worker', says: 'A worker has the partition; this log does not say when it held the lock.' },
  outside_lock: { name: 'outside lock', family: 'worker', says: 'A worker has a partition and nobody holds the lock; this log cannot tell which CPU stage it is.' },
  between_work: { name: 'between work', family: 'supply', says: 'No worker has a partition; this log cannot tell why none was ready.' },
}; // prettier-ignore

export const IN_LOCK_DETAILS = ['copy', 'barrier', 'alloc', 'host'] as const;
export const PERMIT_DETAILS = ['bytes', 'count'] as const;
export const WORKER_STATES = ['free', 'waiting', 'prepare', 'device', 'finish', 'dead'] as const;
export type WorkerStateName = (typeof WORKER_STATES)[number];

/** A window that is not recorded has `ns: null`. `error_ns`: bound of the sum of placement errors (0 where stamps are exact). */
export interface WindowMeasure {
  ns: number | null;
  sum_ns: number | null;
  recorded: boolean;
  error_ns: number;
}

/** A stretch of one device's account that adds up to its length. */
export interface IdleParts {
  kernel_ns: number;
  idle_ns: Record<Cause, number>;
  groups: Partial<Record<Group, number>>;
  unknown_ns: number;
}

export interface DeviceIdle {
  device: string;
  kind: string;
  wall_ns: number;
  /** Unions and sums as in `show`: closed spans, whatever is unknown beside. */
  windows: Record<'kernel' | 'lock' | 'job' | 'copy', WindowMeasure>;
  /** Kernel time outside of unknown stretches: the identity's term. Null where kernels are not recorded (then 0 in the identity). */
  kernel_ns: number | null;
  /** Final and provisional together. */
  idle_ns: Record<Cause, number>;
  details: { in_lock: Record<(typeof IN_LOCK_DETAILS)[number], number>; permit: Record<(typeof PERMIT_DETAILS)[number], number> };
  groups: Partial<Record<Group, { ns: number; may_be: (Cause | 'kernel')[] }>>;
  unknown_ns: number;
  /** How much of all this may still change while the run lasts, and of which cause. 0 once it is over. */
  provisional_ns: number;
  provisional: Partial<Record<Cause, number>>;
  /** |∪ [GPU_START, GPU_END)| over last end − first start: what the field's log calls GPU efficiency. Ours: picked_up to put_down. Null: no such span. */
  legacy_efficiency: number | null;
  /** The same with the plain sum of spans: above 1 where spans overlap. */
  legacy_sum: number | null;
  /** Worker time by state, summed over the device's workers. */
  worker_ns: Record<WorkerStateName, number>;
  workers: number;
  /** Kernel time of partitions that failed, were cancelled or interrupted, or whose proof was. */
  wasted_kernel_ns: number;
  /** The steady stretch that s/proof is measured over, divided by its proofs; null where there are too few. */
  steady: { from_ns: number; to_ns: number; proofs: number; per_proof: IdleParts } | null;
}

/** A stage's slowness: its duration over the run's 10th percentile for the same circuit, against concurrent syntheses. */
export interface StageStretch {
  stage: 'synthesis' | 'prepare' | 'device' | 'finish';
  circuit: string;
  n: number;
  p10_ns: number;
  p50_ns: number;
  p90_ns: number;
  /** Mean of duration / p10. */
  stretch: number;
  /** Mean stretch by how many syntheses ran beside it (time average, rounded). */
  by_syntheses: { syntheses: number; n: number; stretch: number }[];
}

export interface IdleReport {
  schema: number;
  run: string;
  state: RunState;
  engine: string;
  scheduler: Scheduler | null;
  wall_ns: number;
  s_per_proof: number | null;
  devices: DeviceIdle[];
  stretch: StageStretch[];
  /** True where events are missing: totals are partial. */
  partial: boolean;
  /** Words about what is defined but unusual here: negative spans, unmatched ends, a clock break. */
  notes: string[];
}

export interface GapEnd {
  proof: string;
  attempt: number;
  partition: number;
}
export interface Gap {
  device: string;
  start_ns: number;
  length_ns: number;
  /** The largest part, ties by the table's order. */
  cause: Cause | Group;
  parts: Partial<Record<Cause | Group, number>>;
  before: GapEnd | null;
  after: GapEnd | null;
}
export interface GapsReport {
  schema: number;
  run: string;
  min_ns: number;
  /** Longest first. */
  gaps: Gap[];
  /** Over the gaps listed. */
  by_cause: Partial<Record<Cause | Group, { ns: number; gaps: number }>>;
  /** Parts of the gaps that end with a kernel of that proof. */
  by_proof: { proof: string; ns: number; parts: Partial<Record<Cause | Group, number>> }[];
}
