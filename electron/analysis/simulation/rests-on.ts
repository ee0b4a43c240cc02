/** What a simulation's answer rests on, in words: which times, what was guessed, what was not looked at. */
import { schedulerLabel, type Scheduler } from '../../contract/scheduler.ts';
import { formatBytes, NS_PER_MS, NS_PER_S, type Nanoseconds } from '../../contract/units.ts';
import { computeMedian, computePercentile } from '../statistics.ts';
import { SIMULATED_STAGES, type Contention, type SimulatedStage, type SimulationSetup } from './model.ts';
import type { StageTable } from './sample.ts';
import type { MeasuredPartition, MeasuredRun } from './stages.ts';

/** Fewer partitions than this are hardly a distribution. */
const FEW_PARTITIONS = 20;
/** Halves of a run are compared from this many partitions on, and told of where they are further apart than this. */
const LEAST_FOR_HALVES = 8;
const DRIFT = 0.2;

export interface RunGround {
  run: string;
  measured: MeasuredRun;
  contention: Contention;
  /** The run's own scheduler. */
  own: Scheduler;
  isOwnRecorded: boolean;
  scheduler: Scheduler;
  memory: SimulationSetup['memory'];
  /** Whether the number of syntheses at once varied enough to say anything about contention. */
  hasVaried: boolean;
  replaysArrivals: boolean;
}

export function describeRunGround(ground: RunGround): string[] {
  const { measured, contention, own, scheduler } = ground;
  const n = measured.partitions.length;
  return [
    `${n} partitions of ${ground.run}, drawn whole.`,
    ...[...Map.groupBy(measured.partitions, ({ circuit }) => circuit)].flatMap(([circuit, partitions]) =>
      describeCircuit(circuit, partitions),
    ),
    ...sayIf(n < FEW_PARTITIONS, `${n} partitions are few: the range tells what these allow, not what the machine may do.`),
    ...sayIf(measured.incomplete > 0, `${measured.incomplete} partitions without all of their times are left out.`),
    ...sayIf(
      sharesCores(measured),
      'The device is the CPU: kernels and the CPU stages of other workers run on the same cores here, and what they take from each other is not modelled. A gain is one at best.',
    ),
    describePauses(measured),
    ...describeContention(contention, ground.hasVaried),
    ...(measured.isByDurations
      ? [
          'The log has no kernel lines: how much of the lock kernels fill is not known.',
          'The daemon’s worker goes on while a finalizer ends its partition; that tail holds no worker here either.',
          'Here the lock is granted in the order of asking; the daemon’s is not.',
        ]
      : []),
    ...sayIf(
      !ground.isOwnRecorded,
      `The log does not name a scheduler; from its settings and what was seen it is taken as ${describeScheduler(own)}.`,
    ),
    describeArrivals(ground),
    describeMemory(ground),
    ...sayIf(
      scheduler.synthesis_threads !== own.synthesis_threads || scheduler.device_threads !== own.device_threads,
      'Threads are not modelled: stages are taken to last as long with another number of them.',
    ),
    'Parameters are loaded, nothing fails, and no process ends.',
  ];
}

export function describeTableGround(table: StageTable, scheduler: Scheduler): string[] {
  const lengths = [table.synthesis, table.prepare, table.device, table.finish].map((list) => list.length);
  const areRows = lengths.every((length) => length === lengths[0]);
  return [
    areRows
      ? `A table of ${lengths[0]} partitions, drawn whole.`
      : `A table of stage times (${lengths.join(', ')} of synthesis, prepare, device, finish), drawn one by one.`,
    'The device stage is taken as one: a table does not say how much of it kernels run.',
    table.contention === undefined ? 'Stages do not slow each other down: the table says nothing about it.' : 'Contention as given.',
    `What the flags do not say is this machine’s default; in all ${describeScheduler(scheduler)}, proofs_in_flight ${scheduler.proofs_in_flight}.`,
    'Memory is not looked at: a table does not say what a partition takes.',
    'All proofs wait from the beginning.',
  ];
}

/** Whether device and CPU stages have the same cores. */
export function sharesCores({ devices }: Pick<MeasuredRun, 'devices'>): boolean {
  return devices.some(({ kind }) => kind === 'cpu');
}

function sayIf(holds: boolean, text: string): string[] {
  return holds ? [text] : [];
}

function describeCircuit(circuit: string, partitions: readonly MeasuredPartition[]): string[] {
  const of = (stage: SimulatedStage) => durationText(computeMedian(partitions.map(({ ns }) => ns[stage])) ?? 0);
  const medians = SIMULATED_STAGES.map((stage) => `${stage} ${of(stage)}`).join(', ');
  return [
    `${circuit}, ${partitions.length} ${partitions.length === 1 ? 'partition' : 'partitions'}, medians: ${medians}.`,
    ...SIMULATED_STAGES.flatMap((stage) => describeDrift(partitions, stage)),
  ];
}

/** A stage that took long in one half of the run and not in the other: what is drawn from both is neither. */
function describeDrift(partitions: readonly MeasuredPartition[], stage: SimulatedStage): string[] {
  if (partitions.length < LEAST_FOR_HALVES) return [];
  const middle = partitions.length >> 1;
  const halves = [partitions.slice(0, middle), partitions.slice(middle)].map((half) => half.map(({ ns }) => ns[stage]));
  const at = (share: number) => halves.map((values) => computePercentile(values, share) ?? 0) as [number, number];
  const [low, [first, second], high] = [at(0.25), at(0.5), at(0.75)];
  const isApart = low[0] > high[1] || low[1] > high[0];
  const isLarge = Math.abs(first - second) > DRIFT * Math.min(first, second) && Math.max(first, second) > NS_PER_MS;
  if (!isApart || !isLarge) return [];
  return [`The ${stage} stage took ${durationText(first)} in the first half of the run and ${durationText(second)} in the second: the machine changed under the run, and what is drawn from both is neither.`]; // prettier-ignore
}

function describePauses({ overheads, isByDurations }: MeasuredRun): string {
  const turnaround = `Between stages, medians: a worker’s turn-around ${durationText(overheads.turnaroundNs)}`;
  if (isByDurations) return `${turnaround}; its waking and the lock’s handover are not recorded and taken as nothing.`;
  return `${turnaround}, its waking ${durationText(overheads.wakeNs)}, the lock’s handover ${durationText(overheads.handoffNs)}.`;
}

function describeContention(contention: Contention, hasVaried: boolean): string[] {
  if (!hasVaried) {
    return ['Contention could not be seen: the number of syntheses at once did not vary. Stages are taken as they were measured, whatever runs beside them.']; // prettier-ignore
  }
  return sayIf(
    SIMULATED_STAGES.every((stage) => contention[stage] === 0),
    'No stage was seen to grow with the number of syntheses at once.',
  );
}

function describeArrivals({ replaysArrivals, measured, own }: RunGround): string {
  if (replaysArrivals) return 'Proofs arrive when they arrived; of a run with more than are simulated, the first ones.';
  return measured.isByDurations
    ? `Proofs: ${own.proofs_in_flight} at a time, as many as were seen.`
    : 'All proofs wait from the beginning.';
}

function describeMemory({ memory, measured, scheduler }: RunGround): string {
  if (memory === null) {
    const why = measured.permitBytes ? 'by what is recorded the run could not have begun' : 'the run does not say what a partition takes';
    return `Memory is not looked at: ${why}.`;
  }
  const { paramsBytes } = measured;
  const params =
    paramsBytes === null ? '; what the parameters take is not recorded in this run' : `, parameters ${formatBytes(paramsBytes)}`;
  return `Memory: ${formatBytes(memory.partitionBytes)} a partition${params}, budget ${formatBytes(scheduler.memory_budget_bytes)}.`;
}

function describeScheduler(scheduler: Scheduler): string {
  const { gpu_workers, lock_scope, synthesis_workers, partitions_in_flight } = scheduler;
  return `${schedulerLabel(scheduler)}: gpu_workers ${gpu_workers}, lock_scope ${lock_scope}, synthesis_workers ${synthesis_workers}, partitions_in_flight ${partitions_in_flight}`;
}

/** Three figures: `29.4 s`, `4.63 ms`, `0.02 ms`. */
function durationText(ns: Nanoseconds): string {
  if (ns >= 100 * NS_PER_MS) return `${Number((ns / NS_PER_S).toPrecision(3))} s`;
  return `${ns >= NS_PER_MS ? Number((ns / NS_PER_MS).toPrecision(3)) : Number((ns / NS_PER_MS).toFixed(2))} ms`;
}
