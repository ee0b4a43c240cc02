/** How fast: steady seconds per proof, and latency. */
import type { SecondsPerProof } from '../contract/run-report.ts';
import { NS_PER_S, type Nanoseconds } from '../contract/units.ts';

/**
 * s/proof = (end of the last − end of the j-th valid proof) / (N − j), with j proofs in flight: the first j fill the pipeline. Below
 * N = 2j + 1 nothing is said. The interval is that of the mean of the N − j completion intervals at 95 %.
 *
 * `endsNs`: ends of the valid proofs, ascending.
 */
export function computeSecondsPerProof(endsNs: readonly Nanoseconds[], proofsInFlight: number): SecondsPerProof {
  const j = Math.max(1, proofsInFlight);
  const n = endsNs.length;
  const tooFewBelow = 2 * j + 1;
  if (n < tooFewBelow) return { value: null, n, low: null, high: null, too_few_below: tooFewBelow };
  const count = n - j;
  const first = endsNs[j - 1] as number;
  const mean = ((endsNs[n - 1] as number) - first) / count / NS_PER_S;
  let squares = 0;
  for (let index = j; index < n; index++) {
    const interval = ((endsNs[index] as number) - (endsNs[index - 1] as number)) / NS_PER_S;
    squares += (interval - mean) ** 2;
  }
  const half = (studentT95(count - 1) * Math.sqrt(squares / (count - 1))) / Math.sqrt(count);
  return { value: mean, n, low: Math.max(0, mean - half), high: mean + half, too_few_below: tooFewBelow };
}

/** The middle one, or the mean of the two in the middle; null of nothing. */
export function computeMedian(values: readonly number[]): number | null {
  return medianOfSorted([...values].sort((a, b) => a - b));
}

/** The same, of values that are in order already. */
export function medianOfSorted(sorted: readonly number[]): number | null {
  if (sorted.length === 0) return null;
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

const T95 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086,
  2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
]; // prettier-ignore

/** 0.975 quantile of Student's t. Beyond the table: the first terms of its expansion around the normal quantile, right to 0.001. */
function studentT95(degrees: number): number {
  const known = T95[degrees - 1];
  if (known !== undefined) return known;
  const z = 1.959964;
  return z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2);
}
