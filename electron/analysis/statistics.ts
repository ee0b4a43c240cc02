/**
 * How sure a mean is. Pure arithmetic, no randomness; every interval is two-sided at 95 %.
 *
 * Completion intervals of a pipeline hang together: with j proofs in flight a proof that ends late makes the next interval short, and a
 * slow stretch of the machine makes several long. Taken for independent they give an interval that is too wide in the first case and too
 * narrow in the second. So neighbours are put into batches first (see {@link countBatches}), and only the batches' means are taken for
 * independent.
 */

/** A mean with its standard error and the degrees of freedom that the error was estimated with. */
export interface Estimate {
  mean: number;
  standardError: number;
  degrees: number;
}
export interface Interval {
  value: number;
  low: number;
  high: number;
}

/** More batches than this make the interval hardly narrower, and each batch less independent of the next. */
const MOST_BATCHES = 10;

/** The middle one, or the mean of the two in the middle; null of nothing. */
export function computeMedian(values: readonly number[]): number | null {
  return medianOfSorted([...values].sort((a, b) => a - b));
}

/** The same, of values that are in order already. */
export function medianOfSorted(sorted: readonly number[]): number | null {
  return percentileOfSorted(sorted, 0.5);
}

/** `share` in 0 … 1; between two neighbours in proportion. Null of nothing. */
export function computePercentile(values: readonly number[], share: number): number | null {
  return percentileOfSorted([...values].sort((a, b) => a - b), share); // prettier-ignore
}

/** The same, of values that are in order already. */
export function percentileOfSorted(sorted: readonly number[], share: number): number | null {
  if (sorted.length === 0) return null;
  const at = Math.min(Math.max(share, 0), 1) * (sorted.length - 1);
  const below = sorted[Math.floor(at)] as number;
  const above = sorted[Math.ceil(at)] as number;
  return below + (above - below) * (at - Math.floor(at));
}

/** Mean and standard error of values that are independent; null of fewer than two. */
export function estimateMean(values: readonly number[]): Estimate | null {
  const n = values.length;
  if (n < 2) return null;
  const mean = meanOf(values);
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, standardError: Math.sqrt(squares / (n - 1) / n), degrees: n - 1 };
}

/** How long a batch is: a multiple of `together`, so that each holds every phase of the pipeline once, and at most ten of them. */
function batchLength(count: number, together: number): number {
  const least = Math.max(1, together);
  return least * Math.max(1, Math.ceil(count / (MOST_BATCHES * least)));
}

/** Into how many whole batches `count` values go, `together` of which hang together at least. Fewer than two say nothing about spread. */
export function countBatches(count: number, together: number): number {
  return Math.floor(count / batchLength(count, together));
}

/**
 * Mean and standard error of values in the order in which they came, of which neighbours hang together; null of fewer than two batches.
 * The mean is that of all values; the first ones, where they fill no batch, are left out of the spread.
 */
export function estimateByBatches(values: readonly number[], together: number): Estimate | null {
  const length = batchLength(values.length, together);
  const count = countBatches(values.length, together);
  if (count < 2) return null;
  const first = values.length - count * length;
  const means = Array.from({ length: count }, (_, batch) => meanOf(values.slice(first + batch * length, first + (batch + 1) * length)));
  return { ...(estimateMean(means) as Estimate), mean: meanOf(values) };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The 95 % interval of one estimate. */
export function intervalOf(estimate: Estimate): Interval {
  const half = studentT95(estimate.degrees) * estimate.standardError;
  return { value: estimate.mean, low: estimate.mean - half, high: estimate.mean + half };
}

/** `b` − `a` of two independent estimates whose spreads may differ (Welch, with Satterthwaite's degrees of freedom). */
export function welchInterval(a: Estimate, b: Estimate): Interval {
  const [va, vb] = [a.standardError ** 2, b.standardError ** 2];
  const variance = va + vb;
  const degrees = variance === 0 ? a.degrees + b.degrees : variance ** 2 / (va ** 2 / a.degrees + vb ** 2 / b.degrees);
  return intervalOf({ mean: b.mean - a.mean, standardError: Math.sqrt(variance), degrees });
}

/** Mean of `b[i]` − `a[i]`; null of fewer than two pairs. What changes both of a pair alike cancels out. */
export function pairedInterval(a: readonly number[], b: readonly number[]): Interval | null {
  const differences = a.slice(0, b.length).map((value, index) => (b[index] as number) - value);
  const estimate = estimateMean(differences);
  return estimate && intervalOf(estimate);
}

/** 0.975 quantile of Student's t; `degrees` > 0 need not be whole. Right to nine digits. */
export function studentT95(degrees: number): number {
  let [low, high] = [0, 1e9];
  // In the logarithm: the quantile of one degree is 12.7, of a tenth of one beyond a million.
  for (let step = 0; step < 200 && high - low > 1e-10 * Math.max(1, low); step++) {
    const middle = low < 1 ? (low + Math.min(high, 4)) / 2 : Math.sqrt(low * high);
    if (tailBeyond(middle, degrees) > 0.025) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** P(T > t), t ≥ 0. */
function tailBeyond(t: number, degrees: number): number {
  return regularizedBeta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
}

/** I_x(a, b), by its continued fraction (modified Lentz). */
function regularizedBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges quickly on this side; the other follows by symmetry.
  if (x > (a + 1) / (a + b + 2)) return 1 - regularizedBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  const kept = (value: number) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
  let c = 1;
  let d = 1 / kept(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    let change = 1;
    for (const term of [even, odd]) {
      d = 1 / kept(1 + term * d);
      c = kept(1 + term / c);
      change = c * d;
      fraction *= change;
    }
    if (Math.abs(change - 1) < 1e-14) break;
  }
  return front * fraction;
}

const LANCZOS = [
  676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012,
  9.9843695780195716e-6, 1.5056327351493116e-7,
]; // prettier-ignore

/** ln Γ(x), x > 0. */
function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const z = x - 1;
  const sum = LANCZOS.reduce((total, term, index) => total + term / (z + index + 1), 0.99999999999980993);
  const t = z + LANCZOS.length - 0.5;
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(sum);
}
