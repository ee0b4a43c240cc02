import { describe, expect, test } from 'vitest';
import type { DeviceWindows } from '../../../electron/contract/run-report.ts';
import { explainWindow, windowOf, windowText } from '../../../renderer/parts/windows.ts';

const none: DeviceWindows = {
  device: 'gpu0',
  kind: 'GPU',
  wall_ns: 10e9,
  job_span_ns: 0,
  lock_held_ns: null,
  kernel_ns: null,
  copy_ns: null,
  job_span_sum_ns: 0,
  lock_held_sum_ns: null,
  kernel_sum_ns: null,
  copy_sum_ns: null,
};

describe('a window that is not recorded', () => {
  test('has no measure and no share, and says so in words', () => {
    expect(windowOf(none, 'kernel')).toEqual({ ns: null, sumNs: null, ratio: null });
    expect(windowText(none, 'kernel')).toBe('not recorded');
    expect(explainWindow(none, 'lock', 'this run')).toMatch(/^Lock held, this run: not recorded on gpu0\./);
    expect(explainWindow(none, 'lock', 'this run')).not.toMatch(/\d %/);
  });

  test('is another thing than a window of length 0', () => {
    expect(windowOf(none, 'job')).toEqual({ ns: 0, sumNs: 0, ratio: 0 });
    expect(windowText(none, 'job')).toBe('0.0\u00a0%');
  });
});
