/** Stretch, unions, order: the small parts of the account. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventColumns } from '../../../electron/analysis/idle/event-columns.ts';
import { IdleTracker } from '../../../electron/analysis/idle/idle-tracker.ts';
import { UnionSum } from '../../../electron/analysis/idle/union-sum.ts';
import { computeSum, computeUnion } from '../../../electron/analysis/windows.ts';
import type { EventOf } from '../../../electron/contract/timeline-events.ts';
import { reportOf } from '../../support/idle-report.ts';
import { makeRun, SCHEDULER } from '../../support/journal.ts';

test('a stage is as slow as its duration over the best tenth, by how many syntheses ran beside it', () => {
  const picture = `
    A       a
    A.0 w0  KK
    A.1 w0  ..KK
    A.2 w0  ....KKKK
    A.3 s0  ....SSSS
    A.4 s1  ....SSSS`;
  const device = reportOf(picture).stretch.find(({ stage }) => stage === 'device');
  expect(device).toMatchObject({ circuit: 'a', n: 3, p10_ns: 2e6, p50_ns: 2e6, p90_ns: 4e6, stretch: 4 / 3 });
  expect(device?.by_syntheses).toEqual([
    { syntheses: 0, n: 2, stretch: 1 },
    { syntheses: 2, n: 1, stretch: 2 },
  ]);
  const synthesis = reportOf(picture).stretch.find(({ stage }) => stage === 'synthesis');
  // One other ran beside each.
  expect(synthesis?.by_syntheses).toEqual([{ syntheses: 1, n: 2, stretch: 1 }]);
});

test('union and sum of intervals in the order of their ends', () => {
  const interval = fc
    .tuple(fc.integer({ min: -5, max: 60 }), fc.nat(20))
    .map(([startNs, length]) => ({ startNs, endNs: startNs + length }));
  fc.assert(
    fc.property(fc.array(interval, { maxLength: 20 }), fc.array(fc.nat(60), { maxLength: 3 }), (intervals, open) => {
      const sum = new UnionSum();
      const toNs = 100;
      for (const { startNs, endNs } of intervals.sort((a, b) => a.endNs - b.endNs)) sum.add(startNs, endNs);
      const all = [...intervals, ...open.map((startNs) => ({ startNs, endNs: toNs }))];
      expect(sum.total(toNs, open)).toEqual({ union: computeUnion(all, 0, toNs), sum: computeSum(all, 0, toNs) });
    }),
  );
});

test('events come out in the order of (t, seq), whatever was taken out before', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(30), fc.nat(9)), { maxLength: 200 }), fc.nat(50), (pairs, drop) => {
      const columns = new EventColumns<number, null>();
      pairs.forEach(([t, seq], index) => columns.push(t, seq, 1, index, 0, 0, null));
      const expected = pairs.map(([t, seq], index) => ({ t, seq, index })).sort((a, b) => a.t - b.t || a.seq - b.seq || a.index - b.index);
      expect([...columns.order()].map((at) => columns.subject[at])).toEqual(expected.map(({ index }) => index));
      columns.drop(Math.min(drop, pairs.length));
      columns.push(15, 5, 1, -1, 0, 0, null);
      const rest = [...expected.slice(drop), { t: 15, seq: 5, index: Number.POSITIVE_INFINITY }];
      rest.sort((a, b) => a.t - b.t || a.seq - b.seq || a.index - b.index);
      expect([...columns.order()].map((at) => columns.t[at])).toEqual(rest.map(({ t }) => t));
    }),
  );
});

test('what the live account keeps does not grow with the run', () => {
  const { events } = makeRun({ proofs: 300, partitions: 4, open: true });
  const tracker = new IdleTracker({ engine: 'builtin', scheduler: SCHEDULER, proofsInFlight: 2 });
  tracker.beginProcess(events[0] as EventOf<'hello'>, 10_000_000, true);
  let most = 0;
  events.forEach((event, index) => {
    tracker.take(event);
    if (index % 20 !== 0) return;
    tracker.takeMark({ e: 'mark', t: event.t - 1_000_000_000, upto: index });
    tracker.figures(event.t - 1_010_000_000);
    most = Math.max(most, tracker.pending);
  });
  expect(events.length).toBeGreaterThan(30_000);
  expect(most).toBeLessThan(200);
});
