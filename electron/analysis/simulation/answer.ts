/** One `simulate` call, answered: which times, which schedulers, how many proofs, and in words what the answer rests on. */
import type { CheckedInput } from '../../contract/api.ts';
import { InterlockError } from '../../contract/errors.ts';
import { schedulerLabel, type MachineFacts, type Scheduler } from '../../contract/scheduler.ts';
import { formatBytes, NS_PER_MS, NS_PER_S, type Nanoseconds } from '../../contract/units.ts';
import { SIMULATION_SCHEMA, type SimulationReport } from '../../contract/what-if.ts';
import { computeMedian, computePercentile } from '../statistics.ts';
import { changeScheduler, foundScheduler, tableScheduler, type SeenInLog } from './change.ts';
import { fitContention } from './contention.ts';
import { SIMULATED_STAGES, type Contention, type SimulationSetup } from './model.ts';
import { predict, predictBase, type Prediction, type Question } from './predict.ts';
import { sampleRun, sampleTable, type StageTable } from './sample.ts';
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

/** Fewer than this many partitions are hardly a distribution. */
const FEW_PARTITIONS = 20;
const TABLE_PROOFS = 20;
/** Halves of a run that are further apart than this are told of. */
const DRIFT = 0.2;

/**
 * Errors: `usage` where the run has no partition that went through all stages, or its log does not tell the scheduler;
 * `budget_too_small` where the scheduler could never start a proof.
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
  const question: Question = {
    sampler,
    scheduler,
    devices: measured.devices,
    backend: measured.backend,
    overheads: measured.overheads,
    memory: memoryOf(measured, scheduler),
    proofs: input.proofs ?? Math.max(sampler.templates.length, enoughFor(own), enoughFor(scheduler)),
    rounds: input.rounds,
    seed: input.seed,
    knowsKernels: !measured.isByDurations,
  };
  const prediction = predict(question);
  const base = predictBase({ ...question, memory: memoryOf(measured, own) }, own, source.sPerProof, prediction);
  const seen = seenOf(measured);
  return {
    ...reportOf(question, prediction, input),
    run: source.run,
    base,
    contention: SIMULATED_STAGES.map((stage) => ({
      stage,
      per_synthesis: contention[stage],
      seen_up_to: measured.mostSyntheses,
      extrapolated: prediction.mostSyntheses > measured.mostSyntheses || prediction.mostSyntheses < seen.least,
    })),
    rests_on: restsOn(source, question, own, contention, seen, replays),
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
  const prediction = predict(question);
  const lengths = [table.synthesis, table.prepare, table.device, table.finish].map((list) => list.length);
  return {
    ...reportOf(question, prediction, input),
    run: null,
    base: null,
    contention: SIMULATED_STAGES.map((stage) => ({ stage, per_synthesis: sampler.contention[stage], seen_up_to: 0, extrapolated: true })),
    rests_on: [
      lengths.every((length) => length === lengths[0])
        ? `A table of ${lengths[0]} partitions, drawn whole.`
        : `A table of stage times (${lengths.join(', ')} of synthesis, prepare, device, finish), drawn one by one.`,
      'The device stage is taken as one: a table does not say how much of it kernels run.',
      table.contention === undefined ? 'Stages do not slow each other down: the table says nothing about it.' : 'Contention as given.',
      `What the flags do not say is this machine’s default: ${scheduler.synthesis_workers} synthesis workers, ${scheduler.partitions_in_flight} partitions and ${scheduler.proofs_in_flight} proofs in flight.`, // prettier-ignore
      'Memory is not looked at: a table does not say what a partition takes.',
      'All proofs wait from the beginning.',
    ],
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

function restsOn(
  source: SimulatedSource,
  question: Question,
  own: Scheduler,
  contention: Contention,
  seen: Seen,
  replays: boolean,
): string[] {
  const { measured } = source;
  const n = measured.partitions.length;
  const middle = (values: readonly number[]) => durationText(computeMedian(values) ?? 0);
  const stages = SIMULATED_STAGES.map((stage) => `${stage} ${middle(measured.partitions.map(({ ns }) => ns[stage]))}`);
  const circuits = [...new Set(measured.partitions.map(({ circuit }) => circuit))];
  const lines = [`${n} partitions of ${source.run} (${circuits.join(', ')}), drawn whole; medians: ${stages.join(', ')}.`];
  if (n < FEW_PARTITIONS) lines.push(`That is few: the range tells what these ${n} allow, not what the machine may do.`);
  lines.push(...driftOf(measured));
  if (measured.incomplete > 0) lines.push(`${measured.incomplete} partitions without all of their times are left out.`);
  const { turnaroundNs, handoffNs, wakeNs } = measured.overheads;
  lines.push(
    `Between stages, medians: a worker’s turn-around ${middle([turnaroundNs])}, its waking ${middle([wakeNs])}, the lock’s handover ${middle([handoffNs])}.`, // prettier-ignore
  );
  const stretched = SIMULATED_STAGES.filter((stage) => contention[stage] > 0);
  if (!seen.varied) {
    lines.push('Contention could not be seen: the number of syntheses at once did not vary. Stages are taken as they were measured, whatever runs beside them.'); // prettier-ignore
  } else if (stretched.length === 0) {
    lines.push('No stage was seen to grow with the number of syntheses at once.');
  }
  if (measured.isByDurations) {
    lines.push('The log has no kernel lines: how much of the lock kernels fill is not known.');
    lines.push('The daemon’s worker goes on while a finalizer ends its partition; that tail holds no worker here either.');
    lines.push('Here the lock is granted in the order of asking; the daemon’s is not.');
  }
  if (source.scheduler === null) {
    lines.push(`The log does not name a scheduler; from its settings and what was seen it is taken as ${describe(own)}.`);
  }
  lines.push(
    replays ? 'Proofs arrive when they arrived.' : measured.isByDurations ? `Proofs: ${own.proofs_in_flight} at a time, as many as were seen.` : 'All proofs wait from the beginning.', // prettier-ignore
  );
  lines.push(
    question.memory === null
      ? 'Memory is not looked at: the run does not say what a partition takes.'
      : `Memory: ${formatBytes(question.memory.partitionBytes)} a partition${measured.paramsBytes === null ? '; what the parameters take is not recorded in this run' : `, parameters ${formatBytes(measured.paramsBytes)}`}, budget ${formatBytes(question.scheduler.memory_budget_bytes)}.`, // prettier-ignore
  );
  const { scheduler } = question;
  if (scheduler.synthesis_threads !== own.synthesis_threads || scheduler.device_threads !== own.device_threads) {
    lines.push('Threads are not modelled: stages are taken to last as long with another number of them.');
  }
  lines.push('Parameters are loaded, nothing fails, and no process ends.');
  return lines;
}

/** A stage that took long in one half of the run and not in the other: what is drawn from both is neither. */
function driftOf({ partitions }: MeasuredRun): string[] {
  if (partitions.length < 8) return [];
  const middle = partitions.length >> 1;
  return SIMULATED_STAGES.flatMap((stage) => {
    const half = (from: number, to: number) => partitions.slice(from, to).map(({ ns }) => ns[stage]);
    const halves = [half(0, middle), half(middle, partitions.length)] as const;
    const at = (share: number) => halves.map((values) => computePercentile(values, share) ?? 0) as [number, number];
    const [low, [first, second], high] = [at(0.25), at(0.5), at(0.75)];
    const isApart = low[0] > high[1] || low[1] > high[0];
    const isLarge = Math.abs(first - second) > DRIFT * Math.min(first, second) && Math.max(first, second) > NS_PER_MS;
    return isApart && isLarge
      ? [`The ${stage} stage took ${durationText(first)} in the first half of the run and ${durationText(second)} in the second: the machine changed under the run, and what is drawn from both is neither.`] // prettier-ignore
      : [];
  });
}

function describe(scheduler: Scheduler): string {
  const { gpu_workers, lock_scope, synthesis_workers, partitions_in_flight } = scheduler;
  return `${schedulerLabel(scheduler)}: ${gpu_workers} GPU workers, lock scope ${lock_scope}, ${synthesis_workers} synthesis workers, ${partitions_in_flight} partitions in flight`;
}

/** Three figures: `29.4 s`, `4.63 ms`, `0.02 ms`. */
function durationText(ns: Nanoseconds): string {
  if (ns >= 100 * NS_PER_MS) return `${Number((ns / NS_PER_S).toPrecision(3))} s`;
  return `${ns >= NS_PER_MS ? Number((ns / NS_PER_MS).toPrecision(3)) : Number((ns / NS_PER_MS).toFixed(2))} ms`;
}
