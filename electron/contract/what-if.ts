/** What a change would bring: simulation, comparison, experiment. */
import type { DeviceIdle, Cause, Group } from './idle.ts';
import type { SecondsPerProof } from './run-report.ts';
import type { Backend, Scheduler } from './scheduler.ts';

export const SIMULATION_SCHEMA = 1;
export const COMPARISON_SCHEMA = 1;
export const EXPERIMENT_SCHEMA = 1;

export interface Range {
  value: number;
  low: number;
  high: number;
}

export interface SimulationReport {
  schema: number;
  /** The run whose stage durations were used; null with a table of stage times. */
  run: string | null;
  seed: number;
  /** Simulated runs of `proofs` proofs each; the range is their 5th to 95th percentile. */
  rounds: number;
  proofs: number;
  scheduler: Scheduler;
  /** What the same simulation says of the run's own scheduler, and what was measured. */
  base: {
    scheduler: Scheduler;
    predicted_s_per_proof: Range | null;
    measured_s_per_proof: number | null;
    /** predicted / measured − 1. */
    error_ratio: number | null;
    /** Of the simulated round in the middle: what `devices` below is to be compared with. */
    devices: DeviceIdle[];
  } | null;
  s_per_proof: Range | null;
  latency_s: Range | null;
  /** Of the round in the middle; windows and causes as in `idle`. */
  devices: DeviceIdle[];
  /** FIELD's lower bound of the makespan, its binding term, and bound / makespan. */
  bound: { makespan_s: number; bound_s: number; ratio: number; term: string };
  /** How contention was modelled: the stretch of each stage per further synthesis at once, and over which range it was seen. */
  contention: { stage: string; per_synthesis: number; seen_up_to: number; extrapolated: boolean }[];
  /** The device is the CPU itself, which works on the same cores as the workers' CPU stages: what they take from each other is not modelled. */
  shares_cores: boolean;
  /** What the answer rests on: partitions, circuits, what was guessed. */
  rests_on: string[];
}

export interface ComparedRun {
  run: string;
  engine: string;
  backend: Backend;
  scheduler: Scheduler | null;
  n: number;
  s_per_proof: SecondsPerProof;
  /** Per proof of the steady stretch, over all devices, ns. */
  per_proof: {
    kernel_ns: number | null;
    idle_ns: Partial<Record<Cause, number>>;
    groups: Partial<Record<Group, number>>;
    unknown_ns: number;
  } | null;
}

export interface ComparisonReport {
  schema: number;
  runs: ComparedRun[];
  /** Only what differs; values in the order of `runs`. */
  settings: { key: string; values: (string | number | boolean | null)[] }[];
  /** Against the first run. */
  deltas: {
    run: string;
    /** Seconds per proof of this run minus the first's, 95 % interval (Welch); null where there are too few proofs. */
    s_per_proof: Range | null;
    /** This run's seconds per proof over the first's: below 1 is faster. */
    ratio: number | null;
    n: [number, number];
    /** Per proof, largest change first. A cause that either log cannot tell is left out. */
    causes: { cause: Cause | Group | 'kernel' | 'unknown'; delta_ns: number }[];
    /** `not_comparable`: a proof of one is not the work of a proof of the other; the difference is given all the same. */
    verdict: 'faster' | 'slower' | 'no_difference_seen' | 'too_few' | 'not_comparable';
  }[];
  /** Why they may not be comparable: backend, circuit, device, engine, machine, partial events. */
  warnings: string[];
}

export interface ExperimentReport {
  schema: number;
  experiment: string;
  state: 'running' | 'done' | 'stopped' | 'failed';
  a: Scheduler;
  b: Scheduler;
  rounds: number;
  proofs_per_block: number;
  warm_up_proofs: number;
  /** In the order in which they ran; which of the two came first alternates. `proofs`: how many are in `s_per_proof`. */
  blocks: { round: number; side: 'a' | 'b'; run: string | null; s_per_proof: number | null; proofs: number; warm_up: boolean }[];
  /** Mean of b − a over the rounds, seconds a proof, 95 % interval of the paired differences. */
  difference_s: Range | null;
  /** Mean of b over mean of a: below 1, b is faster. */
  ratio: number | null;
  verdict: 'b_faster' | 'a_faster' | 'no_difference_seen' | 'too_few';
  message: string | null;
}
