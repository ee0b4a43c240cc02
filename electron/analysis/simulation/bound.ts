/**
 * The shortest time in which any scheduler could have put these partitions through: FIELD's lower bound, with every term.
 *
 *   n partitions, m synthesis workers, D devices, W GPU workers each, K permits; synthesis s, prepare r, device g, finish f
 *   (lock scope `job`: the device stage is r + g + f, prepare and finish are 0)
 */
import type { SimulationSetup, StageTimes } from './model.ts';

export const BOUND_TERMS = {
  device: 'the device: first synthesis and prepare, then every device stage in series',
  synthesis: 'synthesis: its workers are never idle',
  workers: 'the GPU workers: prepare, device and finish of all partitions, shared by them',
  permits: 'the permits: a partition holds one from synthesis to finish',
  rounds: 'rounds of synthesis of equal length',
  partition: 'the longest partition',
} as const;
export type BoundTerm = keyof typeof BOUND_TERMS;

export interface Bound {
  boundNs: number;
  /** The largest one. */
  term: BoundTerm;
  terms: Record<BoundTerm, number>;
}

export function computeBound(setup: Pick<SimulationSetup, 'scheduler' | 'devices' | 'proofs' | 'memory'>): Bound {
  const { scheduler, devices, proofs } = setup;
  const partitions = proofs.flatMap((proof) => proof.partitions).map((times) => (scheduler.lock_scope === 'job' ? inJob(times) : times));
  const [d, m] = [devices.length, scheduler.synthesis_workers];
  const sum = (of: (times: StageTimes) => number) => partitions.reduce((total, times) => total + of(times), 0);
  const least = (of: (times: StageTimes) => number) =>
    partitions.reduce((min, times) => Math.min(min, of(times)), Number.POSITIVE_INFINITY);
  const most = (of: (times: StageTimes) => number) => partitions.reduce((max, times) => Math.max(max, of(times)), 0);
  const atWorker = ({ prepareNs, deviceNs, finishNs }: StageTimes) => prepareNs + deviceNs + finishNs;
  const whole = (times: StageTimes) => times.synthesisNs + atWorker(times);
  const isEqual = least(({ synthesisNs }) => synthesisNs) === most(({ synthesisNs }) => synthesisNs);
  const terms: Record<BoundTerm, number> =
    partitions.length === 0
      ? { device: 0, synthesis: 0, workers: 0, permits: 0, rounds: 0, partition: 0 }
      : {
          device: least(({ synthesisNs, prepareNs }) => synthesisNs + prepareNs) + sum(({ deviceNs }) => deviceNs) / d + least(({ finishNs }) => finishNs),
          synthesis: sum(({ synthesisNs }) => synthesisNs) / m + least(atWorker),
          workers: least(({ synthesisNs }) => synthesisNs) + sum(atWorker) / (scheduler.gpu_workers * d),
          permits: sum(whole) / permitsOf(setup),
          rounds: isEqual ? Math.ceil(partitions.length / m) * least(({ synthesisNs }) => synthesisNs) : 0,
          partition: most(whole),
        }; // prettier-ignore
  const term = (Object.keys(terms) as BoundTerm[]).reduce((best, name) => (terms[name] > terms[best] ? name : best), 'device');
  return { boundNs: terms[term], term, terms };
}

function inJob(times: StageTimes): StageTimes {
  return { ...times, deviceNs: times.prepareNs + times.deviceNs + times.finishNs, prepareNs: 0, finishNs: 0 };
}

/** How many partitions may be in flight, by count and by memory. */
function permitsOf({ scheduler, memory }: Pick<SimulationSetup, 'scheduler' | 'memory'>): number {
  const byMemory = memory && memory.partitionBytes > 0 ? Math.floor(memory.totalBytes / memory.partitionBytes) : Number.POSITIVE_INFINITY;
  return Math.max(1, Math.min(scheduler.partitions_in_flight, byMemory));
}
