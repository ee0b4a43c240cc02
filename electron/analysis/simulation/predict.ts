/**
 * The what-if: many simulated runs that differ in what was drawn, their middle and spread, and the same of the run's own scheduler beside
 * what was measured. Windows and causes come from the analysis that real runs go through, of the round in the middle.
 */
import type { DeviceIdle } from '../../contract/idle.ts';
import { sameScheduler, type Scheduler } from '../../contract/scheduler.ts';
import { NS_PER_S } from '../../contract/units.ts';
import type { Range, SimulationReport } from '../../contract/what-if.ts';
import { computePercentile } from '../statistics.ts';
import { computeSecondsPerProof } from '../throughput.ts';
import { BOUND_TERMS, computeBound } from './bound.ts';
import { simulateRun, type SimulatedEnds } from './engine.ts';
import { NO_OVERHEADS, type Overheads, type SimulationSetup } from './model.ts';
import { analyseSimulated } from './outcome.ts';
import { drawProofs, type Sampler } from './sample.ts';

export interface Question {
  sampler: Sampler;
  scheduler: Scheduler;
  devices: readonly { device: string; kind: string }[];
  backend: string;
  overheads?: Overheads;
  memory: SimulationSetup['memory'];
  /** Proofs of a round; null: enough to say something. */
  proofs: number;
  rounds: number;
  seed: number;
  /** False where the log has no kernel lines: lock and kernel are then one. */
  knowsKernels: boolean;
}

export interface Prediction {
  sPerProof: Range | null;
  latencyS: Range | null;
  devices: DeviceIdle[];
  bound: SimulationReport['bound'];
  mostSyntheses: number;
}

/** Errors: `budget_too_small` where the scheduler could never start a proof. */
export function predict(question: Question): Prediction {
  const rounds: { round: number; ends: SimulatedEnds; sPerProof: number | null }[] = [];
  for (let round = 0; round < question.rounds; round++) {
    const ends = simulateRun(setupOf(question, round));
    rounds.push({ round, ends, sPerProof: computeSecondsPerProof(ends.endsNs, question.scheduler.proofs_in_flight).value });
  }
  const inOrder = [...rounds].sort((a, b) => (a.sPerProof ?? a.ends.makespanNs) - (b.sPerProof ?? b.ends.makespanNs) || a.round - b.round);
  const middle = inOrder[(inOrder.length - 1) >> 1] as (typeof inOrder)[number];
  const setup = setupOf(question, middle.round);
  const { boundNs, term } = computeBound(setup);
  const { makespanNs } = middle.ends;
  return {
    sPerProof: rangeOf(rounds.flatMap(({ sPerProof }) => sPerProof ?? [])),
    latencyS: rangeOf(rounds.map(({ ends }) => (computePercentile(ends.latenciesNs, 0.5) ?? 0) / NS_PER_S)),
    devices: analyseSimulated(setup, question),
    bound: {
      makespan_s: makespanNs / NS_PER_S,
      bound_s: boundNs / NS_PER_S,
      ratio: makespanNs > 0 ? boundNs / makespanNs : 1,
      term: BOUND_TERMS[term],
    },
    mostSyntheses: Math.max(...rounds.map(({ ends }) => ends.mostSyntheses)),
  };
}

export function setupOf(question: Question, round: number): SimulationSetup {
  return {
    scheduler: question.scheduler,
    devices: question.devices.map(({ device }) => device),
    proofs: drawProofs(question.sampler, question.proofs, question.seed, round),
    contention: question.sampler.contention,
    overheads: question.overheads ?? NO_OVERHEADS,
    memory: question.memory,
  };
}

/** The run's own scheduler, by the same simulation, beside what was measured. */
export function predictBase(
  question: Question,
  own: Scheduler,
  measured: number | null,
  other: Prediction,
): NonNullable<SimulationReport['base']> {
  const isSame = sameScheduler(own, question.scheduler);
  const { sPerProof, devices } = isSame ? other : predict({ ...question, scheduler: own });
  return {
    scheduler: own,
    predicted_s_per_proof: sPerProof,
    measured_s_per_proof: measured,
    error_ratio: sPerProof === null || measured === null || measured === 0 ? null : sPerProof.value / measured - 1,
    devices,
  };
}

/** Median, 5th and 95th percentile. */
function rangeOf(values: readonly number[]): Range | null {
  const at = (share: number) => computePercentile(values, share);
  const [low, value, high] = [at(0.05), at(0.5), at(0.95)];
  return low === null || value === null || high === null ? null : { value, low, high };
}
