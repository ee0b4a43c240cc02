/** How fast: steady seconds per proof. */
import type { SecondsPerProof } from '../contract/run-report.ts';
import { NS_PER_S, type Nanoseconds } from '../contract/units.ts';
import { countBatches, estimateByBatches, intervalOf, studentT95, type Estimate } from './statistics.ts';

/**
 * s/proof = (end of the last − end of the j-th valid proof) / (N − j), with j proofs in flight: the first j fill the pipeline. Below
 * N = 2j + 1 nothing is said. The interval is that of the mean of the N − j completion intervals at 95 %, taken in batches of at least j,
 * because proofs in flight make neighbours hang together; null while there are fewer than two batches.
 *
 * `endsNs`: ends of the valid proofs, ascending.
 */
export function computeSecondsPerProof(endsNs: readonly Nanoseconds[], proofsInFlight: number): SecondsPerProof {
  const j = Math.max(1, proofsInFlight);
  const n = endsNs.length;
  const tooFewBelow = 2 * j + 1;
  if (n < tooFewBelow) return { value: null, n, low: null, high: null, too_few_below: tooFewBelow };
  const intervals: number[] = [];
  for (let index = j; index < n; index++) intervals.push(((endsNs[index] as number) - (endsNs[index - 1] as number)) / NS_PER_S);
  const value = ((endsNs[n - 1] as number) - (endsNs[j - 1] as number)) / (n - j) / NS_PER_S;
  const estimate = estimateByBatches(intervals, j);
  if (!estimate) return { value, n, low: null, high: null, too_few_below: tooFewBelow };
  const { low, high } = intervalOf({ ...estimate, mean: value });
  return { value, n, low: Math.max(0, low), high, too_few_below: tooFewBelow };
}

/** What the interval of a {@link SecondsPerProof} was made from; null where it has none. */
export function estimateBehind({ value, n, high, too_few_below }: SecondsPerProof): Estimate | null {
  if (value === null || high === null) return null;
  const j = (too_few_below - 1) / 2;
  const degrees = countBatches(n - j, j) - 1;
  return degrees < 1 ? null : { mean: value, standardError: (high - value) / studentT95(degrees), degrees };
}
