/**
 * A run as one report, from its events in the order of the file. The batch counterpart of live-view.ts: over the same events and the
 * same horizon both say the same.
 */
import {
  RUN_REPORT_SCHEMA, type DeviceWindows, type ProofReport, type RunReport, type RunState, type RunSummary,
} from '../contract/run-report.ts'; // prettier-ignore
import type { Backend, Scheduler } from '../contract/scheduler.ts';
import type { EventOf, TimelineEvent } from '../contract/timeline-events.ts';
import { NS_PER_S, type Nanoseconds } from '../contract/units.ts';
import { ProofBook, type ProofEntry } from './proof-book.ts';
import { RunAxis } from './run-axis.ts';
import { SETTLE_EVERY, SETTLE_LAG_NS, SpanTracker, type Span } from './spans.ts';
import { computeMedian } from './statistics.ts';
import { computeSecondsPerProof } from './throughput.ts';
import {
  countLogSpan, isLog, isWindowKind, makeWindows, noLogSpans, withoutUnrecorded, WindowMeter, WINDOWS, type LogSpans, type WindowKind,
} from './windows.ts'; // prettier-ignore

/** Raised whenever the same events would give another report. */
export const ANALYSIS_VERSION = 2;

/** What is known of a run beside its events. */
export interface RunFacts {
  run: string;
  uid: string;
  state: RunState;
  endedBy: string | null;
  engine: string;
  backend: Backend;
  emulate: string | null;
  scheduler: Scheduler | null;
  /** Settings as another engine's log has them. */
  found: Record<string, string>;
  importedFrom: string | null;
  lost: number;
  unparsed: number;
  peakRssBytes: number | null;
  processes: RunReport['processes'];
}

interface Device {
  device: string;
  kind: string;
  isLog: boolean;
  spans: LogSpans;
  meters: Record<WindowKind, WindowMeter>;
}

export class RunReportBuilder {
  readonly #book = new ProofBook(true);
  readonly #devices = new Map<string, Device>();
  #axis: RunAxis | null = null;
  #tracker: SpanTracker | null = null;
  #offset = 0;
  #process = -1;
  #nextId = 0;
  #count = 0;
  #lastNs = 0;
  #endNs: Nanoseconds | null = null;

  /** The next process of the run. `originT`: the first one's `run_started`. Open work of the process before is given up. */
  beginProcess(hello: EventOf<'hello'>, originT: Nanoseconds): void {
    this.#endProcess();
    this.#axis ??= new RunAxis(hello, originT);
    this.#offset = this.#axis.offsetOf(hello);
    this.#process += 1;
    const process = this.#process;
    this.#tracker = new SpanTracker(this.#offset, (span) => this.#takeSpan(span, process), () => this.#nextId++, isLog(hello)); // prettier-ignore
    this.#takeHello(hello);
  }

  take(event: TimelineEvent): void {
    const at = event.t + this.#offset;
    this.#count += 1;
    if (at > this.#lastNs) this.#lastNs = at;
    if (event.e === 'run_ended') this.#endNs = at;
    else if (event.e === 'run_started') this.#endNs = null;
    this.#tracker?.take(event);
    this.#book.take(event, at, this.#process);
    if (this.#count % SETTLE_EVERY === 0) this.#settle();
  }

  /** `horizonNs`: of a run that still lasts, how far everything is known; open spans count up to it. Null for one that is over. */
  build(facts: RunFacts, horizonNs: Nanoseconds | null): RunReport {
    const open: Span[] = [];
    if (horizonNs === null) this.#endProcess();
    else {
      this.#tracker?.settle(horizonNs);
      open.push(...(this.#tracker?.openSpans() ?? []));
    }
    const wallNs = horizonNs ?? this.#endNs ?? this.#lastNs;
    const entries = [...this.#book.entries.values()];
    const ends = endsOfValid(entries);
    const perProof = computeSecondsPerProof(ends, facts.scheduler?.proofs_in_flight ?? mostAtOnce(entries));
    const latencies = entries.flatMap((entry) => latencyOf(entry) ?? []);
    const median = computeMedian(latencies);
    return {
      schema: RUN_REPORT_SCHEMA,
      run: facts.run,
      uid: facts.uid,
      state: facts.state,
      ended_by: facts.endedBy,
      engine: facts.engine,
      backend: facts.backend,
      emulate: facts.emulate,
      scheduler: facts.scheduler,
      found: facts.found,
      imported_from: facts.importedFrom,
      started_wall_ns: this.#axis?.startedWallNs ?? '0',
      wall_ns: wallNs,
      s_per_proof: perProof.value,
      s_per_proof_detail: perProof,
      latency_s: median === null ? null : median / NS_PER_S,
      devices: [...this.#devices.values()].map((device) => windowsOf(device, wallNs, open)),
      proofs: entries.map((entry) => reportProof(entry, facts.state)),
      events: { count: this.#count, lost: facts.lost, unparsed: facts.unparsed },
      peak_rss_bytes: facts.peakRssBytes,
      processes: facts.processes,
    };
  }

  #endProcess(): void {
    this.#tracker?.endProcess();
    if (this.#process >= 0) this.#book.endProcess(this.#process, this.#lastNs);
    this.#tracker = null;
  }

  #takeHello(hello: EventOf<'hello'>): void {
    for (const { device, kind } of hello.devices as { device: string; kind: string }[]) this.#device(device, kind, isLog(hello));
  }

  #device(device: string, kind = '', isLog = false): Device {
    let known = this.#devices.get(device);
    if (!known) {
      const meters = Object.fromEntries(WINDOWS.map((window) => [window, new WindowMeter()])) as Record<WindowKind, WindowMeter>;
      this.#devices.set(device, (known = { device, kind, isLog, spans: noLogSpans(), meters }));
    }
    return known;
  }

  #takeSpan(span: Span, process: number): void {
    this.#book.takeSpan(span, process);
    if (span.device === null || !isWindowKind(span.kind)) return;
    const device = this.#device(span.device);
    countLogSpan(device.spans, span);
    if (span.state === 'closed') device.meters[span.kind].add(span.startNs, span.endNs ?? span.startNs);
  }

  /** Draws the conclusions that waited, so that they do not pile up. */
  #settle(): void {
    this.#tracker?.settle(this.#lastNs - SETTLE_LAG_NS);
  }
}

/** Valid proofs' ends, ascending. */
export function endsOfValid(entries: Iterable<ProofEntry>): Nanoseconds[] {
  const ends: Nanoseconds[] = [];
  for (const entry of entries) if (entry.outcome === 'valid' && entry.endedNs !== null) ends.push(entry.endedNs);
  return ends.sort((a, b) => a - b);
}

/** Most proofs in work at the same time: stands in for the setting where it is not recorded. At least 1. */
export function mostAtOnce(entries: Iterable<ProofEntry>): number {
  const steps: [at: Nanoseconds, by: number][] = [];
  for (const { acceptedNs, endedNs } of entries) {
    if (acceptedNs === null) continue;
    steps.push([acceptedNs, 1], [endedNs ?? Number.POSITIVE_INFINITY, -1]);
  }
  let now = 0;
  let most = 1;
  for (const [, by] of steps.sort((a, b) => a[0] - b[0] || a[1] - b[1])) most = Math.max(most, (now += by));
  return most;
}

/** Accepted → durable, of a valid proof; else null. */
export function latencyOf(entry: ProofEntry): Nanoseconds | null {
  if (entry.outcome !== 'valid' || entry.endedNs === null || entry.acceptedNs === null) return null;
  return entry.endedNs - entry.acceptedNs;
}

function windowsOf(device: Device, toNs: Nanoseconds, open: readonly Span[]): DeviceWindows {
  const totals = Object.fromEntries(
    WINDOWS.map((window) => {
      const starts = open.filter((span) => span.kind === window && span.device === device.device).map((span) => span.startNs);
      return [window, device.meters[window].total(toNs, starts)];
    }),
  ) as Record<WindowKind, { union: number; sum: number }>;
  const windows = makeWindows(
    device,
    toNs,
    (window) => totals[window].union,
    (window) => totals[window].sum,
  );
  return device.isLog ? withoutUnrecorded(windows, device.spans) : windows;
}

function reportProof(entry: ProofEntry, runState: RunState): ProofReport {
  const over = runState !== 'running';
  return {
    id: entry.proof,
    attempt: entry.attempt,
    name: entry.name,
    circuit: entry.circuit,
    outcome: entry.outcome ?? (over ? 'interrupted' : null),
    latency_ns: entry.endedNs === null || entry.acceptedNs === null || entry.returned ? null : entry.endedNs - entry.acceptedNs,
    sha256: entry.sha256,
    path: entry.file,
    error: entry.outcome === 'valid' ? null : entry.error,
    partitions: [...entry.partitions.values()]
      .sort((a, b) => a.partition - b.partition)
      .map(({ partition, outcome, device, worker, stages, kernels }) => ({
        partition,
        attempt: entry.attempt,
        outcome,
        device,
        worker,
        stages,
        kernels: kernels.sort((a, b) => a.start_ns - b.start_ns),
      })),
  };
}

/** The report in one row of a list. Ratios are those of the device whose kernels ran longest. */
export function summarizeReport(report: RunReport): RunSummary {
  const busy = (device: DeviceWindows) => [device.kernel_ns ?? device.lock_held_ns ?? 0, device.job_span_ns ?? 0] as const;
  const busiest = report.devices.reduce<DeviceWindows | null>((best, device) => {
    if (!best) return device;
    const [inner, outer] = busy(best);
    const [otherInner, otherOuter] = busy(device);
    return inner > otherInner || (inner === otherInner && outer >= otherOuter) ? best : device;
  }, null);
  const ratio = (ns: number | null | undefined) =>
    ns == null || !busiest || busiest.wall_ns === 0 || !busiest.job_span_ns ? null : ns / busiest.wall_ns;
  const count = (outcome: string | null) => report.proofs.filter((proof) => proof.outcome === outcome).length;
  return {
    run: report.run,
    state: report.state,
    ended_by: report.ended_by,
    engine: report.engine,
    backend: report.backend,
    scheduler: report.scheduler,
    imported_from: report.imported_from,
    started_wall_ns: report.started_wall_ns,
    wall_ns: report.wall_ns,
    proofs: {
      valid: count('valid'),
      invalid: count('invalid'),
      failed: count('failed'),
      interrupted: count('interrupted'),
      running: count(null),
    },
    s_per_proof: report.s_per_proof,
    kernel_ratio: ratio(busiest?.kernel_ns),
    lock_held_ratio: ratio(busiest?.lock_held_ns),
    job_span_ratio: ratio(busiest?.job_span_ns),
    lost: report.events.lost,
    unparsed: report.events.unparsed,
  };
}
