/**
 * What is known of the running run: a snapshot, then batches on top of it. Plain data without clocks or drawing. It keeps the spans of
 * the last 95 s; what was there before is the history's business. Spans are replaced, never changed, so that a copy of the lists is a
 * frozen picture.
 */
import type { Lane, LiveFigures, LiveMessage, LiveProof, LiveSpan } from '../../electron/contract/live.ts';
import type { RunMessage } from '../link/host-link.svelte.ts';

const KEEP_NS = 95e9;
const KEEP_ENDED_PROOFS = 20;

export interface UnknownStretch {
  device: string | null;
  startNs: number;
  endNs: number;
}

/** What a screen draws: the model, or a frozen copy of it. */
export interface LivePicture {
  readonly run: string | null;
  readonly horizonNs: number;
  readonly nowNs: number;
  readonly endedNs: number | null;
  readonly lanes: readonly Lane[];
  readonly unknown: readonly UnknownStretch[];
  readonly figures: LiveFigures | null;
  /** Raised by every snapshot: what was computed from an older epoch may be corrected by it. */
  readonly epoch: number;
  /** Spans of one lane, by start. */
  spansOf(lane: string): readonly LiveSpan[];
  /** The lane's spans from the first on that reaches beyond `ns`; every one that touches what comes after `ns` is among them. */
  spansReaching(lane: string, ns: number): readonly LiveSpan[];
  /** Newest accepted last. */
  readonly proofs: readonly LiveProof[];
}

/** `applied`, or `missed`: a batch is absent in between, ask for a fresh snapshot. */
export type Applied = 'applied' | 'missed';

/** One lane's spans by start, with the furthest end up to each: that never falls, so it can be searched. An open span has no end. */
class LaneSpans {
  spans: LiveSpan[] = [];
  #reach: number[] = [];

  put(span: LiveSpan, at: number, replace: boolean): void {
    this.spans.splice(at, replace ? 1 : 0, span);
    this.#reach.length = Math.min(this.#reach.length, at);
    this.#extend();
  }

  remove(at: number): void {
    this.spans.splice(at, 1);
    this.#reach.length = Math.min(this.#reach.length, at);
    this.#extend();
  }

  dropFirst(count: number): LiveSpan[] {
    const gone = this.spans.splice(0, count);
    this.#reach.length = 0;
    this.#extend();
    return gone;
  }

  reaching(ns: number): readonly LiveSpan[] {
    let [low, high] = [0, this.#reach.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#reach[middle]! > ns) high = middle;
      else low = middle + 1;
    }
    return low === 0 ? this.spans : this.spans.slice(low);
  }

  copy(): LaneSpans {
    const copy = new LaneSpans();
    copy.spans = [...this.spans];
    copy.#reach = [...this.#reach];
    return copy;
  }

  #extend(): void {
    for (let index = this.#reach.length; index < this.spans.length; index++) {
      this.#reach.push(Math.max(this.#reach[index - 1] ?? -Infinity, this.spans[index]!.endNs ?? Infinity));
    }
  }
}

const NONE = new LaneSpans();

export class LiveModel implements LivePicture {
  run: string | null = null;
  batch = 0;
  horizonNs = 0;
  nowNs = 0;
  endedNs: number | null = null;
  lanes: Lane[] = [];
  unknown: UnknownStretch[] = [];
  figures: LiveFigures | null = null;
  proofs: LiveProof[] = [];
  /** Raised with every change, so that a drawing knows whether it is out of date. */
  version = 0;
  epoch = 0;
  #spans = new Map<string, LaneSpans>();
  #ids = new Set<number>();

  spansOf(lane: string): readonly LiveSpan[] {
    return (this.#spans.get(lane) ?? NONE).spans;
  }

  spansReaching(lane: string, ns: number): readonly LiveSpan[] {
    return (this.#spans.get(lane) ?? NONE).reaching(ns);
  }

  apply(message: RunMessage): Applied {
    this.version += 1;
    if (message.kind === 'no_run') {
      this.#clear();
      return 'applied';
    }
    if (message.kind === 'snapshot') {
      const { live } = message;
      this.#clear();
      this.run = live.run;
      this.figures = live.figures;
      this.#take(live, live.batch);
      return 'applied';
    }
    if (message.run !== this.run || message.batch !== this.batch + 1) return 'missed';
    this.#take(message, message.batch);
    if (message.figures) this.figures = message.figures;
    return 'applied';
  }

  /** A picture that later messages do not change. */
  freeze(): LivePicture {
    const spans = new Map([...this.#spans].map(([lane, list]) => [lane, list.copy()]));
    return {
      epoch: this.epoch,
      run: this.run,
      horizonNs: this.horizonNs,
      nowNs: this.nowNs,
      endedNs: this.endedNs,
      lanes: [...this.lanes],
      unknown: [...this.unknown],
      figures: this.figures,
      proofs: [...this.proofs],
      spansOf: (lane) => (spans.get(lane) ?? NONE).spans,
      spansReaching: (lane, ns) => (spans.get(lane) ?? NONE).reaching(ns),
    };
  }

  #clear(): void {
    this.epoch += 1;
    this.#ids.clear();
    this.run = null;
    this.batch = 0;
    this.horizonNs = 0;
    this.nowNs = 0;
    this.endedNs = null;
    this.lanes = [];
    this.unknown = [];
    this.figures = null;
    this.proofs = [];
    this.#spans.clear();
  }

  #take(news: Omit<Extract<LiveMessage, { kind: 'batch' }>, 'kind' | 'run' | 'batch' | 'figures'>, batch: number): void {
    this.batch = batch;
    this.horizonNs = Math.max(this.horizonNs, news.horizonNs);
    this.nowNs = news.nowNs;
    this.endedNs = news.endedNs;
    for (const lane of news.lanes) {
      const known = this.lanes.findIndex((one) => one.key === lane.key);
      if (known < 0) this.lanes.push(lane);
      else this.lanes[known] = lane;
    }
    for (const span of news.spans) this.#put(span);
    for (const stretch of news.unknown) {
      const known = this.unknown.findIndex((one) => one.device === stretch.device && one.startNs === stretch.startNs);
      if (known < 0) this.unknown.push(stretch);
      else this.unknown[known] = stretch;
    }
    for (const proof of news.proofs) {
      const known = this.proofs.findIndex((one) => one.proof === proof.proof && one.attempt === proof.attempt);
      if (known < 0) this.proofs.push(proof);
      else this.proofs[known] = proof;
    }
    this.#forget();
  }

  #put(span: LiveSpan): void {
    let lane = this.#spans.get(span.lane);
    if (!lane) this.#spans.set(span.lane, (lane = new LaneSpans()));
    const { spans } = lane;
    if (this.#ids.has(span.id)) {
      // It comes again with its end: nearly always one of the newest, and with the same start.
      const known = spans.findLastIndex((one) => one.id === span.id);
      if (known >= 0 && spans[known]!.startNs === span.startNs) return lane.put(span, known, true);
      if (known >= 0) lane.remove(known);
    }
    this.#ids.add(span.id);
    let at = spans.length;
    while (at > 0 && spans[at - 1]!.startNs > span.startNs) at--;
    lane.put(span, at, false);
  }

  #forget(): void {
    const since = this.horizonNs - KEEP_NS;
    for (const lane of this.#spans.values()) {
      // In lots, because the others move up.
      const lot = Math.max(32, lane.spans.length >> 4);
      let gone = 0;
      while (gone < lane.spans.length && (lane.spans[gone]!.endNs ?? Infinity) < since) gone++;
      if (gone > lot) for (const span of lane.dropFirst(gone)) this.#ids.delete(span.id);
    }
    this.unknown = this.unknown.filter((stretch) => stretch.endNs >= since);
    const ended = this.proofs.filter((proof) => proof.endedNs !== null);
    if (ended.length > KEEP_ENDED_PROOFS) {
      const gone = new Set(ended.slice(0, ended.length - KEEP_ENDED_PROOFS));
      this.proofs = this.proofs.filter((proof) => !gone.has(proof));
    }
  }
}
