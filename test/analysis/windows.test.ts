/** The three windows: pictures first, then any intervals against a count of every nanosecond. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SpanTracker, type Span } from '../../electron/analysis/spans.ts';
import { checkWindows, computeSum, computeUnion, computeWindows, WindowMeter, type Interval } from '../../electron/analysis/windows.ts';
import { parseLanes } from '../support/lanes.ts';

const DEVICE = { device: 'cpu0', kind: 'cpu' };

function windowsOf(picture: string, fromTick = 0, toTick?: number, horizonTick?: number) {
  const { events, endNs } = parseLanes(picture, { tickNs: 1 });
  const spans: Span[] = [];
  let id = 0;
  const tracker = new SpanTracker(0, (span) => (spans[span.id] = span), () => id++); // prettier-ignore
  for (const event of events) tracker.take(event);
  const windows = computeWindows(DEVICE, spans, fromTick, toTick ?? endNs, horizonTick ?? null);
  expect(checkWindows(windows)).toEqual([]);
  return windows;
}

test('one worker: the job span covers prepare and finish, the lock the device stage, the kernels what they run', () => {
  expect(windowsOf('p1.0 w0 ppLKKKff')).toMatchObject({ wall_ns: 8, job_span_ns: 8, lock_held_ns: 4, kernel_ns: 3 });
});

test('two workers: the union, not the sum', () => {
  const windows = windowsOf(`
    p1.0 w0 ppppppKKKKKKKKKKKKffffff............
    p1.1 w1 ppppppwwwwwwwwwwwwKKKKKKKKKKKKffffff`);
  expect(windows).toMatchObject({
    wall_ns: 36,
    job_span_ns: 36,
    lock_held_ns: 24,
    kernel_ns: 24,
    job_span_sum_ns: 60,
    lock_held_sum_ns: 24,
  });
});

test('a lock held long with few kernels: three numbers that differ', () => {
  expect(windowsOf('p1.0 w0 LLLLLKKKKKKKKKLLLLLL')).toMatchObject({ job_span_ns: 20, lock_held_ns: 20, kernel_ns: 9 });
});

test('clipping is half-open at both ends', () => {
  const picture = 'p1.0 w0 KKKK....\np1.1 w0 .....KKK';
  expect(windowsOf(picture, 2, 6)).toMatchObject({ wall_ns: 4, kernel_ns: 3 });
  expect(windowsOf(picture, 4, 5)).toMatchObject({ wall_ns: 1, kernel_ns: 0 });
});

test('an open span counts up to the live horizon, and not at all once nobody can end it', () => {
  expect(windowsOf('p1.0 w0 ppKK!....', 0, 8, 6)).toMatchObject({ kernel_ns: 4, job_span_ns: 6 });
  expect(windowsOf('p1.0 w0 ppKK!....', 0, 8)).toMatchObject({ kernel_ns: 0, job_span_ns: 0 });
});

test('a break of kernel ≤ lock ≤ job ≤ wall is named', () => {
  const broken = { ...windowsOf('p1.0 w0 ppLKKKff'), kernel_ns: 5, wall_ns: 7 };
  expect(checkWindows(broken)).toEqual(['cpu0: kernel 5 ns is more than lock 4 ns', 'cpu0: job 8 ns is more than wall 7 ns']);
});

const interval = fc.tuple(fc.nat(60), fc.nat(20)).map(([startNs, length]): Interval => ({ startNs, endNs: startNs + length }));

test('union and sum equal a count of every instant', () => {
  fc.assert(
    fc.property(fc.array(interval, { maxLength: 12 }), fc.nat(80), fc.nat(80), (intervals, a, b) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      let union = 0;
      let sum = 0;
      for (let t = from; t < to; t++) {
        const covering = intervals.filter(({ startNs, endNs }) => startNs <= t && t < endNs).length;
        union += covering > 0 ? 1 : 0;
        sum += covering;
      }
      expect(computeUnion(intervals, from, to)).toBe(union);
      expect(computeSum(intervals, from, to)).toBe(sum);
    }),
  );
});

test('a meter that is folded anywhere says what all intervals at once say', () => {
  fc.assert(
    fc.property(
      fc.array(interval, { maxLength: 30 }),
      fc.array(fc.nat(90), { maxLength: 5 }),
      fc.array(fc.nat(90), { maxLength: 2 }),
      (intervals, folds, open) => {
        const meter = new WindowMeter();
        // As they close; a fold goes no further than what is still to come or open.
        const byEnd = [...intervals].sort((a, b) => a.endNs - b.endNs);
        const limits = [...folds].sort((a, b) => a - b);
        byEnd.forEach((each, index) => {
          meter.add(each.startNs, each.endNs);
          const pending = [...byEnd.slice(index + 1).map(({ startNs }) => startNs), ...open, each.endNs];
          const limit = limits.shift();
          if (limit !== undefined) meter.fold(Math.min(limit, ...pending));
        });
        const toNs = 100;
        const all = [...intervals, ...open.map((startNs) => ({ startNs, endNs: toNs }))];
        expect(meter.total(toNs, open)).toEqual({ union: computeUnion(all, 0, toNs), sum: computeSum(all, 0, toNs) });
      },
    ),
  );
});

test('whole seconds add up to the window', () => {
  fc.assert(
    fc.property(fc.array(interval, { maxLength: 20 }), (intervals) => {
      const meter = new WindowMeter();
      for (const { startNs, endNs } of intervals) meter.add(startNs * 1e8, endNs * 1e8);
      const seconds = meter.perSecond(0, 8, 8e9, []);
      expect(seconds.reduce((sum, ns) => sum + ns, 0)).toBe(meter.recent(0, 8e9, []).union);
      expect(seconds[3]).toBe(meter.recent(3e9, 4e9, []).union);
    }),
  );
});
