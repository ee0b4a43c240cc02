/** How figures and times read on a terminal. */
import { afterEach, expect, test } from 'vitest';
import { localTime, ratio, seconds } from '../../../electron/doors/cli/text.ts';

const zone = process.env.TZ;
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

test.each([
  ['UTC', '2026-11-30 17:41:47 +00:00'],
  ['Asia/Kolkata', '2026-11-30 23:11:47 +05:30'],
  ['America/St_Johns', '2026-11-30 14:11:47 -03:30'],
])('a time is local, with its offset: %s', (tz, told) => {
  process.env.TZ = tz;
  expect(localTime('1796060507999999999')).toBe(told);
});

test('seconds and ratios keep three figures and say when there is nothing to compare', () => {
  expect([seconds(1_234_567_890), seconds(12_345_678_900), seconds(123_456_789_000)]).toEqual(['1.23 s', '12.3 s', '123 s']);
  expect([ratio(1, 3), ratio(1, 0)]).toEqual(['33.3 %', '–']);
});
