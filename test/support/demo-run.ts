/**
 * Live messages, run lists and run reports of a simulated run, at any instant of it: what the screens are developed, tested and
 * photographed with. Deterministic; the clock is the caller's. Not part of the product.
 */
import {
  STAGES,
  RUN_REPORT_SCHEMA,
  type DeviceWindows,
  type PartitionReport,
  type RunReport,
  type RunSummary,
  type Stage,
  type StageSpan,
} from '../../electron/contract/run-report.ts';
import type { HostStatus, Lane, LiveFigures, LiveMessage, LiveProof, LiveSnapshot, LiveSpan } from '../../electron/contract/live.ts';
import { resolveScheduler, type Backend, type SchedulerSpec } from '../../electron/contract/scheduler.ts';
import { makeDemoEvents, type DemoEvents } from './demo-events.ts';
import { createDemoIdle, type DemoIdle } from './demo-idle.ts';
import { simulate, type DemoOptions, type DemoProof, type DemoSpan, type DemoTimeline } from './demo-simulation.ts';

export const DEMO_MACHINE = { cpus: 8, memoryBytes: 32 * 2 ** 30, hostname: 'prover-1' };
/** 2026-11-30 08:00:00 UTC. */
export const DEMO_STARTED_MS = Date.UTC(2026, 10, 30, 8, 0, 0);

export interface DemoRunOptions extends Partial<Omit<DemoOptions, 'scheduler'>> {
  run?: string;
  backend?: Backend;
  spec?: SchedulerSpec;
  /** A stretch of the run in which events were lost. */
  lost?: { device: string | null; startNs: number; endNs: number; count: number };
}

export interface DemoRun {
  run: string;
  backend: Backend;
  timeline: DemoTimeline;
  lanes: Lane[];
  statusAt(ns: number): HostStatus;
  snapshotAt(ns: number, batch?: number): LiveSnapshot;
  /** What became known in (fromNs, toNs]. */
  batchBetween(fromNs: number, toNs: number, batch: number, withFigures?: boolean): LiveMessage;
  /** Causes, gaps and what-if, computed by the product's analysis from the events of the run. */
  idle: DemoIdle;
  events: DemoEvents;
  reportAt(ns: number): RunReport;
  summaryAt(ns: number): RunSummary;
}

export function createDemoRun(options: DemoRunOptions = {}): DemoRun {
  const backend = options.backend ?? 'cpu';
  const devices = options.devices ?? [backend === 'cuda' ? 'gpu0' : backend === 'cpu' ? 'cpu0' : 'emu0'];
  const scheduler = resolveScheduler(options.spec ?? {}, DEMO_MACHINE);
  const timeline = simulate({
    seed: options.seed ?? 7,
    devices,
    scheduler,
    proofs: options.proofs ?? 24,
    partitions: options.partitions ?? 10,
    seconds: options.seconds ?? { synthesis: 3.9, prepare: 0.22, kernels: 0.62, finish: 0.3 },
    failing: options.failing ?? [],
    invalid: options.invalid ?? [],
    permitBytes: options.permitBytes ?? 1.5 * 2 ** 30,
  });
  const run = options.run ?? 'r-20261130-080000';
  const lanes = buildLanes(timeline);
  const unknown = options.lost ? [{ device: options.lost.device, startNs: options.lost.startNs, endNs: options.lost.endNs }] : [];
  const events = makeDemoEvents(timeline, run, options.lost ?? null);
  const idle = createDemoIdle(run, timeline, events);
  const figures = (ns: number) => figuresAt(timeline, ns, idle);
  const endedAt = (ns: number) => (ns >= timeline.endNs ? timeline.endNs : null);

  const toSpan = (span: DemoSpan, ns: number): LiveSpan => {
    const { device: _device, ...rest } = span;
    return { ...rest, endNs: span.endNs <= ns ? span.endNs : null };
  };

  return {
    run,
    backend,
    timeline,
    lanes,
    idle,
    events,
    statusAt: (ns) => ({
      version: '0.1.0',
      dataFolder: '/home/operator/.local/share/interlock',
      readOnly: null,
      machine: DEMO_MACHINE,
      prover: { phase: 'ready', pid: 4711, backend, detail: null, sinceMs: DEMO_STARTED_MS - 4000 },
      run: endedAt(ns) === null ? { run, scheduler, backend, emulate: null, startedWallMs: DEMO_STARTED_MS } : null,
      switching: null,
      queue: {
        waiting: Math.max(0, timeline.options.proofs - timeline.proofs.filter((proof) => proof.acceptedNs <= ns).length),
        inProver: timeline.proofs.filter((proof) => proof.acceptedNs <= ns && proof.endedNs > ns).length,
        held: null,
      },
      ingest: { lagNs: 40_000_000, lost: options.lost?.count ?? 0, unparsed: 0, failing: null },
      notices: [],
    }),
    snapshotAt: (ns, batch = 0) => ({
      run,
      batch,
      horizonNs: Math.min(ns, timeline.endNs),
      nowNs: ns + 180_000_000,
      endedNs: endedAt(ns),
      lanes,
      spans: timeline.spans.filter((span) => span.startNs <= ns && span.endNs > ns - 90e9).map((span) => toSpan(span, ns)),
      unknown,
      proofs: proofsAt(timeline, ns).slice(-12),
      figures: figures(ns),
    }),
    batchBetween: (fromNs, toNs, batch, withFigures = true) => ({
      kind: 'batch',
      run,
      batch,
      horizonNs: Math.min(toNs, timeline.endNs),
      nowNs: toNs + 180_000_000,
      endedNs: endedAt(toNs),
      lanes: [],
      spans: timeline.spans
        .filter(
          (span) => (span.startNs > fromNs && span.startNs <= toNs) || (span.startNs <= toNs && span.endNs > fromNs && span.endNs <= toNs),
        )
        .map((span) => toSpan(span, toNs)),
      unknown: [],
      proofs: proofsAt(timeline, toNs).filter((proof) => (proof.endedNs ?? toNs) > fromNs),
      figures: withFigures ? figures(toNs) : null,
    }),
    reportAt: (ns) => buildReport(run, backend, timeline, ns, options.lost?.count ?? 0),
    summaryAt: (ns) => toSummary(buildReport(run, backend, timeline, ns, options.lost?.count ?? 0)),
  };
}

function buildLanes({ options }: DemoTimeline): Lane[] {
  const lanes: Lane[] = [];
  for (const device of options.devices) {
    lanes.push({ key: `kernel:${device}:0`, kind: 'kernel', device, index: 0, label: `${device} kernels` });
    lanes.push({ key: `copy:${device}:0`, kind: 'copy', device, index: 0, label: `${device} copies` });
    lanes.push({ key: `lock:${device}:0`, kind: 'lock', device, index: 0, label: `${device} lock` });
    for (let index = 0; index < options.scheduler.gpu_workers; index++) {
      lanes.push({ key: `worker:${device}:${index}`, kind: 'worker', device, index, label: `worker ${index}` });
    }
  }
  for (let index = 0; index < options.scheduler.synthesis_workers; index++) {
    lanes.push({ key: `synthesis:${index}`, kind: 'synthesis', device: null, index, label: `synthesis ${index}` });
  }
  return lanes;
}

/** Measure of the union of spans, clipped to [fromNs, toNs). */
export function unionNs(spans: readonly { startNs: number; endNs: number }[], fromNs: number, toNs: number): number {
  let covered = 0;
  let reached = fromNs;
  for (const span of [...spans].sort((a, b) => a.startNs - b.startNs)) {
    const start = Math.max(span.startNs, reached);
    const end = Math.min(span.endNs, toNs);
    if (end <= start) continue;
    covered += end - start;
    reached = end;
  }
  return covered;
}

function windowsBetween({ options, spans }: DemoTimeline, fromNs: number, toNs: number): DeviceWindows[] {
  const near = spans.filter((span) => span.startNs < toNs && span.endNs > fromNs);
  return options.devices.map((device) => {
    const pick = (test: (span: DemoSpan) => boolean) => near.filter((span) => span.device === device && test(span));
    const sum = (some: DemoSpan[]) => some.reduce((total, span) => total + Math.min(span.endNs, toNs) - Math.max(span.startNs, fromNs), 0);
    const job = pick((span) => span.lane.startsWith('worker:'));
    const lock = pick((span) => span.kind === 'lock');
    const lockNow = [...lock, ...pick((span) => span.kind === 'device')];
    const kernel = pick((span) => span.kind === 'kernel');
    const copy = pick((span) => span.kind === 'copy');
    return {
      device,
      kind: device.startsWith('gpu') ? 'NVIDIA RTX 4090' : device.startsWith('cpu') ? 'CPU, 8 threads' : 'emulated',
      wall_ns: toNs - fromNs,
      job_span_ns: unionNs(job, fromNs, toNs),
      lock_held_ns: unionNs(lockNow, fromNs, toNs),
      kernel_ns: unionNs(kernel, fromNs, toNs),
      copy_ns: unionNs(copy, fromNs, toNs),
      job_span_sum_ns: sum(job),
      lock_held_sum_ns: sum(lock),
      kernel_sum_ns: sum(kernel),
      copy_sum_ns: sum(copy),
    };
  });
}

function proofsAt(timeline: DemoTimeline, ns: number): LiveProof[] {
  return timeline.proofs
    .filter((proof) => proof.acceptedNs <= ns)
    .map((proof) => {
      const done = proof.endedNs <= ns;
      return {
        proof: proof.proof,
        attempt: 1,
        name: null,
        circuit: 'sha256',
        state: done ? proof.outcome : 'running',
        partitions: proof.states.map((history) => history.findLast((entry) => entry.atNs <= ns)?.state ?? 'pending'),
        acceptedNs: proof.acceptedNs,
        endedNs: done ? proof.endedNs : null,
        etaS: done || ns < 20e9 ? null : Math.max(0.5, (proof.endedNs - ns) / 1e9),
        error: done ? errorOf(proof) : null,
      };
    });
}

function errorOf(proof: DemoProof): string | null {
  if (proof.outcome === 'failed') return 'partition 2: the device stage failed (out of memory while allocating 1.5 GiB)';
  if (proof.outcome === 'invalid') return 'partition 4: the proof does not verify';
  return null;
}

export function secondsPerProof(timeline: DemoTimeline, ns: number) {
  const j = timeline.options.scheduler.proofs_in_flight;
  const ends = timeline.proofs
    .filter((proof) => proof.outcome === 'valid' && proof.endedNs <= ns)
    .map((proof) => proof.endedNs)
    .sort((a, b) => a - b);
  const n = ends.length;
  if (n < 2 * j + 1) return { value: null, n, low: null, high: null, too_few_below: 2 * j + 1 };
  const value = (ends[n - 1]! - ends[j - 1]!) / (n - j) / 1e9;
  return { value, n, low: value * 0.96, high: value * 1.04, too_few_below: 2 * j + 1 };
}

export function figuresAt(timeline: DemoTimeline, at: number, idle: DemoIdle): LiveFigures {
  const ns = Math.min(at, timeline.endNs);
  const { options } = timeline;
  const valid = timeline.proofs.filter((proof) => proof.outcome === 'valid' && proof.endedNs <= ns).sort((a, b) => a.endedNs - b.endedNs);
  const latencies = valid.map((proof) => (proof.endedNs - proof.acceptedNs) / 1e9);
  const sorted = [...latencies].sort((a, b) => a - b);
  const used = proofsAt(timeline, ns)
    .flatMap((proof) => proof.partitions)
    .filter((state) => !['pending', 'permit', 'valid', 'invalid', 'failed', 'cancelled'].includes(state)).length;
  const count = (outcome: string) => timeline.proofs.filter((proof) => proof.endedNs <= ns && proof.outcome === outcome).length;
  const second = Math.floor(ns / 1e9);
  const perSecond = Array.from({ length: 60 }, (_, index) => {
    const from = (second - 60 + index) * 1e9;
    return from < 0 ? null : windowsBetween(timeline, from, from + 1e9);
  });
  return {
    last60s: windowsBetween(timeline, Math.max(0, ns - 60e9), ns),
    run: windowsBetween(timeline, 0, ns),
    idle: ns > 0 ? idle.liveAt(ns) : [],
    sparkline: options.devices.map((device, index) => ({
      device,
      kernel: perSecond.map((windows) => windows && (windows[index]!.kernel_ns ?? 0) / 1e9),
      lock: perSecond.map((windows) => windows && (windows[index]!.lock_held_ns ?? 0) / 1e9),
      job: perSecond.map((windows) => windows && (windows[index]!.job_span_ns ?? 0) / 1e9),
    })),
    sPerProof: secondsPerProof(timeline, ns),
    latency: { lastS: latencies.at(-1) ?? null, medianS: sorted[Math.floor(sorted.length / 2)] ?? null, n: latencies.length },
    lastLatenciesS: latencies.slice(-10),
    memory: {
      rssBytes: 2.1 * 2 ** 30 + used * options.permitBytes * 0.95,
      peakRssBytes: 13.9 * 2 ** 30,
      budgetBytes: options.scheduler.memory_budget_bytes,
      permitBytes: used * options.permitBytes,
    },
    permits: { used, total: options.scheduler.partitions_in_flight },
    counts: {
      valid: count('valid'),
      invalid: count('invalid'),
      failed: count('failed'),
      running: timeline.proofs.filter((proof) => proof.acceptedNs <= ns && proof.endedNs > ns).length,
    },
    params: [{ circuit: 'sha256', is: 'resident' }],
  };
}

function medianLatencyS(timeline: DemoTimeline, ns: number): number | null {
  const latencies = timeline.proofs
    .filter((proof) => proof.outcome === 'valid' && proof.endedNs <= ns)
    .map((proof) => (proof.endedNs - proof.acceptedNs) / 1e9)
    .sort((a, b) => a - b);
  return latencies[Math.floor(latencies.length / 2)] ?? null;
}

function buildReport(run: string, backend: Backend, timeline: DemoTimeline, at: number, lost: number): RunReport {
  const ns = Math.min(at, timeline.endNs);
  const ended = ns >= timeline.endNs;
  const known = timeline.proofs.filter((proof) => proof.acceptedNs <= ns);
  const figures = secondsPerProof(timeline, ns);
  return {
    schema: RUN_REPORT_SCHEMA,
    run,
    uid: '0d6b1f0e-6a52-4a0e-9a3c-1d2f3a4b5c6d',
    state: ended ? 'finished' : 'running',
    ended_by: ended ? 'drained' : null,
    engine: 'builtin',
    backend,
    emulate: null,
    scheduler: timeline.options.scheduler,
    found: {},
    imported_from: null,
    started_wall_ns: `${DEMO_STARTED_MS}000000`,
    wall_ns: ns,
    s_per_proof: figures.value,
    s_per_proof_detail: figures,
    latency_s: medianLatencyS(timeline, ns),
    devices: windowsBetween(timeline, 0, ns),
    proofs: known.map((proof) => {
      const done = proof.endedNs <= ns;
      const error = done ? errorOf(proof) : null;
      return {
        id: proof.proof,
        attempt: 1,
        name: null,
        circuit: 'sha256',
        outcome: done ? proof.outcome : null,
        latency_ns: done ? proof.endedNs - proof.acceptedNs : null,
        sha256: done && proof.outcome === 'valid' ? hexOf(proof.proof) : null,
        path: done && proof.outcome === 'valid' ? `/home/operator/.local/share/interlock/proofs/${proof.proof}.json` : null,
        error: error ? { code: proof.outcome === 'invalid' ? 'proof_invalid' : 'proof_failed', message: error } : null,
        partitions: proof.states.map((_, partition) => partitionReport(timeline, proof, partition, ns)),
      };
    }),
    events: { count: timeline.spans.filter((span) => span.startNs <= ns).length * 2, lost, unparsed: 0 },
    peak_rss_bytes: 13.9 * 2 ** 30,
    processes: [
      { process: 'f1c2a9d0', started_wall_ns: `${DEMO_STARTED_MS - 4000}000000`, ended: ended ? 'drained' : null, exit: ended ? 0 : null },
    ],
  };
}

function partitionReport(timeline: DemoTimeline, proof: DemoProof, partition: number, ns: number): PartitionReport {
  const mine = timeline.spans.filter((span) => span.proof === proof.proof && span.partition === partition && span.startNs <= ns);
  const history = proof.states[partition]!;
  const close = (startNs: number | undefined, endNs: number | undefined): StageSpan | undefined =>
    startNs === undefined ? undefined : { start_ns: startNs, end_ns: endNs !== undefined && endNs <= ns ? endNs : null };
  const of = (kind: string) => mine.find((span) => span.kind === kind);
  const span = (kind: string) => close(of(kind)?.startNs, of(kind)?.endNs);
  const queuedNs = history.find((entry) => entry.state === 'queued')?.atNs;
  const first = Math.min(...mine.filter((one) => one.lane.startsWith('worker:')).map((one) => one.startNs));
  const last = Math.max(...mine.filter((one) => one.lane.startsWith('worker:')).map((one) => one.endNs));
  const all: Partial<Record<Stage, StageSpan | undefined>> = {
    permit: close(proof.acceptedNs, of('synthesis')?.startNs),
    synthesis: span('synthesis'),
    queue: close(queuedNs !== undefined && queuedNs <= ns ? queuedNs : undefined, Number.isFinite(first) ? first : undefined),
    job: Number.isFinite(first) ? close(first, last) : undefined,
    lock_wait: span('waiting'),
    prepare: span('prepare'),
    lock: span('lock'),
    device: span('device'),
    finish: span('finish'),
  };
  const stages: Partial<Record<Stage, StageSpan>> = {};
  for (const stage of STAGES) {
    const found = all[stage];
    if (found) stages[stage] = found;
  }
  const end = history.findLast((entry) => entry.atNs <= ns)?.state;
  const place = proof.places[partition];
  const started = Number.isFinite(first);
  return {
    partition,
    attempt: 1,
    outcome: end === 'valid' || end === 'invalid' || end === 'failed' || end === 'cancelled' ? end : null,
    device: started ? (place?.device ?? null) : null,
    worker: started ? (place?.worker ?? null) : null,
    stages,
    kernels: mine
      .filter((one) => one.kind === 'kernel')
      .map((one) => ({ kernel: one.detail ?? 'kernel', start_ns: one.startNs, end_ns: one.endNs <= ns ? one.endNs : null })),
  };
}

function hexOf(text: string): string {
  let hash = 0x811c9dc5;
  return Array.from({ length: 8 }, (_, index) => {
    for (const char of text + String(index)) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0;
    return hash.toString(16).padStart(8, '0');
  }).join('');
}

function toSummary(report: RunReport): RunSummary {
  const count = (outcome: string | null) => report.proofs.filter((proof) => proof.outcome === outcome).length;
  const busiest = [...report.devices].sort((a, b) => (b.kernel_ns ?? 0) - (a.kernel_ns ?? 0))[0];
  const ratio = (ns: number | null | undefined) => (ns == null || report.wall_ns === 0 ? null : ns / report.wall_ns);
  return {
    run: report.run,
    state: report.state,
    ended_by: report.ended_by,
    engine: report.engine,
    backend: report.backend,
    scheduler: report.scheduler,
    imported_from: null,
    started_wall_ns: report.started_wall_ns,
    wall_ns: report.wall_ns,
    proofs: { valid: count('valid'), invalid: count('invalid'), failed: count('failed'), interrupted: 0, running: count(null) },
    s_per_proof: report.s_per_proof,
    kernel_ratio: ratio(busiest?.kernel_ns),
    lock_held_ratio: ratio(busiest?.lock_held_ns),
    job_span_ratio: ratio(busiest?.job_span_ns),
    lost: report.events.lost,
    unparsed: report.events.unparsed,
  };
}
