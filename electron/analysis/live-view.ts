/**
 * The live view of one run: takes what became known, hands out a snapshot and then batches. Costs the same whatever the run's length:
 * spans are kept for 90 s, windows are folded behind the horizon, ended proofs are counted and let go.
 *
 *   ── folded ──┤ horizon − 90 s ├──── spans ────┤ horizon ├─ flows on ─┤ now
 *
 * Instants are ns since the run's start. A span whose end cannot come any more is sent once more with `endNs` = `startNs`, and the
 * stretch since its start as unknown: nobody invents an end.
 */
import { compareLanes, labelOf } from './lanes.ts';
import type {
  Lane,
  LaneKind,
  LiveFigures,
  LiveMessage,
  LiveProof,
  LiveSnapshot,
  LiveSpan,
  PartitionState,
  SpanKind,
  UnknownStretch,
} from '../contract/live.ts';
import type { Scheduler } from '../contract/scheduler.ts';
import type { EventOf, MarkLine, StateLine, TimelineEvent } from '../contract/timeline-events.ts';
import { NS_PER_S, type Nanoseconds } from '../contract/units.ts';
import { LiveIdle, type LiveLoss } from './live-idle.ts';
import { LiveMeters } from './live-meters.ts';
import { ProofBook, type ProofEntry } from './proof-book.ts';
import { RunAxis } from './run-axis.ts';
import { SpanTracker, type Span, type TrackedKind } from './spans.ts';
import { medianOfSorted } from './statistics.ts';
import { computeSecondsPerProof } from './throughput.ts';
import { isLog } from './windows.ts';

export interface LiveViewOptions {
  run: string;
  /** Null where a log does not tell it. */
  scheduler: Scheduler | null;
}

/** How long a span stays after its end, and how many at most. */
export const LIVE_WINDOW_NS = 90 * NS_PER_S;
const MOST_SPANS = 50_000;
/** Ended proofs shown at most. */
const MOST_ENDED_PROOFS = 12;

const SHOWN: Partial<Record<TrackedKind, { kind: SpanKind; lane: LaneKind }>> = {
  kernel: { kind: 'kernel', lane: 'kernel' },
  copy: { kind: 'copy', lane: 'copy' },
  lock: { kind: 'lock', lane: 'lock' },
  waiting: { kind: 'waiting', lane: 'worker' },
  prepare: { kind: 'prepare', lane: 'worker' },
  device: { kind: 'device', lane: 'worker' },
  finish: { kind: 'finish', lane: 'worker' },
  synthesis: { kind: 'synthesis', lane: 'synthesis' },
};

export class LiveView {
  readonly run: string;
  readonly #scheduler: Scheduler | null;
  readonly #book = new ProofBook(false);
  readonly #meters = new LiveMeters();
  readonly #idle: LiveIdle;
  readonly #lanes = new Map<string, Lane>();
  readonly #open = new Map<number, LiveSpan>();
  #closed: LiveSpan[] = [];
  #unknown: UnknownStretch[] = [];
  /** Losses that no snapshot has ended yet. */
  #unhealed: UnknownStretch[] = [];
  #axis: RunAxis | null = null;
  #tracker: SpanTracker | null = null;
  #process = -1;
  #offset = 0;
  #nextId = 0;
  #batch = 0;
  #horizonNs = 0;
  #lastNs = 0;
  #endedNs: Nanoseconds | null = null;
  readonly #ends: Nanoseconds[] = [];
  /** Of the last ten valid proofs, s. */
  #latencies: number[] = [];
  /** Of all, ns, ascending. */
  readonly #sortedLatencies: Nanoseconds[] = [];
  readonly #counts = { valid: 0, invalid: 0, failed: 0 };
  readonly #counted = new WeakSet<ProofEntry>();
  readonly #running = new Set<ProofEntry>();
  #mostAtOnce = 1;
  #state: StateLine | null = null;
  #peakRss: number | null = null;
  readonly #params = new Map<string, 'absent' | 'loading' | 'resident'>();
  #changed = {
    lanes: new Set<string>(),
    spans: new Map<number, LiveSpan>(),
    proofs: new Set<ProofEntry>(),
    unknown: [] as UnknownStretch[],
    other: false,
  };

  constructor(options: LiveViewOptions) {
    this.run = options.run;
    this.#scheduler = options.scheduler;
    this.#idle = new LiveIdle(options.scheduler, options.scheduler?.proofs_in_flight ?? 1);
  }

  /** The run's own clock, once its first process is known. */
  get axis(): RunAxis | null {
    return this.#axis;
  }

  get horizonNs(): Nanoseconds {
    return this.#horizonNs;
  }

  /** The next process of the run; `originT`: the first one's `run_started`; `fromStart`: it served no other run before. */
  beginProcess(hello: EventOf<'hello'>, originT: Nanoseconds, fromStart = true): void {
    this.endProcess();
    this.#axis ??= new RunAxis(hello, originT);
    this.#offset = this.#axis.offsetOf(hello);
    this.#process += 1;
    this.#idle.beginProcess(hello, originT, fromStart);
    this.#tracker = new SpanTracker(this.#offset, (span) => this.#takeSpan(span), () => this.#nextId++, isLog(hello)); // prettier-ignore
    for (const { device, kind } of hello.devices as { device: string; kind: string }[]) {
      this.#meters.addDevice(device, kind, isLog(hello));
      for (const lane of ['kernel', 'lock'] as const) this.#lane(lane, device, 0);
    }
  }

  take(event: TimelineEvent): void {
    const at = event.t + this.#offset;
    if (at > this.#lastNs) this.#lastNs = at;
    if (event.e === 'run_ended') this.#end(at);
    else if (event.e === 'run_started') this.#endedNs = null;
    else if (event.e === 'params_load_started') this.#params.set(event.circuit, 'loading');
    else if (event.e === 'params_load_ended') this.#params.set(event.circuit, event.ok ? 'resident' : 'absent');
    this.#tracker?.take(event);
    this.#idle.take(event);
    const entry = this.#book.take(event, at, this.#process);
    if (entry) this.#proofChanged(entry);
    this.#changed.other = true;
  }

  /** Everything before it is known. */
  takeMark(mark: MarkLine | StateLine): void {
    const at = mark.t + this.#offset;
    if (at <= this.#horizonNs) return;
    this.#horizonNs = at;
    this.#tracker?.settle(at);
    this.#idle.takeMark(mark);
    this.#changed.other = true;
  }

  takeState(state: StateLine): void {
    const at = state.t + this.#offset;
    this.#state = state;
    this.#peakRss = Math.max(this.#peakRss ?? 0, state.peak_rss_bytes);
    for (const { circuit, is } of state.params) this.#params.set(circuit, is);
    for (const worker of state.workers) this.#lane('worker', worker.device, worker.worker);
    for (const { synthesiser } of state.synthesisers) this.#lane('synthesis', null, synthesiser);
    if (this.#unhealed.length > 0) {
      for (const stretch of this.#unhealed) this.#addUnknown({ ...stretch, endNs: Math.max(stretch.endNs, at) });
      this.#unhealed = [];
      this.#tracker?.takeSnapshot(state);
    }
    this.#idle.takeMark(state);
    this.takeMark(state);
  }

  /** Events with stamps in [tFrom, tTo] are missing: unknown until the next snapshot, or until `healedT` where that is known. */
  takeLoss(loss: LiveLoss): void {
    const startNs = loss.tFrom + this.#offset;
    const endNs = Math.max((loss.healedT ?? loss.tTo) + this.#offset, loss.healedT === null ? this.#horizonNs : startNs);
    const stretch = { device: null, startNs, endNs };
    if (loss.healedT === null) this.#unhealed.push(stretch);
    this.#addUnknown(stretch);
    this.#idle.takeLoss(loss);
  }

  /** The host keeps proofs back; told again with the same `fromNs` once its end is known. */
  takeHold(fromNs: Nanoseconds, toNs: Nanoseconds | null): void {
    this.#idle.takeHold(fromNs, toNs);
    this.#changed.other = true;
  }

  /** It is gone, in order or not: nothing that is open will end. */
  endProcess(): void {
    if (!this.#tracker) return;
    this.#tracker.endProcess();
    this.#tracker = null;
    this.#horizonNs = Math.max(this.#horizonNs, this.#lastNs);
    this.#idle.endProcess(this.#horizonNs - this.#offset);
    for (const entry of this.#book.endProcess(this.#process, this.#lastNs)) this.#proofChanged(entry);
    this.#changed.other = true;
  }

  /** Nobody saw its end: it ended with its last event. */
  close(): void {
    this.endProcess();
    if (this.#endedNs === null) this.#end(this.#lastNs);
  }

  snapshot(nowNs: Nanoseconds): LiveSnapshot {
    this.#trim();
    this.#clearChanges();
    const since = this.#horizonNs - LIVE_WINDOW_NS;
    const recent = this.#closed.filter((span) => (span.endNs ?? 0) >= since);
    return {
      run: this.run,
      batch: this.#batch,
      horizonNs: this.#horizonNs,
      nowNs: this.#nowNs(nowNs),
      endedNs: this.#endedNs,
      lanes: [...this.#lanes.values()].sort(compareLanes),
      spans: [...recent, ...this.#open.values()].map((span) => ({ ...span })),
      unknown: [...this.#unknown],
      proofs: [...this.#book.entries.values()].map((entry) => this.#liveProof(entry)),
      figures: this.figures(),
    };
  }

  /** What changed since the last batch or snapshot; null if nothing did. */
  takeBatch(nowNs: Nanoseconds, withFigures: boolean): Extract<LiveMessage, { kind: 'batch' }> | null {
    if (!this.#changed.other) return null;
    this.#trim();
    this.#batch += 1;
    const { lanes, spans, proofs, unknown } = this.#changed;
    const batch = {
      kind: 'batch' as const,
      run: this.run,
      batch: this.#batch,
      horizonNs: this.#horizonNs,
      nowNs: this.#nowNs(nowNs),
      endedNs: this.#endedNs,
      lanes: [...lanes].flatMap((key) => this.#lanes.get(key) ?? []),
      spans: [...spans.values()].map((span) => ({ ...span })),
      unknown,
      proofs: [...proofs].map((entry) => this.#liveProof(entry)),
      figures: withFigures ? this.figures() : null,
    };
    this.#clearChanges();
    return batch;
  }

  figures(): LiveFigures {
    const toNs = this.#endedNs ?? this.#horizonNs;
    const open = this.#tracker ? [...this.#tracker.openSpans()] : [];
    const state = this.#state;
    return {
      last60s: this.#meters.windows(Math.max(0, toNs - 60 * NS_PER_S), toNs, open),
      run: this.#meters.windows(0, toNs, open),
      idle: this.#idle.figures(toNs, this.#endedNs !== null),
      sparkline: this.#meters.sparkline(toNs, open),
      sPerProof: computeSecondsPerProof(this.#ends, this.#scheduler?.proofs_in_flight ?? this.#mostAtOnce),
      latency: {
        lastS: this.#latencies.at(-1) ?? null,
        medianS: inSeconds(medianOfSorted(this.#sortedLatencies)),
        n: this.#sortedLatencies.length,
      },
      lastLatenciesS: [...this.#latencies],
      memory: {
        rssBytes: state?.rss_bytes ?? null,
        peakRssBytes: this.#peakRss,
        budgetBytes: this.#scheduler?.memory_budget_bytes ?? null,
        permitBytes: state?.permits.bytes_used ?? null,
      },
      permits: state ? { used: state.permits.used, total: state.permits.total } : null,
      counts: { ...this.#counts, running: [...this.#book.entries.values()].filter((entry) => entry.endedNs === null).length },
      params: [...this.#params].map(([circuit, is]) => ({ circuit, is })),
    };
  }

  #takeSpan(span: Span): void {
    this.#meters.take(span);
    const shown = SHOWN[span.kind];
    if (!shown) return;
    const index = shown.lane === 'kernel' || shown.lane === 'copy' ? (span.stream ?? 0) : shown.lane === 'lock' ? 0 : (span.worker ?? 0);
    const lane = this.#lane(shown.lane, shown.lane === 'synthesis' ? null : span.device, index);
    let live = this.#open.get(span.id);
    if (!live) {
      live = {
        id: span.id, lane, kind: shown.kind, startNs: span.startNs, endNs: null, proof: span.proof, attempt: span.attempt,
        partition: span.partition, detail: span.detail,
      }; // prettier-ignore
      this.#open.set(span.id, live);
    }
    if (span.state !== 'open') {
      this.#open.delete(span.id);
      live.endNs = span.state === 'closed' ? span.endNs : span.startNs;
      this.#closed.push(live);
      if (span.state === 'abandoned' && span.device !== null) {
        this.#addUnknown({ device: span.device, startNs: span.startNs, endNs: Math.max(span.startNs, this.#horizonNs) });
      }
    }
    this.#changed.spans.set(span.id, live);
    this.#changed.other = true;
  }

  #proofChanged(entry: ProofEntry): void {
    this.#changed.proofs.add(entry);
    if (entry.endedNs === null && entry.acceptedNs !== null) this.#running.add(entry);
    else this.#running.delete(entry);
    this.#mostAtOnce = Math.max(this.#mostAtOnce, this.#running.size);
    if (entry.outcome === null || this.#counted.has(entry)) return;
    this.#counted.add(entry);
    if (entry.outcome !== 'interrupted') this.#counts[entry.outcome] += 1;
    if (entry.outcome !== 'valid' || entry.endedNs === null) return;
    insertSorted(this.#ends, entry.endedNs);
    if (entry.acceptedNs === null) return;
    const latency = entry.endedNs - entry.acceptedNs;
    insertSorted(this.#sortedLatencies, latency);
    this.#latencies.push(latency / NS_PER_S);
    if (this.#latencies.length > 10) this.#latencies.shift();
  }

  #end(at: Nanoseconds): void {
    this.#endedNs = at;
    this.#horizonNs = Math.max(this.#horizonNs, at);
    this.#tracker?.settle(at);
    this.#changed.other = true;
  }

  #addUnknown(stretch: UnknownStretch): void {
    if (stretch.endNs <= stretch.startNs) return;
    this.#unknown.push(stretch);
    this.#changed.unknown.push(stretch);
    this.#changed.other = true;
  }

  #lane(kind: LaneKind, device: string | null, index: number): string {
    const key = device === null ? `${kind}:${index}` : `${kind}:${device}:${index}`;
    if (!this.#lanes.has(key)) {
      this.#lanes.set(key, { key, kind, device, index, label: labelOf(kind, device, index) });
      this.#changed.lanes.add(key);
      this.#changed.other = true;
    }
    return key;
  }

  #liveProof(entry: ProofEntry): LiveProof {
    const running = entry.endedNs === null;
    const partitions: PartitionState[] = Array.from({ length: entry.partitionCount }, () => 'pending');
    if (!entry.returned) {
      for (const part of entry.partitions.values()) if (part.partition < partitions.length) partitions[part.partition] = part.state;
    }
    const median = inSeconds(medianOfSorted(this.#sortedLatencies));
    const sinceS = entry.acceptedNs === null ? null : (this.#horizonNs - entry.acceptedNs) / NS_PER_S;
    // One that takes longer than usual has no honest estimate.
    const eta = running && median !== null && sinceS !== null && sinceS < median ? median - sinceS : null;
    return {
      proof: entry.proof,
      attempt: entry.attempt,
      circuit: entry.circuit,
      state: entry.outcome ?? (entry.returned ? 'waiting' : 'running'),
      partitions,
      acceptedNs: entry.acceptedNs,
      endedNs: entry.endedNs,
      etaS: eta,
      error: entry.outcome === 'valid' ? null : (entry.error?.message ?? null),
    };
  }

  /** Lets go of what is older than the window. */
  #trim(): void {
    const since = this.#horizonNs - LIVE_WINDOW_NS;
    const recent = this.#closed.findIndex((span) => (span.endNs ?? 0) >= since);
    const drop = Math.max(recent < 0 ? this.#closed.length : recent, this.#closed.length - MOST_SPANS);
    if (drop > 0) this.#closed = this.#closed.slice(drop);
    this.#unknown = this.#unknown.filter((stretch) => stretch.endNs >= since);
    this.#meters.fold(this.#horizonNs, this.#tracker?.openSpans() ?? []);
    const ended = [...this.#book.entries].filter(([, entry]) => entry.endedNs !== null);
    for (const [key, entry] of ended.slice(0, -MOST_ENDED_PROOFS)) {
      if (!this.#changed.proofs.has(entry) && (entry.endedNs ?? 0) < this.#horizonNs - NS_PER_S) this.#book.forget(key);
    }
  }

  /** Never behind what is known. */
  #nowNs(nowNs: Nanoseconds): Nanoseconds {
    return this.#endedNs ?? Math.max(nowNs, this.#horizonNs);
  }

  #clearChanges(): void {
    this.#changed = { lanes: new Set(), spans: new Map(), proofs: new Set(), unknown: [], other: false };
  }
}

function insertSorted(values: number[], value: number): void {
  let low = 0;
  let high = values.length;
  // Nearly always the last.
  if (high === 0 || (values[high - 1] as number) <= value) return void values.push(value);
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  values.splice(low, 0, value);
}

function inSeconds(ns: Nanoseconds | null): number | null {
  return ns === null ? null : ns / NS_PER_S;
}
