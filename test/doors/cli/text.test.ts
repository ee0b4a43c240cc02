/** How figures and times read on a terminal. */
import { afterEach, expect, test } from 'vitest';
import type { RunReport } from '../../../electron/contract/run-report.ts';
import { localTime, ratio, runText, seconds } from '../../../electron/doors/cli/text.ts';

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

test('a log that tells no wall clock has no start, and proofs of another engine keep their own names', () => {
  expect(localTime('0')).toBe('not recorded');
  const report = makeReport();
  expect(runText(report)).toContain('started not recorded');
  expect(runText(report)).toContain('wdpost-1000-0-[192 83] valid');
});

function makeReport(): RunReport {
  return {
    schema: 2, run: 'r1', uid: 'u', state: 'finished', ended_by: null, engine: 'cuzk', backend: 'cuda', emulate: null, scheduler: null, found: {},
    imported_from: 'cuzk.log', started_wall_ns: '0', wall_ns: 1, s_per_proof: null,
    s_per_proof_detail: { value: null, n: 1, low: null, high: null, too_few_below: 3 }, latency_s: null, devices: [],
    proofs: [{
      id: 'wdpost-1000-0--192-83', attempt: 1, name: 'wdpost-1000-0-[192 83]', circuit: '', outcome: 'valid', latency_ns: null, sha256: null,
      path: null, error: null, partitions: [],
    }],
    events: { count: 1, lost: 0, unparsed: 0 }, peak_rss_bytes: null, processes: [],
  }; // prettier-ignore
}
