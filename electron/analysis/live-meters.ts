/** The windows of every device of a live run: of the run, of the last minute, second by second. Bounded: see {@link WindowMeter}. */
import type { LiveFigures } from '../contract/live.ts';
import type { DeviceWindows } from '../contract/run-report.ts';
import { NS_PER_S, type Nanoseconds } from '../contract/units.ts';
import type { Span } from './spans.ts';
import {
  countLogSpan, hasJobSpans, hasLockWindows, isWindowKind, makeWindows, noLogSpans, withoutUnrecorded, WindowMeter, WINDOWS, type LogSpans,
  type WindowKind,
} from './windows.ts'; // prettier-ignore

/** Intervals are kept one by one for the last minute and the second that it began in. */
const KEEP_NS = 61 * NS_PER_S;
const SPARKS = 60;

interface MeteredDevice {
  device: string;
  kind: string;
  /** A log of another engine has no kernels and no copies, and its lock windows only where each job span has one. */
  isLog: boolean;
  spans: LogSpans;
  meters: Record<WindowKind, WindowMeter>;
}

export class LiveMeters {
  readonly #devices = new Map<string, MeteredDevice>();

  addDevice(device: string, kind: string, isLog = false): MeteredDevice {
    let known = this.#devices.get(device);
    if (!known) {
      const meters = Object.fromEntries(WINDOWS.map((window) => [window, new WindowMeter()])) as Record<WindowKind, WindowMeter>;
      this.#devices.set(device, (known = { device, kind, isLog, spans: noLogSpans(), meters }));
    }
    return known;
  }

  /** A span that closed counts; others do not change a meter. */
  take(span: Span): void {
    if (span.device === null || !isWindowKind(span.kind)) return;
    const device = this.addDevice(span.device, '');
    countLogSpan(device.spans, span);
    if (span.state === 'closed' && span.endNs !== null) device.meters[span.kind].add(span.startNs, span.endNs);
  }

  fold(horizonNs: Nanoseconds, open: Iterable<Span>): void {
    let limit = horizonNs - KEEP_NS;
    for (const span of open) limit = Math.min(limit, span.startNs);
    for (const { meters } of this.#devices.values()) for (const window of WINDOWS) meters[window].fold(limit);
  }

  /** Over [fromNs, toNs); `fromNs` 0 is the run's start, anything else must be within the last minute. */
  windows(fromNs: Nanoseconds, toNs: Nanoseconds, open: readonly Span[]): DeviceWindows[] {
    return [...this.#devices.values()].map((device) => {
      const measured = Object.fromEntries(
        WINDOWS.map((window) => {
          const starts = startsOf(open, device.device, window);
          const meter = device.meters[window];
          return [window, fromNs === 0 ? meter.total(toNs, starts) : meter.recent(fromNs, toNs, starts)];
        }),
      ) as Record<WindowKind, { union: number; sum: number }>;
      const windows = makeWindows(
        device,
        toNs - fromNs,
        (window) => measured[window].union,
        (window) => measured[window].sum,
      );
      return device.isLog ? withoutUnrecorded(windows, device.spans) : windows;
    });
  }

  /** The last 60 whole seconds before `toNs`, oldest first; null before the run's start. */
  sparkline(toNs: Nanoseconds, open: readonly Span[]): LiveFigures['sparkline'] {
    const last = Math.floor(toNs / NS_PER_S);
    const first = last - SPARKS;
    return [...this.#devices.values()].map((device) => {
      const ratios = (window: WindowKind) => {
        const from = Math.max(0, first);
        const known = device.meters[window].perSecond(from * NS_PER_S, last - from, toNs, startsOf(open, device.device, window));
        return Array.from({ length: SPARKS }, (_, index) => {
          const second = first + index;
          return second < 0 ? null : (known[second - from] ?? 0) / NS_PER_S;
        });
      };
      const none = Array.from({ length: SPARKS }, () => null);
      const hasLock = !device.isLog || hasLockWindows(device.spans);
      const hasJob = !device.isLog || hasJobSpans(device.spans);
      const kernel = device.isLog ? none : ratios('kernel');
      return { device: device.device, kernel, lock: hasLock ? ratios('lock') : none, job: hasJob ? ratios('job') : none };
    });
  }
}

function startsOf(open: readonly Span[], device: string, window: WindowKind): Nanoseconds[] {
  return open.filter((span) => span.kind === window && span.device === device).map((span) => span.startNs);
}
