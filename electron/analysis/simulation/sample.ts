/**
 * Where the simulation's proofs come from: whole partitions' stage times are drawn again and again from those of a run (so that a slow
 * synthesis keeps its slow device stage), or from a table. The same seed and round draw the same.
 */
import type { CheckedInput } from '../../contract/api.ts';
import { NS_PER_S } from '../../contract/units.ts';
import { NO_CONTENTION, type Contention, type SimulatedProof, type SimulatedStage, type StageTimes } from './model.ts';
import { SeededRandom } from './random.ts';
import type { MeasuredPartition, MeasuredRun } from './stages.ts';

export type StageTable = NonNullable<CheckedInput<'simulate'>['stages']>;

/** What the n-th proof is, but for its partitions' times. */
export type ProofTemplate = Omit<SimulatedProof, 'partitions'> & { partitions: number };

export interface Sampler {
  /** Taken in turns. */
  templates: readonly ProofTemplate[];
  draw(random: SeededRandom, circuit: string): StageTimes;
  contention: Contention;
}

/** Times without what the syntheses beside it added. */
export function timesAlone(partition: MeasuredPartition, contention: Contention): StageTimes {
  const alone = (stage: SimulatedStage) => Math.round(partition.ns[stage] / (1 + contention[stage] * partition.beside[stage]));
  const deviceNs = alone('device');
  const share = partition.kernelNs === null ? 1 : partition.ns.device === 0 ? 0 : partition.kernelNs / partition.ns.device;
  return {
    synthesisNs: alone('synthesis'),
    prepareNs: alone('prepare'),
    deviceNs,
    // Where the log has no kernel lines the whole stage stands for "lock or kernel".
    kernelNs: Math.min(deviceNs, Math.round(deviceNs * share)),
    finishNs: alone('finish'),
    verifyNs: partition.verifyNs,
  };
}

/** `replaysArrivals`: proofs come when they came; else all of them wait from the beginning. */
export function sampleRun(run: MeasuredRun, contention: Contention, replaysArrivals: boolean): Sampler {
  const pools = new Map<string, StageTimes[]>();
  for (const partition of run.partitions) {
    const times = timesAlone(partition, contention);
    const pool = pools.get(partition.circuit);
    if (pool) pool.push(times);
    else pools.set(partition.circuit, [times]);
  }
  const proofs = run.proofs.filter(({ circuit, partitions }) => partitions > 0 && pools.has(circuit));
  const valid = proofs.filter(({ isValid }) => isValid);
  const templates = (valid.length > 0 ? valid : proofs).map((proof): ProofTemplate => {
    const sinceStart = (wallNs: bigint) => Number(wallNs - run.startedWallNs);
    return {
      circuit: proof.circuit,
      constraints: proof.constraints,
      partitions: proof.partitions,
      priority: proof.priority,
      deadline: proof.deadlineWallNs === null ? null : sinceStart(proof.deadlineWallNs),
      submittedNs: replaysArrivals ? Math.max(0, sinceStart(proof.submittedWallNs)) : 0,
    };
  });
  return { templates, contention, draw: (random, circuit) => random.pick(pools.get(circuit) ?? []) };
}

/** Lists of equal length are rows: their times stay together. Lists of different lengths are drawn from one by one. */
export function sampleTable(table: StageTable): Sampler {
  const ns = (seconds: readonly number[]) => seconds.map((value) => Math.round(value * NS_PER_S));
  const lists = [ns(table.synthesis), ns(table.prepare), ns(table.device), ns(table.finish)] as const;
  const [synthesis, prepare, device, finish] = lists;
  const areRows = lists.every((list) => list.length === synthesis.length);
  const at = (list: readonly number[], random: SeededRandom, row: number) => (areRows ? (list[row] as number) : random.pick(list));
  return {
    templates: [{ circuit: 'table', constraints: 1, partitions: table.partitions, priority: 2, deadline: null, submittedNs: 0 }],
    contention: { ...NO_CONTENTION, ...table.contention },
    draw: (random) => {
      const row = random.below(synthesis.length);
      const deviceNs = at(device, random, row);
      return {
        synthesisNs: at(synthesis, random, row),
        prepareNs: at(prepare, random, row),
        deviceNs,
        kernelNs: deviceNs,
        finishNs: at(finish, random, row),
        verifyNs: 0,
      };
    },
  };
}

/** The proofs of one round. */
export function drawProofs(sampler: Sampler, count: number, seed: number, round: number): SimulatedProof[] {
  const random = new SeededRandom(seed, round);
  const proofs: SimulatedProof[] = [];
  const lastSubmittedNs = Math.max(0, ...sampler.templates.map(({ submittedNs }) => submittedNs));
  for (let index = 0; index < count; index++) {
    const template = sampler.templates[index % sampler.templates.length] as ProofTemplate;
    const submittedNs = index < sampler.templates.length ? template.submittedNs : lastSubmittedNs;
    const partitions = Array.from({ length: template.partitions }, () => sampler.draw(random, template.circuit));
    proofs.push({ ...template, submittedNs, partitions });
  }
  return proofs;
}
