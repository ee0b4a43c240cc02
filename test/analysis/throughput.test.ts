import { expect, test } from 'vitest';
import { studentT95 } from '../../electron/analysis/statistics.ts';
import { computeSecondsPerProof, estimateBehind } from '../../electron/analysis/throughput.ts';

const seconds = (...values: number[]) => values.map((value) => value * 1e9);

test('below 2j + 1 valid proofs nothing is said, and why', () => {
  expect(computeSecondsPerProof(seconds(1, 2, 3, 4), 2)).toEqual({ value: null, n: 4, low: null, high: null, too_few_below: 5 });
  expect(computeSecondsPerProof([], 1)).toMatchObject({ value: null, n: 0, too_few_below: 3 });
});

test('the first j proofs fill the pipeline and do not count', () => {
  // Ends at 50, 60, 70, 80, 90, 100: with j = 2 the time from the second to the last, over four proofs.
  expect(computeSecondsPerProof(seconds(50, 60, 70, 80, 90, 100), 2)).toEqual({ value: 10, n: 6, low: 10, high: 10, too_few_below: 5 });
  expect(computeSecondsPerProof(seconds(1, 60, 70, 80, 90, 100), 2).value).toBe(10);
});

test('the interval is that of the mean of the completion intervals', () => {
  // Intervals 8, 10, 12: mean 10, standard deviation 2, t(2) = 4.303.
  const { value, low, high } = computeSecondsPerProof(seconds(0, 8, 18, 30), 1);
  expect(value).toBe(10);
  expect(high).toBeCloseTo(10 + (4.303 * 2) / Math.sqrt(3), 3);
  expect(low).toBeCloseTo(10 - (4.303 * 2) / Math.sqrt(3), 3);
});

test('proofs in flight that end in pairs are not taken for spread', () => {
  // Two at a time: intervals 1, 19, 1, 19 … Each pair takes exactly 20.
  const ends = Array.from({ length: 10 }, (_, index) => Math.floor(index / 2) * 20 + (index % 2));
  expect(computeSecondsPerProof(seconds(...ends), 2)).toEqual({ value: 10, n: 10, low: 10, high: 10, too_few_below: 5 });
  // Of a single pair nothing is known about spread.
  expect(computeSecondsPerProof(seconds(50, 60, 70, 80, 90), 2)).toEqual({ value: 10, n: 5, low: null, high: null, too_few_below: 5 });
});

test('what an interval was made from can be had back from it', () => {
  const figures = computeSecondsPerProof(seconds(0, 8, 18, 30), 1);
  const estimate = estimateBehind(figures);
  expect(estimate?.degrees).toBe(2);
  expect(estimate?.standardError).toBeCloseTo(2 / Math.sqrt(3), 9);
  expect(studentT95(2) * (estimate?.standardError ?? 0) + 10).toBeCloseTo(figures.high ?? 0, 9);
  expect(estimateBehind({ value: 10, n: 5, low: null, high: null, too_few_below: 5 })).toBeNull();
  expect(estimateBehind({ value: null, n: 1, low: null, high: null, too_few_below: 3 })).toBeNull();
});
