/** One `simulate` call, answered: which times, which schedulers, how many proofs, and in words what the answer rests on. */
import type { CheckedInput } from '../../contract/api.ts';
import { InterlockError } from '../../contract/errors.ts';
import type { MachineFacts, Scheduler } from '../../contract/scheduler.ts';
import { SIMULATION_SCHEMA, type SimulationReport } from '../../contract/what-if.ts';
import { computePercentile } from '../statistics.ts';
import { changeScheduler, foundScheduler, tableScheduler, type SeenInLog } from './change.ts';
import { fitContention } from './contention.ts';
import { SIMULATED_STAGES, type SimulationSetup } from './model.ts';
import { predict, predictBase, type Prediction, type Question } from './predict.ts';
import { describeRunGround, describeTableGround, sharesCores } from './rests-on.ts';
import { sampleRun, sampleTable, type Sampler, type StageTable } from './sample.ts';
import type { MeasuredRun } from './stages.ts';

/** A stored run, as the simulation needs it. */
export interface SimulatedSource {
  run: string;
  measured: MeasuredRun;
  scheduler: Scheduler | null;
  found: Record<string, string>;
  sPerProof: number | null;
  /** Most proofs in work at once. */
  mostProofs: number;
}

type Input = Omit<CheckedInput<'simulate'>, 'run' | 'stages'>;

const TABLE_PROOFS = 20;
/** Of a long run no more than this many proofs are simulated unless more are asked for. */
const USUAL_PROOFS = 100;
/** Partitions of all rounds: some ten seconds of the reading thread, which answers nobody meanwhile. */
const MOST_PARTITIONS = 400_000;

/**
 * Errors: `usage` where the run has no partition that went through all stages, or its log does not tell the scheduler;
 * `budget_too_small` where the scheduler could never start a proof; `too_large`.
 */
export function answerRun(source: SimulatedSource, input: Input): SimulationReport {
  const { measured } = source;
  if (measured.partitions.length === 0) {
    throw new InterlockError('usage', `No partition of ${source.run} has gone through all stages with its times recorded, so there is nothing to simulate from.`); // prettier-ignore
  }
  const own = source.scheduler ?? foundScheduler(source.found, seenInLog(source), input.change);
  const scheduler = changeScheduler(own, input.preset, input.change);
  const contention = fitContention(measured.partitions);
  const replays = input.proofs === undefined && !measured.isByDurations;
  const sampler = sampleRun(measured, contention, replays);
  if (sampler.templates.length === 0) throw new InterlockError('usage', `No proof of ${source.run} tells how many partitions it has.`);
  const ownMemory = memoryOf(measured, own);
  // Where by its own record the run could not have begun, the record is not what the prover went by.
  const isMemoryKnown = ownMemory !== null && ownMemory.totalBytes >= ownMemory.partitionBytes * leastPermits(own, sampler);
  const question: Question = {
    sampler,
    scheduler,
    devices: measured.devices,
    backend: measured.backend,
    overheads: measured.overheads,
    memory: isMemoryKnown ? memoryOf(measured, scheduler) : null,
    proofs: input.proofs ?? Math.max(Math.min(sampler.templates.length, USUAL_PROOFS), enoughFor(own), enoughFor(scheduler)),
    rounds: input.rounds,
    seed: input.seed,
    knowsKernels: !measured.isByDurations,
  };
  refuseTooMuch(question);
  const prediction = predict(question);
  const base = predictBase({ ...question, memory: isMemoryKnown ? ownMemory : null }, own, source.sPerProof, prediction);
  const seen = seenOf(measured);
  return {
    ...reportOf(question, prediction, input),
    run: source.run,
    base,
    shares_cores: sharesCores(measured),
    contention: SIMULATED_STAGES.map((stage) => ({
      stage,
      per_synthesis: contention[stage],
      seen_up_to: measured.mostSyntheses,
      extrapolated: prediction.mostSyntheses > measured.mostSyntheses || prediction.mostSyntheses < seen.least,
    })),
    rests_on: describeRunGround({
      run: source.run,
      measured,
      contention,
      own,
      isOwnRecorded: source.scheduler !== null,
      scheduler,
      memory: question.memory,
      hasVaried: seen.varied,
      replaysArrivals: replays,
    }),
  };
}

/** The same for a table of stage times. */
export function answerTable(table: StageTable, input: Input, machine: MachineFacts): SimulationReport {
  const scheduler = tableScheduler(input.preset, input.change, machine);
  const sampler = sampleTable(table);
  const question: Question = {
    sampler,
    scheduler,
    devices: [{ device: 'table0', kind: 'emulated' }],
    backend: 'emulated',
    memory: null,
    proofs: input.proofs ?? Math.max(TABLE_PROOFS, enoughFor(scheduler)),
    rounds: input.rounds,
    seed: input.seed,
    knowsKernels: false,
  };
  refuseTooMuch(question);
  const prediction = predict(question);
  return {
    ...reportOf(question, prediction, input),
    run: null,
    base: null,
    shares_cores: false,
    contention: SIMULATED_STAGES.map((stage) => ({ stage, per_synthesis: sampler.contention[stage], seen_up_to: 0, extrapolated: true })),
    rests_on: describeTableGround(table, scheduler),
  };
}

function reportOf(question: Question, { sPerProof, latencyS, devices, bound }: Prediction, input: Input) {
  return {
    schema: SIMULATION_SCHEMA,
    seed: input.seed,
    rounds: question.rounds,
    proofs: question.proofs,
    scheduler: question.scheduler,
    s_per_proof: sPerProof,
    latency_s: latencyS,
    devices,
    bound,
  };
}

function refuseTooMuch({ sampler, proofs, rounds }: Question): void {
  const most = Math.max(...sampler.templates.map(({ partitions }) => partitions));
  if (most * proofs * rounds <= MOST_PARTITIONS) return;
  const words = `${rounds} rounds of ${proofs} proofs of ${most} partitions`;
  throw new InterlockError('too_large', `${words} are more than ${MOST_PARTITIONS} simulated partitions; ask for fewer proofs or rounds.`);
}

function seenInLog({ measured, mostProofs }: SimulatedSource): SeenInLog {
  return { proofs: mostProofs, syntheses: measured.mostSyntheses, locksLessThanJob: measured.isByDurations };
}

/** Below 2j + 1 proofs there is no s/proof. */
function enoughFor({ proofs_in_flight }: Scheduler): number {
  return 2 * proofs_in_flight + 1;
}

function memoryOf({ permitBytes, paramsBytes, isByDurations }: MeasuredRun, scheduler: Scheduler): SimulationSetup['memory'] {
  if (permitBytes === null || permitBytes === 0 || isByDurations) return null;
  return { partitionBytes: permitBytes, totalBytes: Math.max(0, scheduler.memory_budget_bytes - (paramsBytes ?? 0)) };
}

/** Permits that a scheduler needs at once to begin with the largest proof. */
function leastPermits({ dispatch }: Scheduler, { templates }: Sampler): number {
  return dispatch === 'batch' ? Math.max(...templates.map(({ partitions }) => partitions)) : 1;
}

interface Seen {
  /** Syntheses at once, as synthesis itself saw them: 10th percentile, rounded. */
  least: number;
  varied: boolean;
}

function seenOf(measured: MeasuredRun): Seen {
  const beside = measured.partitions.map((partition) => partition.beside.synthesis + 1);
  const [low, high] = [computePercentile(beside, 0.1) ?? 0, computePercentile(beside, 0.9) ?? 0];
  return { least: Math.floor(low), varied: high - low >= 0.5 };
}
