/**
 * What the simulation works on: proofs whose partitions have stage times, a scheduler, devices, and how stages slow each other down.
 * All times are integer nanoseconds of virtual time; 0 is the run's start.
 */
import type { Scheduler } from '../../contract/scheduler.ts';
import type { Nanoseconds } from '../../contract/units.ts';

export const SIMULATED_STAGES = ['synthesis', 'prepare', 'device', 'finish'] as const;
export type SimulatedStage = (typeof SIMULATED_STAGES)[number];

/** Stage times of one partition with no synthesis beside it (its own excepted). */
export interface StageTimes {
  synthesisNs: Nanoseconds;
  prepareNs: Nanoseconds;
  deviceNs: Nanoseconds;
  /** How much of the device stage a kernel runs; the rest is spent in the lock without one. */
  kernelNs: Nanoseconds;
  finishNs: Nanoseconds;
  /** From being put down to counting: the check of the partition's proof. One at a time. */
  verifyNs: Nanoseconds;
}

export interface SimulatedProof {
  circuit: string;
  constraints: number;
  /** 1 to 4; 4 goes first. */
  priority: number;
  /** For the order `deadline`: smaller is more urgent; null comes last. */
  deadline: number | null;
  submittedNs: Nanoseconds;
  partitions: readonly StageTimes[];
}

/** Stretch of a stage per (further) synthesis at once: it lasts `time × (1 + contention × n)`. */
export type Contention = Record<SimulatedStage, number>;
export const NO_CONTENTION: Contention = { synthesis: 0, prepare: 0, device: 0, finish: 0 };

/** What passes between stages, of which no stage knows. */
export interface Overheads {
  /** A worker puts down → it picks up what had been queued before. */
  turnaroundNs: Nanoseconds;
  /** Queued → picked up by a worker that was free. */
  wakeNs: Nanoseconds;
  /** The lock is released → granted to a worker that had been waiting. */
  handoffNs: Nanoseconds;
  /** The last partition counts → the proof is durable. */
  closeNs: Nanoseconds;
}
export const NO_OVERHEADS: Overheads = { turnaroundNs: 0, wakeNs: 0, handoffNs: 0, closeNs: 0 };

export interface SimulationSetup {
  scheduler: Scheduler;
  devices: readonly string[];
  proofs: readonly SimulatedProof[];
  contention: Contention;
  overheads: Overheads;
  /** Memory of a permit and of all permits together; null where it is not known: then only their count limits. */
  memory: { partitionBytes: number; totalBytes: number } | null;
}

/** How many proofs the host leaves with the prover at most. */
export function feedWindow(proofsInFlight: number): number {
  return Math.max(2 * proofsInFlight, 4);
}
