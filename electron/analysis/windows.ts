/**
 * The three windows of a device, and copies: job span, lock held, kernel running. Each is the measure of the union over workers and
 * streams, half-open, in integer ns; the plain sums stand beside them.
 *
 *   worker 0   ├──job──────────┤                 job_span     ├──────────────────────┤
 *   worker 1          ├──job─────────────┤  ▶    lock_held      ├────┤  ├──────┤
 *   kernels      ├─K─┤    ├─K──┤                 kernel_ns      ├─K─┤    ├─K──┤
 *
 * so kernel ≤ lock ≤ job ≤ wall for any number of workers.
 */
import type { DeviceWindows } from '../contract/run-report.ts';
import type { Nanoseconds } from '../contract/units.ts';
import type { Span, TrackedKind } from './spans.ts';

export const WINDOWS = ['kernel', 'lock', 'job', 'copy'] as const;
export type WindowKind = (typeof WINDOWS)[number];

export function isWindowKind(kind: TrackedKind): kind is WindowKind {
  return kind === 'kernel' || kind === 'lock' || kind === 'job' || kind === 'copy';
}

export interface Interval {
  startNs: Nanoseconds;
  endNs: Nanoseconds;
}

/** Measure of the union, clipped to [fromNs, toNs). Intervals in any order; empty and reversed ones count nothing. */
export function computeUnion(intervals: readonly Interval[], fromNs: Nanoseconds, toNs: Nanoseconds): Nanoseconds {
  const sorted = [...intervals].sort((a, b) => a.startNs - b.startNs);
  let covered = 0;
  let reached = fromNs;
  for (const { startNs, endNs } of sorted) {
    const start = Math.max(startNs, reached);
    const end = Math.min(endNs, toNs);
    if (end <= start) continue;
    covered += end - start;
    reached = end;
  }
  return covered;
}

/** Sum of the durations, each clipped to [fromNs, toNs). */
export function computeSum(intervals: readonly Interval[], fromNs: Nanoseconds, toNs: Nanoseconds): Nanoseconds {
  let sum = 0;
  for (const { startNs, endNs } of intervals) sum += Math.max(0, Math.min(endNs, toNs) - Math.max(startNs, fromNs));
  return sum;
}

/**
 * A device's windows over [fromNs, toNs). Closed spans count; open ones up to `horizonNs` if given (the live horizon), else not at all;
 * abandoned ones never.
 */
export function computeWindows(
  device: { device: string; kind: string },
  spans: Iterable<Span>,
  fromNs: Nanoseconds,
  toNs: Nanoseconds,
  horizonNs: Nanoseconds | null = null,
): DeviceWindows {
  const byKind: Record<WindowKind, Interval[]> = { kernel: [], lock: [], job: [], copy: [] };
  for (const span of spans) {
    if (span.device !== device.device || !isWindowKind(span.kind)) continue;
    const endNs = span.state === 'closed' ? span.endNs : span.state === 'open' ? horizonNs : null;
    if (endNs !== null) byKind[span.kind].push({ startNs: span.startNs, endNs });
  }
  const union = (kind: WindowKind) => computeUnion(byKind[kind], fromNs, toNs);
  const sum = (kind: WindowKind) => computeSum(byKind[kind], fromNs, toNs);
  return makeWindows(device, toNs - fromNs, union, sum);
}

export function makeWindows(
  device: { device: string; kind: string },
  wallNs: Nanoseconds,
  union: (kind: WindowKind) => Nanoseconds,
  sum: (kind: WindowKind) => Nanoseconds,
): DeviceWindows {
  return {
    device: device.device,
    kind: device.kind,
    wall_ns: Math.max(0, wallNs),
    job_span_ns: union('job'),
    lock_held_ns: union('lock'),
    kernel_ns: union('kernel'),
    copy_ns: union('copy'),
    job_span_sum_ns: sum('job'),
    lock_held_sum_ns: sum('lock'),
    kernel_sum_ns: sum('kernel'),
    copy_sum_ns: sum('copy'),
  };
}

/** What a log has of a device: job spans that began, that closed, those of them with a native call (`call_started`), lock windows placed. */
export interface LogSpans {
  begun: number;
  job: number;
  called: number;
  lock: number;
}

export function noLogSpans(): LogSpans {
  return { begun: 0, job: 0, called: 0, lock: 0 };
}

export function countLogSpan(counts: LogSpans, span: Span): void {
  if (span.kind === 'job' && span.state === 'open') counts.begun += 1;
  if (span.state !== 'closed') return;
  if (span.kind === 'lock') counts.lock += 1;
  if (span.kind !== 'job') return;
  counts.job += 1;
  if (span.called) counts.called += 1;
}

/** Lock windows of a log say something only where each job that closed has one; one that was given up before its native call has none to have. */
export function hasLockWindows(counts: Omit<LogSpans, 'begun'>): boolean {
  return counts.lock > 0 && counts.lock >= (counts.called > 0 ? counts.called : counts.job);
}

/** A log whose jobs all lack their ends does not tell job spans. */
export function hasJobSpans(counts: Pick<LogSpans, 'begun' | 'job'>): boolean {
  return counts.job > 0 || counts.begun === 0;
}

/** Windows that a log of another engine does not tell: null, not zero. It has no kernels and no copies. */
export function withoutUnrecorded(windows: DeviceWindows, counts: LogSpans): DeviceWindows {
  return {
    ...windows,
    kernel_ns: null,
    kernel_sum_ns: null,
    copy_ns: null,
    copy_sum_ns: null,
    ...(hasLockWindows(counts) ? {} : { lock_held_ns: null, lock_held_sum_ns: null }),
    ...(hasJobSpans(counts) ? {} : { job_span_ns: null, job_span_sum_ns: null }),
  };
}

/** Whether it is another engine's log, turned into events. */
export function isLog(hello: { engine: string }): boolean {
  return hello.engine === 'cuzk';
}

/** Which of kernel ≤ lock ≤ job ≤ wall does not hold, in words; empty when all do. A break means that events are missing or wrong. */
export function checkWindows(windows: DeviceWindows): string[] {
  const order = [
    ['kernel', windows.kernel_ns],
    ['lock', windows.lock_held_ns],
    ['job', windows.job_span_ns],
    ['wall', windows.wall_ns],
  ].filter((window): window is [string, number] => window[1] !== null);
  const broken: string[] = [];
  for (let index = 1; index < order.length; index++) {
    const [inner, innerNs] = order[index - 1] as (typeof order)[number];
    const [outer, outerNs] = order[index] as (typeof order)[number];
    if (innerNs > outerNs) broken.push(`${windows.device}: ${inner} ${innerNs} ns is more than ${outer} ${outerNs} ns`);
  }
  return broken;
}

/**
 * One window of one device, kept up to date: the closed intervals of the recent past one by one, all before as two numbers. Its cost
 * does not grow with the run.
 *
 *   ─────── folded: union and sum as numbers ───────┤ limit ├── intervals ──▶
 */
export class WindowMeter {
  #starts: number[] = [];
  #ends: number[] = [];
  #sorted = true;
  #limit: Nanoseconds;
  #union = 0;
  #sum = 0;

  /** Nothing before `fromNs` counts. */
  constructor(fromNs: Nanoseconds = 0) {
    this.#limit = fromNs;
  }

  /** A span closed. What lies before the fold limit is not counted any more: by the horizon's promise it cannot be. */
  add(startNs: Nanoseconds, endNs: Nanoseconds): void {
    if (endNs <= this.#limit || endNs <= startNs) return;
    const last = this.#starts.at(-1);
    if (last !== undefined && startNs < last) this.#sorted = false;
    this.#starts.push(startNs);
    this.#ends.push(endNs);
  }

  /** Folds what lies before `limitNs`. No span that is open, or comes later, may begin before it. */
  fold(limitNs: Nanoseconds): void {
    if (limitNs <= this.#limit) return;
    this.#sort();
    const measured = this.#measure(this.#limit, limitNs, []);
    this.#union += measured.union;
    this.#sum += measured.sum;
    this.#limit = limitNs;
    let kept = 0;
    for (let index = 0; index < this.#ends.length; index++) {
      if ((this.#ends[index] as number) <= limitNs) continue;
      this.#starts[kept] = this.#starts[index] as number;
      this.#ends[kept] = this.#ends[index] as number;
      kept += 1;
    }
    this.#starts.length = kept;
    this.#ends.length = kept;
  }

  /** From the beginning to `toNs`; `open`: starts of open spans, which count up to `toNs`. */
  total(toNs: Nanoseconds, open: readonly Nanoseconds[]): { union: Nanoseconds; sum: Nanoseconds } {
    const recent = this.#measure(this.#limit, toNs, open);
    return { union: this.#union + recent.union, sum: this.#sum + recent.sum };
  }

  /** Over [fromNs, toNs); exact where `fromNs` is not before the fold limit. */
  recent(fromNs: Nanoseconds, toNs: Nanoseconds, open: readonly Nanoseconds[]): { union: Nanoseconds; sum: Nanoseconds } {
    return this.#measure(Math.max(fromNs, this.#limit), toNs, open);
  }

  /** Union of each whole second of [fromNs, fromNs + seconds), in one pass. */
  perSecond(fromNs: Nanoseconds, seconds: number, toNs: Nanoseconds, open: readonly Nanoseconds[]): Nanoseconds[] {
    const buckets = new Array<number>(seconds).fill(0);
    this.#sweep(Math.max(fromNs, this.#limit), Math.min(toNs, fromNs + seconds * 1e9), open, (start, end) => {
      for (let at = start; at < end;) {
        const bucket = Math.floor((at - fromNs) / 1e9);
        const next = Math.min(end, fromNs + (bucket + 1) * 1e9);
        buckets[bucket] = (buckets[bucket] ?? 0) + next - at;
        at = next;
      }
    });
    return buckets;
  }

  #measure(fromNs: Nanoseconds, toNs: Nanoseconds, open: readonly Nanoseconds[]): { union: number; sum: number } {
    let union = 0;
    let sum = 0;
    this.#sweep(fromNs, toNs, open, (start, end) => (union += end - start));
    for (let index = 0; index < this.#starts.length; index++) {
      sum += Math.max(0, Math.min(this.#ends[index] as number, toNs) - Math.max(this.#starts[index] as number, fromNs));
    }
    for (const start of open) sum += Math.max(0, toNs - Math.max(start, fromNs));
    return { union, sum };
  }

  /** Disjoint covered stretches, in order. */
  #sweep(fromNs: Nanoseconds, toNs: Nanoseconds, open: readonly Nanoseconds[], covered: (start: number, end: number) => void): void {
    this.#sort();
    // Open spans reach to the end: only the earliest matters.
    const openFrom = Math.max(fromNs, open.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...open));
    let reached = fromNs;
    for (let index = 0; index < this.#starts.length; index++) {
      const start = Math.max(this.#starts[index] as number, reached);
      const end = Math.min(this.#ends[index] as number, toNs, openFrom);
      if (end <= start) continue;
      covered(start, end);
      reached = end;
    }
    if (openFrom < toNs) covered(openFrom, toNs);
  }

  #sort(): void {
    if (this.#sorted) return;
    const order = this.#starts.map((_, index) => index).sort((a, b) => (this.#starts[a] as number) - (this.#starts[b] as number));
    this.#starts = order.map((index) => this.#starts[index] as number);
    this.#ends = order.map((index) => this.#ends[index] as number);
    this.#sorted = true;
  }
}
