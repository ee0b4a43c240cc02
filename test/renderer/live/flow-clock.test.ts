import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FlowClock } from '../../../renderer/live/flow-clock.ts';

test('between messages it flows with the page, and small differences are made up for without a jump', () => {
  const clock = new FlowClock();
  clock.set(10e9, 0);
  expect(clock.read(100e6)).toBe(10.1e9);
  clock.set(10.2e9, 100e6);
  const shown = [150, 200, 1000, 1350, 2000].map((ms) => clock.read(ms * 1e6));
  expect(shown[0]).toBe(10.154e9);
  expect(shown.at(-1)).toBe(12.1e9);
});

test('it never runs backwards, whatever the host says', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ passMs: fc.integer({ min: 0, max: 900 }), errorMs: fc.integer({ min: -5000, max: 5000 }) }), { maxLength: 80 }),
      (steps) => {
        const clock = new FlowClock();
        let page = 0;
        let last = -Infinity;
        for (const { passMs, errorMs } of steps) {
          page += passMs * 1e6;
          clock.set(page + 20e9 + errorMs * 1e6, page);
          const shown = clock.read(page);
          expect(shown).toBeGreaterThanOrEqual(last);
          last = shown;
        }
      },
    ),
  );
});

test('after a long absence it is at once where the run is', () => {
  const clock = new FlowClock();
  clock.set(10e9, 0);
  clock.set(400e9, 20e9);
  expect(clock.read(20e9)).toBe(400e9);
});
