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
  /** Spans of one lane, by start. */
  spansOf(lane: string): readonly LiveSpan[];
  /** Newest accepted last. */
  readonly proofs: readonly LiveProof[];
}

/** `applied`, or `missed`: a batch is absent in between, ask for a fresh snapshot. */
export type Applied = 'applied' | 'missed';

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
  #spans = new Map<string, LiveSpan[]>();

  spansOf(lane: string): readonly LiveSpan[] {
    return this.#spans.get(lane) ?? [];
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
    const spans = new Map([...this.#spans].map(([lane, list]) => [lane, [...list]]));
    return {
      run: this.run,
      horizonNs: this.horizonNs,
      nowNs: this.nowNs,
      endedNs: this.endedNs,
      lanes: [...this.lanes],
      unknown: [...this.unknown],
      figures: this.figures,
      proofs: [...this.proofs],
      spansOf: (lane) => spans.get(lane) ?? [],
    };
  }

  #clear(): void {
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
    let list = this.#spans.get(span.lane);
    if (!list) this.#spans.set(span.lane, (list = []));
    // Nearly always at the end: look from there.
    let at = list.length;
    while (at > 0 && list[at - 1]!.startNs > span.startNs) at--;
    for (let same = at - 1; same >= 0 && list[same]!.startNs === span.startNs; same--) {
      if (list[same]!.id === span.id) {
        list[same] = span;
        return;
      }
    }
    // An end may come with a start that was corrected: the id decides.
    const known = list.findIndex((one) => one.id === span.id);
    if (known >= 0) {
      list.splice(known, 1);
      if (known < at) at--;
    }
    list.splice(at, 0, span);
  }

  #forget(): void {
    const since = this.horizonNs - KEEP_NS;
    for (const list of this.#spans.values()) {
      let gone = 0;
      while (gone < list.length && (list[gone]!.endNs ?? Infinity) < since) gone++;
      if (gone > 32) list.splice(0, gone);
    }
    this.unknown = this.unknown.filter((stretch) => stretch.endNs >= since);
    const ended = this.proofs.filter((proof) => proof.endedNs !== null);
    if (ended.length > KEEP_ENDED_PROOFS) {
      const gone = new Set(ended.slice(0, ended.length - KEEP_ENDED_PROOFS));
      this.proofs = this.proofs.filter((proof) => !gone.has(proof));
    }
  }
}
