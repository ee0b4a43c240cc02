import { expect, test } from 'vitest';
import {
  countOf,
  formatCount,
  formatDuration,
  formatElapsed,
  formatMs,
  formatPercent,
  formatSeconds,
  wallMsOf,
} from '../../../renderer/parts/durations.ts';

const plain = (text: string) => text.replaceAll('\u00a0', ' ');

test.each([
  [0, '0 ns'],
  [999, '999 ns'],
  [1000, '1.0 µs'],
  [999_949, '999.9 µs'],
  [999_950, '1.0 ms'],
  [12_300_000, '12 ms'],
  [999_499_999, '999 ms'],
  [999_500_000, '1.00 s'],
  [12_400_000_000, '12.4 s'],
  [59_949_000_000, '59.9 s'],
  [59_950_000_000, '1 min 0 s'],
  [200_000_000_000, '3 min 20 s'],
  [3_599_600_000_000, '1 h 0 min'],
  [11_520_000_000_000, '3 h 12 min'],
  [-5_000_000, '−5.0 ms'],
  [null, '–'],
])('duration %d reads %s', (ns, text) => expect(plain(formatDuration(ns))).toBe(text));

test.each([
  [null, '–'],
  [0, '0.0'],
  [0.0004, '<0.1'],
  [0.463, '46.3'],
  [0.99951, '99.9'],
  [1, '100.0'],
])('share %d reads %s: nothing rounds to none or to all', (ratio, text) => expect(formatPercent(ratio)).toBe(text));

test.each([
  [0, '0:00'],
  [42.9e9, '0:42'],
  [725e9, '12:05'],
  [11_525e9, '3:12:05'],
  [(2 * 86_400 + 3 * 3600 + 725) * 1e9, '2 d 03:12:05'],
])('elapsed %d reads %s', (ns, text) => expect(plain(formatElapsed(ns))).toBe(text));

test('counts, columns of milliseconds, seconds, wall clock', () => {
  expect(formatCount(1_903)).toBe('1,903');
  expect(plain(countOf(1, 'proof'))).toBe('1 proof');
  expect(plain(countOf(2000, 'proof'))).toBe('2,000 proofs');
  expect([formatMs(12_345_678), formatMs(3_902_400_000), formatMs(null)]).toEqual(['12.3', '3,902', '–']);
  expect([formatSeconds(8.254), formatSeconds(45.44), formatSeconds(1234.5), formatSeconds(null)]).toEqual(['8.25', '45.4', '1,235', '–']);
  expect(wallMsOf('1796025600000123456')).toBe(1_796_025_600_000);
});
