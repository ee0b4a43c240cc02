import { expect, test } from 'vitest';
import { computeMedian, computeSecondsPerProof } from '../../electron/analysis/throughput.ts';

const seconds = (...values: number[]) => values.map((value) => value * 1e9);

test('below 2j + 1 valid proofs nothing is said, and why', () => {
  expect(computeSecondsPerProof(seconds(1, 2, 3, 4), 2)).toEqual({ value: null, n: 4, low: null, high: null, too_few_below: 5 });
  expect(computeSecondsPerProof([], 1)).toMatchObject({ value: null, n: 0, too_few_below: 3 });
});

test('the first j proofs fill the pipeline and do not count', () => {
  // Ends at 50, 60, 70, 80, 90: with j = 2 the time from the second to the last, over three proofs.
  expect(computeSecondsPerProof(seconds(50, 60, 70, 80, 90), 2)).toEqual({ value: 10, n: 5, low: 10, high: 10, too_few_below: 5 });
  expect(computeSecondsPerProof(seconds(1, 60, 70, 80, 90), 2).value).toBe(10);
});

test('the interval is that of the mean of the completion intervals', () => {
  // Intervals 8, 10, 12: mean 10, standard deviation 2, t(2) = 4.303.
  const { value, low, high } = computeSecondsPerProof(seconds(0, 8, 18, 30), 1);
  expect(value).toBe(10);
  expect(high).toBeCloseTo(10 + (4.303 * 2) / Math.sqrt(3), 3);
  expect(low).toBeCloseTo(10 - (4.303 * 2) / Math.sqrt(3), 3);
});

test('median', () => {
  expect([computeMedian([]), computeMedian([3]), computeMedian([4, 1, 3]), computeMedian([4, 1])]).toEqual([null, 3, 3, 2.5]);
});
