/** The three windows of a device in words: labels, definitions, ratios. The one place where the screens get them from. */
import type { DeviceWindows } from '../../electron/contract/run-report.ts';
import { formatDuration, formatPercent } from './durations.ts';

export const WINDOWS = [
  {
    key: 'kernel',
    label: 'kernels',
    name: 'Kernel running',
    definition: 'Share of the time in which a compute kernel ran on the device; copies do not count. High: the device really computed.',
  },
  {
    key: 'lock',
    label: 'lock held',
    name: 'Lock held',
    definition: 'Share of the time in which a worker held the device lock, so that nobody else could use the device.',
  },
  {
    key: 'job',
    label: 'job span',
    name: 'Job span',
    definition: 'Share of the time in which a worker had a partition, from picking it up until it was done with it, waits included.',
  },
] as const;

/** The field's own figure, shown for what it is beside the windows. */
export const LEGACY = {
  name: 'Legacy “GPU efficiency”',
  definition:
    'What the log called GPU efficiency: time with a partition picked up, over first pick-up to last end. Preparing, waiting and finishing count as busy.',
  explain:
    'Union of the spans from GPU_START to GPU_END (here: from picking up to putting down), divided by the last end minus the first start. It says nothing of kernels. With the plain sum of spans it goes above 100 % where two workers overlap.',
} as const;

export type WindowKey = (typeof WINDOWS)[number]['key'];

/** Said of a window for which the record has no events: an imported log may have no kernel lines, or no lock that can be placed. */
export const NOT_RECORDED = 'not recorded';

export interface WindowValue {
  /** Null: not recorded. */
  ns: number | null;
  sumNs: number | null;
  /** Null where it is not recorded, or where there is no time to divide by. */
  ratio: number | null;
}

export function windowOf(windows: DeviceWindows, key: WindowKey): WindowValue {
  const [ns, sumNs] = {
    kernel: [windows.kernel_ns, windows.kernel_sum_ns] as const,
    lock: [windows.lock_held_ns, windows.lock_held_sum_ns] as const,
    job: [windows.job_span_ns, windows.job_span_sum_ns] as const,
  }[key];
  return { ns, sumNs, ratio: ns !== null && windows.wall_ns > 0 ? ns / windows.wall_ns : null };
}

/** `46.3 %`, or that it is not recorded. */
export function windowText(windows: DeviceWindows, key: WindowKey): string {
  const { ns, ratio } = windowOf(windows, key);
  return ns === null ? NOT_RECORDED : `${formatPercent(ratio)}\u00a0%`;
}

/** What a reader sees on hover: the definition and the measure behind the figure. */
export function explainWindow(windows: DeviceWindows, key: WindowKey, span: string): string {
  const words = WINDOWS.find((window) => window.key === key)!;
  const { ns, sumNs, ratio } = windowOf(windows, key);
  if (ns === null)
    return `${words.name}, ${span}: not recorded on ${windows.device}. The record has no events from which it could be measured; that is not the same as none. ${words.definition}`;
  return `${words.name}, ${span}: ${formatPercent(ratio)} % = ${formatDuration(ns)} of ${formatDuration(windows.wall_ns)} on ${windows.device}. ${words.definition} Union over workers and streams; their plain sum is ${formatDuration(sumNs)}.`;
}

/** `last 60 s`, or `first 23 s` while the run is younger. */
export function trailingLabel(windows: DeviceWindows | undefined): string {
  const seconds = windows ? Math.round(windows.wall_ns / 1e9) : 60;
  return seconds >= 60 ? 'last 60 s' : `first ${seconds} s`;
}
