/**
 * Pairs starts with ends. One tracker follows one process, event by event; a pair is found by (proof, attempt, partition, kind, worker,
 * stream, kernel), never by a stack: overlapping spans keep their own ends.
 *
 *   A: started@0 ──────── ended@5            two spans, 0-5 and 3-7
 *   B:      started@3 ────────── ended@7
 *
 * Spans are half-open, [startNs, endNs), in ns since the run's start. What is not as it should be:
 *   missing end      the span stays open; it is `abandoned` (in no sum) once it is known that its end cannot come: the worker picked up
 *                    something else, put this down or died, the partition ended, the process ended, or a snapshot after a loss
 *                    says otherwise
 *   missing start    the end is counted in `unmatched` and makes no span
 *   second start     the first is abandoned, the second opens
 *   end before start abandoned, counted in `negative`
 * Lines of different rings may be out of order by `t`: a conclusion from one ring about another is drawn only when the horizon has
 * passed it ({@link SpanTracker.settle}). Where two rings make one span (queue, permit) the end may come first.
 */
import type { StateLine, TimelineEvent } from '../contract/timeline-events.ts';
import type { Nanoseconds } from '../contract/units.ts';

export type TrackedKind =
  | 'permit' | 'synthesis' | 'queue' | 'job' | 'waiting' | 'prepare' | 'lock' | 'device' | 'finish' | 'kernel' | 'copy' | 'pause'; // prettier-ignore

export interface Span {
  /** Unique within the tracker's run. */
  readonly id: number;
  readonly kind: TrackedKind;
  readonly device: string | null;
  /** GPU worker or, for a synthesis, the synthesiser. */
  readonly worker: number | null;
  readonly stream: number | null;
  /** Kernel, or what a pause waits for. */
  readonly detail: string | null;
  readonly proof: string;
  readonly attempt: number;
  readonly partition: number;
  readonly startNs: Nanoseconds;
  endNs: Nanoseconds | null;
  state: 'open' | 'closed' | 'abandoned';
  /** Of a job span that closed: there was a native call in it (`call_started`; logs alone have that line). */
  called: boolean;
}

/** A whole run is settled each so many events, up to so long before the latest: lines of different rings are less apart, in practice far less. */
export const SETTLE_EVERY = 1_000;
export const SETTLE_LAG_NS = 10_000_000_000;

/** Which kind an event begins or ends. */
const STARTS: Partial<Record<TimelineEvent['e'], TrackedKind>> = {
  permit_asked: 'permit', synthesis_started: 'synthesis', queued: 'queue', picked_up: 'job', lock_asked: 'waiting',
  lock_granted: 'lock', prepare_started: 'prepare', device_started: 'device', finish_started: 'finish', kernel_started: 'kernel',
  copy_started: 'copy', wait_started: 'pause',
}; // prettier-ignore
const ENDS: Partial<Record<TimelineEvent['e'], TrackedKind>> = {
  permit_granted: 'permit', synthesis_ended: 'synthesis', picked_up: 'queue', put_down: 'job', lock_granted: 'waiting',
  lock_released: 'lock', prepare_ended: 'prepare', device_ended: 'device', finish_ended: 'finish', kernel_ended: 'kernel',
  copy_ended: 'copy', wait_ended: 'pause',
}; // prettier-ignore

/** Kinds that a GPU worker makes; all end with its put-down. */
const OF_WORKER: ReadonlySet<TrackedKind> = new Set(['job', 'waiting', 'prepare', 'lock', 'device', 'finish', 'kernel', 'copy', 'pause']);

type PartitionEvent = Extract<TimelineEvent, { partition: number }>;
type Loose = PartitionEvent & { device?: string; worker?: number; synthesiser?: number; stream?: number; kernel?: string; wait?: string };

/** One partition of one attempt. */
interface Slot {
  open: Span[];
  /** Ends that came before their starts. */
  early: Partial<Record<'permit' | 'queue', Nanoseconds>>;
  /** The engine has begun its native call for it since it was last put down. */
  called: boolean;
}

/** Something that ends spans of others once the horizon has passed it. */
interface Due {
  t: Nanoseconds;
  /** All spans of this worker that began before, except those of `keep`. */
  worker: number | null;
  keep: Slot | null;
  /** The partition's spans of these kinds. */
  slot: Slot | null;
  ofWorker: boolean;
}

export class SpanTracker {
  unmatched = 0;
  negative = 0;
  readonly #offset: Nanoseconds;
  readonly #onSpan: (span: Span) => void;
  readonly #nextId: () => number;
  readonly #overlapping: boolean;
  readonly #proofs = new Map<string, Map<number, Map<number, Slot>>>();
  readonly #byWorker = new Map<number, Set<Span>>();
  readonly #synthesising = new Set<Span>();
  #slotOf = new Map<Span, Slot>();
  #due: Due[] = [];
  /** Pick-ups of each worker that are not settled yet, in order. */
  readonly #picks = new Map<number, { t: Nanoseconds; slot: Slot }[]>();

  /**
   * `offset`: what to add to a `t` to get ns since the run's start. `onSpan`: a span opened, closed or was abandoned. `overlapping`: a
   * worker may pick up something else before it has put this down, as the cuzk daemon's do.
   */
  constructor(offset: Nanoseconds, onSpan: (span: Span) => void, nextId: () => number, overlapping = false) {
    this.#offset = offset;
    this.#onSpan = onSpan;
    this.#nextId = nextId;
    this.#overlapping = overlapping;
  }

  take(event: TimelineEvent): void {
    const at = event.t + this.#offset;
    if (!('partition' in event)) {
      if (event.e === 'worker_dead') this.#due.push({ t: at, worker: event.worker, keep: null, slot: null, ofWorker: true });
      else if (event.e === 'proof_ended' || event.e === 'proof_returned') this.#endProof(event.proof, event.attempt, at);
      return;
    }
    const slot = this.#slot(event.proof, event.attempt, event.partition);
    if (event.e === 'call_started') slot.called = true;
    const ends = ENDS[event.e];
    if (ends) this.#end(slot, ends, event as Loose, at);
    const starts = STARTS[event.e];
    if (starts) this.#start(slot, starts, event as Loose, at);
    if (event.e === 'picked_up' && !this.#overlapping) {
      this.#due.push({ t: at, worker: event.worker, keep: slot, slot: null, ofWorker: true });
      const picks = this.#picks.get(event.worker);
      if (picks) picks.push({ t: at, slot });
      else this.#picks.set(event.worker, [{ t: at, slot }]);
    }
    if (event.e === 'put_down') this.#due.push({ t: at, worker: null, keep: null, slot, ofWorker: true });
    else if (event.e === 'partition_ended') this.#due.push({ t: at, worker: null, keep: null, slot, ofWorker: false });
  }

  /** Everything before `horizonNs` has been taken: draws the conclusions that waited for it. */
  settle(horizonNs: Nanoseconds): void {
    if (this.#due.length === 0) return;
    const later: Due[] = [];
    for (const due of this.#due) {
      if (due.t > horizonNs) later.push(due);
      else this.#conclude(due);
    }
    this.#due = later;
    for (const picks of this.#picks.values()) {
      while (picks.length > 0 && (picks[0] as { t: number }).t <= horizonNs) picks.shift();
    }
  }

  /** A snapshot after a loss: spans of workers that are elsewhere by then have lost their ends. */
  takeSnapshot(state: StateLine): void {
    const at = state.t + this.#offset;
    for (const worker of state.workers) {
      const busy = worker.is !== 'free' && worker.is !== 'dead';
      for (const span of [...(this.#byWorker.get(worker.worker) ?? [])]) {
        if (span.startNs > at) continue;
        const same = busy && span.proof === worker.proof && span.attempt === worker.attempt && span.partition === worker.partition;
        if (!same || !canBeOpen(span.kind, worker.is)) this.#abandon(span);
      }
    }
    for (const span of [...this.#synthesising]) {
      const stillAt = state.synthesisers.some(
        (one) =>
          one.synthesiser === span.worker && one.proof === span.proof && one.attempt === span.attempt && one.partition === span.partition,
      );
      if (!stillAt && span.startNs <= at) this.#abandon(span);
    }
  }

  /** The process is gone: what is open never ends. */
  endProcess(): void {
    this.settle(Number.POSITIVE_INFINITY);
    for (const span of [...this.#slotOf.keys()]) this.#abandon(span);
    this.#proofs.clear();
  }

  openSpans(): IterableIterator<Span> {
    return this.#slotOf.keys();
  }

  #start(slot: Slot, kind: TrackedKind, event: Loose, at: Nanoseconds): void {
    const before = findOpen(slot, kind, event);
    if (before) this.#abandon(before);
    const span: Span = {
      id: this.#nextId(),
      kind,
      device: event.device ?? null,
      worker: event.worker ?? event.synthesiser ?? null,
      stream: event.stream ?? null,
      detail: event.kernel ?? event.wait ?? null,
      proof: event.proof,
      attempt: event.attempt,
      partition: event.partition,
      startNs: at,
      endNs: null,
      called: false,
      state: 'open',
    };
    if (kind === 'permit' || kind === 'queue') {
      const early = slot.early[kind];
      if (early !== undefined) {
        delete slot.early[kind];
        this.unmatched -= 1;
        return this.#close(span, early);
      }
    }
    slot.open.push(span);
    this.#slotOf.set(span, slot);
    if (kind === 'synthesis') this.#synthesising.add(span);
    else if (span.worker !== null) {
      const set = this.#byWorker.get(span.worker);
      if (set) set.add(span);
      else this.#byWorker.set(span.worker, new Set([span]));
    }
    this.#onSpan(span);
  }

  #end(slot: Slot, kind: TrackedKind, event: Loose, at: Nanoseconds): void {
    const span = findOpen(slot, kind, event);
    if (!span) {
      this.unmatched += 1;
      if (kind === 'permit' || kind === 'queue') slot.early[kind] = at;
      return;
    }
    // Its worker had moved on before this: the end is not its own.
    if (span.worker !== null && OF_WORKER.has(kind) && this.#movedOn(span.worker, slot, span.startNs, at)) {
      this.unmatched += 1;
      return this.#abandon(span);
    }
    this.#forget(span);
    if (kind === 'job') {
      span.called = slot.called;
      slot.called = false;
    }
    this.#close(span, at);
  }

  /** Whether the worker picked up another partition within (fromNs, toNs). */
  #movedOn(worker: number, slot: Slot, fromNs: Nanoseconds, toNs: Nanoseconds): boolean {
    const picks = this.#picks.get(worker) ?? [];
    for (let index = picks.length - 1; index >= 0; index--) {
      const pick = picks[index] as { t: Nanoseconds; slot: Slot };
      if (pick.t <= fromNs) return false;
      if (pick.slot !== slot && pick.t < toNs) return true;
    }
    return false;
  }

  #close(span: Span, at: Nanoseconds): void {
    if (at < span.startNs) {
      this.negative += 1;
      span.state = 'abandoned';
    } else {
      span.endNs = at;
      span.state = 'closed';
    }
    this.#onSpan(span);
  }

  #abandon(span: Span): void {
    this.#forget(span);
    span.state = 'abandoned';
    this.#onSpan(span);
  }

  #forget(span: Span): void {
    const slot = this.#slotOf.get(span);
    if (slot) slot.open.splice(slot.open.indexOf(span), 1);
    this.#slotOf.delete(span);
    this.#synthesising.delete(span);
    if (span.worker !== null) this.#byWorker.get(span.worker)?.delete(span);
  }

  #conclude(due: Due): void {
    if (due.worker !== null) {
      for (const span of [...(this.#byWorker.get(due.worker) ?? [])]) {
        if (span.startNs < due.t && this.#slotOf.get(span) !== due.keep) this.#abandon(span);
      }
    } else if (due.slot) {
      for (const span of [...due.slot.open]) {
        if (span.startNs <= due.t && (due.ofWorker ? OF_WORKER.has(span.kind) : !OF_WORKER.has(span.kind))) this.#abandon(span);
      }
    }
  }

  #endProof(proof: string, attempt: number, at: Nanoseconds): void {
    const attempts = this.#proofs.get(proof);
    const slots = attempts?.get(attempt);
    if (!attempts || !slots) return;
    for (const slot of slots.values()) {
      if (slot.open.length > 0) this.#due.push({ t: at, worker: null, keep: null, slot, ofWorker: false });
    }
    // Slots that still hold open spans live on in #slotOf; a line that comes later begins a slot anew.
    if ([...slots.values()].every((slot) => slot.open.length === 0)) {
      attempts.delete(attempt);
      if (attempts.size === 0) this.#proofs.delete(proof);
    }
  }

  #slot(proof: string, attempt: number, partition: number): Slot {
    let attempts = this.#proofs.get(proof);
    if (!attempts) this.#proofs.set(proof, (attempts = new Map()));
    let slots = attempts.get(attempt);
    if (!slots) attempts.set(attempt, (slots = new Map()));
    let slot = slots.get(partition);
    if (!slot) slots.set(partition, (slot = { open: [], early: {}, called: false }));
    return slot;
  }
}

function findOpen(slot: Slot, kind: TrackedKind, event: Loose): Span | undefined {
  const worker = event.worker ?? event.synthesiser ?? null;
  for (const span of slot.open) {
    if (span.kind !== kind) continue;
    // A permit and a queue have no worker of their own.
    if (kind === 'permit' || kind === 'queue') return span;
    if (span.worker !== worker) continue;
    if (kind === 'kernel' && (span.stream !== event.stream || span.detail !== event.kernel)) continue;
    if (kind === 'copy' && span.stream !== event.stream) continue;
    if (kind === 'pause' && span.detail !== event.wait) continue;
    return span;
  }
  return undefined;
}

/** Whether a span of that kind fits a worker that is in this state. Under lock scope `job` the lock is held in all three stages. */
function canBeOpen(kind: TrackedKind, is: StateLine['workers'][number]['is']): boolean {
  switch (kind) {
    case 'waiting':
      return is === 'waiting';
    case 'prepare':
      return is === 'prepare';
    case 'device':
    case 'kernel':
    case 'copy':
    case 'pause':
      return is === 'device';
    case 'lock':
      return is === 'device' || is === 'prepare' || is === 'finish';
    case 'finish':
      return is === 'finish';
    default:
      return true;
  }
}
