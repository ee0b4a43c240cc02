/** Gaps: what they are made of, what lies before and after, ranked. Ticks are milliseconds. */
import { expect, test } from 'vitest';
import { rankGaps } from '../../../electron/analysis/idle/gaps.ts';
import { analyse, MS } from '../../support/idle-report.ts';

const PICTURE = `
  A       a
  B       .............a
  A.0 w0  pKKLLKff
  A.1 s0  SSSSSSSSSq
  A.1 w0  .........pKKf
  B.0 s0  ..............SSSSq
  B.0 w0  ..................pK
  process r===================e`;

test('every gap has its parts, what was before and what came after; the longest first', () => {
  const { gaps } = analyse(PICTURE);
  const report = gaps(0, 100);
  const A0 = { proof: 'A', attempt: 1, partition: 0 };
  const A1 = { ...A0, partition: 1 };
  const B0 = { ...A0, proof: 'B' };
  expect(report.gaps.map(({ start_ns, length_ns, cause, parts, before, after }) => ({ at: start_ns / MS, ms: length_ns / MS, cause, parts, before, after }))).toEqual([
    { at: 12, ms: 7, cause: 'cross_sector', parts: { cross_sector: 5 * MS, no_work: MS, preamble: MS }, before: A1, after: B0 },
    { at: 6, ms: 4, cause: 'starved', parts: { starved: 3 * MS, preamble: MS }, before: A0, after: A1 },
    { at: 3, ms: 2, cause: 'in_lock', parts: { in_lock: 2 * MS }, before: A0, after: A0 },
    { at: 0, ms: 1, cause: 'preamble', parts: { preamble: MS }, before: null, after: A0 },
  ]); // prettier-ignore
});

test('only gaps that are long enough, and no more than asked for; sums are over those', () => {
  const { gaps } = analyse(PICTURE);
  const long = gaps(4 * MS, 100);
  expect(long.gaps.map(({ length_ns }) => length_ns / MS)).toEqual([7, 4]);
  expect(gaps(4 * MS, 1).gaps).toHaveLength(1);
  expect(long.by_cause['starved']).toEqual({ ns: 3 * MS, gaps: 1 });
  expect(long.by_cause['preamble']).toEqual({ ns: 2 * MS, gaps: 0 });
  expect(long.by_proof.map(({ proof, ns }) => [proof, ns / MS])).toEqual([
    ['B', 7],
    ['A', 4],
  ]);
});

test('all gaps together are the idle time, and no gap holds unknown time', () => {
  const picture = `
    A       a
    A.0 w0  pKKff
    lost    ...==
    A.1 w0  .......pK
    process r========!   r==e`;
  const { report, gaps } = analyse(picture);
  const [device] = report.devices;
  const idle = Object.values(device?.idle_ns ?? {}).reduce((sum, ns) => sum + ns, 0);
  const all = gaps(0, 100).gaps;
  expect(all.reduce((sum, { length_ns }) => sum + length_ns, 0)).toBe(idle);
  for (const { length_ns, parts } of all) expect(Object.values(parts).reduce((sum, ns) => sum + ns, 0)).toBe(length_ns);
  expect(device?.unknown_ns).toBeGreaterThan(0);
});

test('a tie is named by the order of the table', () => {
  const { gaps } = analyse('A a\nA.0 w0 KKLLff..\nA.1 w0 ......KK\nprocess r======e');
  const [gap] = gaps(0, 1).gaps;
  expect(gap?.parts).toEqual({ in_lock: 2 * MS, starved: 2 * MS });
  expect(gap?.cause).toBe('in_lock');
});

test('nothing is nothing', () => {
  expect(rankGaps('r1', 5, 10, [])).toEqual({ schema: 1, run: 'r1', min_ns: 5, gaps: [], by_cause: {}, by_proof: [] });
});
