/** Differences in words: signs that are signs, and as many digits as still show something. */
import type { Range } from '../../contract/what-if.ts';

/** "95 %: −3.4 to −2.4" */
export function intervalText(range: Range): string {
  const { low, high } = range;
  const digits = digitsOfRange(range);
  return `95 %: ${signed(low, digits)} to ${signed(high, digits)}`;
}

/** "−6.4 %" of a ratio 0.936 */
export function percent(ratio: number | null): string {
  return ratio === null ? '–' : `${signed(100 * (ratio - 1), 1)} %`;
}

/** With a sign, and a minus that is one. */
export function signed(value: number, digits: number): string {
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : `${value < 0 ? '−' : '+'}${text}`;
}

/** Decimals that still show a difference: two digits of it, one at least. */
export function digitsOf(value: number): number {
  const size = Math.abs(value);
  return size >= 1 || size === 0 ? 1 : Math.min(6, 1 + Math.ceil(-Math.log10(size)));
}

/** Decimals of a difference and its interval: those of the larger of the two, more only where both ends would look alike. */
export function digitsOfRange({ value, low, high }: Range): number {
  const half = (high - low) / 2;
  return digitsFor(digitsOf(Math.max(Math.abs(value), half)), half);
}

/** `digits`, or more where ± `half` would not be seen with so few. */
export function digitsFor(digits: number, half: number): number {
  return half > 0 && half < 10 ** -digits ? digitsOf(half) : digits;
}

/** Decimals of seconds per proof. */
export function decimals(value: number): number {
  return value >= 10 ? 1 : value >= 1 ? 2 : 3;
}
