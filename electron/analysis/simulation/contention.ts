/**
 * How much a stage grows with the number of syntheses at once: the median of the slopes between all pairs of partitions (Theil and Sen),
 * over the time at no synthesis. Zero where the number did not vary, and where the slope cannot be told from noise (Kendall).
 */
import { computeMedian } from '../statistics.ts';
import { NO_CONTENTION, SIMULATED_STAGES, type Contention, type SimulatedStage } from './model.ts';
import type { MeasuredPartition } from './stages.ts';

/** Pairs grow with the square: beyond this many partitions every k-th is looked at. */
const MOST_POINTS = 300;
/** Less spread than this in the number of syntheses says nothing. */
const LEAST_SPREAD = 0.5;
/** Standard deviations of Kendall's statistic. */
const SIGNIFICANT = 3;

/** Per circuit and stage the time with no synthesis beside it is `ns / (1 + contention × beside)`. */
export function fitContention(partitions: readonly MeasuredPartition[]): Contention {
  const contention = { ...NO_CONTENTION };
  for (const stage of SIMULATED_STAGES) contention[stage] = fitStage(largestCircuit(partitions), stage);
  return contention;
}

function largestCircuit(partitions: readonly MeasuredPartition[]): MeasuredPartition[] {
  const byCircuit = Map.groupBy(partitions, ({ circuit }) => circuit);
  return [...byCircuit.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
}

function fitStage(partitions: readonly MeasuredPartition[], stage: SimulatedStage): number {
  const every = Math.ceil(partitions.length / MOST_POINTS);
  const points = partitions.filter((_, index) => index % every === 0).map(({ beside, ns }) => ({ x: beside[stage], y: ns[stage] }));
  const xs = points.map(({ x }) => x).sort((a, b) => a - b);
  const n = points.length;
  const spread = n < 8 ? 0 : (xs[Math.floor(0.9 * n)] as number) - (xs[Math.floor(0.1 * n)] as number);
  if (spread < LEAST_SPREAD) return 0;
  const slopes: number[] = [];
  let concordant = 0;
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const [a, b] = [points[i] as (typeof points)[number], points[j] as (typeof points)[number]];
      if (a.x === b.x) continue;
      const slope = (b.y - a.y) / (b.x - a.x);
      slopes.push(slope);
      concordant += Math.sign(slope);
    }
  }
  const deviation = Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
  const slope = computeMedian(slopes) ?? 0;
  if (slope <= 0 || concordant < SIGNIFICANT * deviation) return 0;
  const base = computeMedian(points.map(({ x, y }) => y - slope * x)) ?? 0;
  return base > 0 ? slope / base : 0;
}
