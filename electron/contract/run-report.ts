/**
 * What a run amounted to: the shape of `interlock show RUN --json` and of the Run screens. `schema` is raised with every change.
 * Instants are ns since the run's start; a span that never ended has `end_ns: null` and is in no sum.
 */
import type { Scheduler, Backend } from './scheduler.ts';

export const RUN_REPORT_SCHEMA = 2;

export type RunState = 'running' | 'finished' | 'failed' | 'interrupted';
/** `waiting` and `running` are the states of a proof that has no outcome yet. */
export type ProofOutcome = 'valid' | 'invalid' | 'failed' | 'interrupted';
export type ProofState = 'waiting' | 'running' | 'withdrawn' | ProofOutcome;

export interface StageSpan {
  start_ns: number;
  end_ns: number | null;
}

export const STAGES = ['permit', 'synthesis', 'queue', 'job', 'lock_wait', 'prepare', 'lock', 'device', 'finish'] as const;
export type Stage = (typeof STAGES)[number];

export interface PartitionReport {
  partition: number;
  attempt: number;
  outcome: 'valid' | 'invalid' | 'failed' | 'cancelled' | null;
  device: string | null;
  worker: number | null;
  stages: Partial<Record<Stage, StageSpan>>;
  /** Every kernel of this partition, in order. */
  kernels: (StageSpan & { kernel: string })[];
}

export interface ProofReport {
  id: string;
  attempt: number;
  /** The engine's own name of it, where that is another one. */
  name: string | null;
  circuit: string;
  outcome: ProofOutcome | null;
  /** Accepted → durable; null until it ended. */
  latency_ns: number | null;
  sha256: string | null;
  path: string | null;
  error: { code: string; message: string } | null;
  partitions: PartitionReport[];
}

/**
 * The three windows of a device, and copies: union over workers and streams, and the plain sums beside them. Null: not recorded (an
 * imported log has no kernel lines, and lock windows only where they can be placed).
 */
export interface DeviceWindows {
  device: string;
  kind: string;
  wall_ns: number;
  job_span_ns: number | null;
  lock_held_ns: number | null;
  kernel_ns: number | null;
  copy_ns: number | null;
  job_span_sum_ns: number | null;
  lock_held_sum_ns: number | null;
  kernel_sum_ns: number | null;
  copy_sum_ns: number | null;
}

/** Steady seconds per proof; `value` null with `too_few_below` set while there are fewer proofs than it takes to say. */
export interface SecondsPerProof {
  value: number | null;
  n: number;
  /** 95 % interval of the mean of the completion intervals, where n allows. */
  low: number | null;
  high: number | null;
  /** Below this number of valid proofs nothing is said (N < 2j + 1). */
  too_few_below: number;
}

export interface RunReport {
  schema: number;
  run: string;
  uid: string;
  state: RunState;
  /** Why it ended, or null while it runs. */
  ended_by: string | null;
  engine: string;
  backend: Backend;
  emulate: string | null;
  /** Null where an imported log does not tell all of it. */
  scheduler: Scheduler | null;
  /** Settings as another engine's log has them; empty for our own runs. */
  found: Record<string, string>;
  /** Where it came from: null for a run of this host, else the imported file's name. */
  imported_from: string | null;
  started_wall_ns: string;
  wall_ns: number;
  s_per_proof: number | null;
  s_per_proof_detail: SecondsPerProof;
  latency_s: number | null;
  devices: DeviceWindows[];
  proofs: ProofReport[];
  events: { count: number; lost: number; unparsed: number };
  peak_rss_bytes: number | null;
  processes: { process: string; started_wall_ns: string; ended: string | null; exit: number | null }[];
}

export interface RunSummary {
  run: string;
  state: RunState;
  ended_by: string | null;
  engine: string;
  backend: Backend;
  scheduler: Scheduler | null;
  imported_from: string | null;
  started_wall_ns: string;
  wall_ns: number;
  proofs: { valid: number; invalid: number; failed: number; interrupted: number; running: number };
  s_per_proof: number | null;
  /** Union windows over wall, of the busiest device; null where nothing ran. */
  kernel_ratio: number | null;
  lock_held_ratio: number | null;
  job_span_ratio: number | null;
  lost: number;
  unparsed: number;
}
