import { expect, test } from 'vitest';
import { PARTITION_STATES } from '../../../electron/contract/live.ts';
import { STATE_LOOKS, summarisePartitions } from '../../../renderer/parts/partition-state.ts';
import { explainWindow, trailingLabel, windowOf } from '../../../renderer/parts/windows.ts';

test('every partition state has a shape of its own, so that colour is never alone', () => {
  const shapes = PARTITION_STATES.map((state) => STATE_LOOKS[state].glyph);
  expect(new Set(shapes).size).toBe(PARTITION_STATES.length);
});

test('a summary names what is under way, nearest to the device first', () => {
  expect(
    summarisePartitions(['valid', 'valid', 'finish', 'device', 'waiting', 'prepare', 'queued', 'synthesis', 'permit', 'pending']),
  ).toEqual({
    done: 2,
    bad: 0,
    of: 10,
    underWay: 'device 1 · finish 1 · prepare 2 · queued 1 · synthesis 1 · permit 1',
  });
});

const windows = {
  device: 'gpu0', kind: 'RTX', wall_ns: 60e9, job_span_ns: 54e9, lock_held_ns: 42e9, kernel_ns: 27e9, copy_ns: 1e9,
  job_span_sum_ns: 98e9, lock_held_sum_ns: 42e9, kernel_sum_ns: 27e9, copy_sum_ns: 1e9,
}; // prettier-ignore

test('a window is its union over wall; its explanation has definition, measure and sum', () => {
  expect(windowOf(windows, 'job')).toEqual({ ns: 54e9, sumNs: 98e9, ratio: 0.9 });
  expect(windowOf({ ...windows, wall_ns: 0 }, 'job').ratio).toBeNull();
  expect(explainWindow(windows, 'kernel', 'last 60 s').replaceAll('\u00a0', ' ')).toMatch(
    /^Kernel running, last 60 s: 45\.0 % = 27\.0 s of 1 min 0 s on gpu0\. .*plain sum is 27\.0 s\.$/,
  );
  expect([trailingLabel(windows), trailingLabel({ ...windows, wall_ns: 23.4e9 }), trailingLabel(undefined)]).toEqual([
    'last 60 s',
    'first 23 s',
    'last 60 s',
  ]);
});
