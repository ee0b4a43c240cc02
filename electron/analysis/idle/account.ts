/**
 * The account of one device: its time cut into segments of one state each, newest last. What is known at once lies in a segment when it
 * begins; what shows later is painted over it:
 *
 *   segments   |in_lock────────────|supply──────|preamble──|in_lock ▶ (open)
 *   kernels       ▓▓▓▓▓▓▓ ▓▓▓▓▓▓                               painted when the kernel ends
 *   unknown                                                    painted when an end turns out to be missing, or a loss is told
 *   next                         N ◀────────────────picked_up  said of all segments since the pick-up before
 *
 * Segments in which nothing can change any more are counted and let go ({@link commit}).
 */
import type { Nanoseconds } from '../../contract/units.ts';
import { factsOf, type NextFacts } from './next.ts';
import type { Part } from './parts.ts';
import { FIRST_ROW_OF_NEXT, makeInstant, rowOf } from './table.ts';
import type { Tally } from './tally.ts';
import * as term from './terms.ts';

export const READY = 1;
export const ALL_QUEUED_LOAD = 2;
export const IN_FINISH = 4;
export const HAS_FREE = 8;
export const ELIGIBLE = 16;
export const WITHHELD = 32;
export const HELD = 64;
export const WAITS_FOR_HELD = 128;
export const LOSSY = 256;
/** Of a log: it had lines of acceptance when N was decided. */
export const ACCEPTS = 512;

export type Paint = 'kernels' | 'unknown' | 'lock' | 'unplaced' | 'before' | 'after';

export interface Segment {
  startNs: Nanoseconds;
  /** Index into `ROWS`; {@link FIRST_ROW_OF_NEXT}: that or a later one. */
  row: number;
  flags: number;
  /** Of `in_lock`, else −1. */
  detail: number;
  /** Circuits whose params load. */
  loading: ReadonlySet<string>;
  /** N if no pick-up comes. */
  candidate: Part | null;
  /** Workers by state; see `DIGIT`. */
  workers: number;
  /** Valid proofs so far. */
  valid: number;
  /** Undefined: not known yet. Null: there is none. */
  next: NextFacts | null | undefined;
  kernels: number;
  unknown: number;
  lock: number;
  unplaced: number;
  before: number;
  after: number;
  /** Of what was painted last. */
  part: Part | null;
}

/** What is open at the horizon and counts up to it, or to `endNs`. */
export interface OpenSpan {
  startNs: Nanoseconds;
  endNs?: Nanoseconds;
  paint: Paint;
  /** That a gap may end with. */
  part: Part | null;
}

export const NOTHING_LOADS: ReadonlySet<string> = new Set();
const COMPACT_AT = 256;

export class Account {
  readonly name: string;
  readonly kind: string;
  readonly tally: Tally;
  /** Reads events of a log that cannot tell. */
  readonly isLog: boolean;
  /** Such a log has lines of acceptance. */
  hasAccepts = false;
  lastProof: string | null = null;
  #segments: Segment[] = [];
  #head = 0;
  readonly #scratch = makeInstant();

  constructor(device: { name: string; kind: string }, startNs: Nanoseconds, isLog: boolean, tally: Tally) {
    this.name = device.name;
    this.kind = device.kind;
    this.tally = tally;
    this.isLog = isLog;
    this.#segments.push({
      startNs, row: 0, flags: 0, detail: -1, loading: NOTHING_LOADS, candidate: null, workers: 0, valid: tally.valid, next: undefined,
      kernels: 0, unknown: 0, lock: 0, unplaced: 0, before: 0, after: 0, part: null,
    }); // prettier-ignore
  }

  /** From `t` on the device is in this state. */
  turn(
    t: Nanoseconds,
    row: number,
    flags: number,
    detail: number,
    loading: ReadonlySet<string>,
    candidate: Part | null,
    workers: number,
  ): void {
    const last = this.#segments[this.#segments.length - 1] as Segment;
    const same =
      last.row === row && last.flags === flags && last.detail === detail && last.loading === loading && last.candidate === candidate &&
      last.workers === workers; // prettier-ignore
    if (same) return;
    let segment = last;
    if (last.startNs < t) {
      segment = {
        startNs: t, row, flags, detail, loading, candidate, workers, valid: last.valid, next: undefined, kernels: 0, unknown: 0, lock: 0,
        unplaced: 0, before: 0, after: 0, part: null,
      }; // prettier-ignore
      this.#segments.push(segment);
      return;
    }
    segment.row = row;
    segment.flags = flags;
    segment.detail = detail;
    segment.loading = loading;
    segment.candidate = candidate;
    segment.workers = workers;
  }

  /** No process from `t` on. */
  down(t: Nanoseconds): void {
    this.turn(t, 0, 0, -1, NOTHING_LOADS, null, 0);
  }

  /** A valid proof ended at `t`. */
  takeValid(t: Nanoseconds): void {
    const from = this.#split(t);
    for (let index = from; index < this.#segments.length; index++) (this.#segments[index] as Segment).valid = this.tally.valid + 1;
    this.tally.takeValid();
  }

  split(t: Nanoseconds): void {
    this.#split(t);
  }

  paint(paint: Paint, fromNs: Nanoseconds, toNs: Nanoseconds, part: Part | null): void {
    const from = Math.max(fromNs, (this.#segments[this.#head] as Segment).startNs);
    if (!(from < toNs)) return;
    const end = this.#split(toNs);
    const start = this.#split(from);
    // The first split may have moved the second by one.
    const until = (this.#segments[end] as Segment).startNs === toNs ? end : end + 1;
    for (let index = start; index < until; index++) {
      const segment = this.#segments[index] as Segment;
      segment[paint] += 1;
      if (part !== null) segment.part = part;
    }
  }

  /** The device picks up at `t`: N of everything since it did so last. */
  decide(t: Nanoseconds, next: NextFacts): void {
    for (let index = this.#split(t) - 1; index >= this.#head; index--) {
      const segment = this.#segments[index] as Segment;
      if (segment.next !== undefined) break;
      segment.next = next;
      if (this.hasAccepts) segment.flags |= ACCEPTS;
    }
  }

  /** No pick-up will come: N is what each segment has as candidate. */
  decideWithout(t: Nanoseconds, untilNs: Nanoseconds): void {
    for (let index = this.#split(t) - 1; index >= this.#head; index--) {
      const segment = this.#segments[index] as Segment;
      if (segment.next !== undefined) break;
      segment.next = segment.candidate ? factsOf(segment.candidate, untilNs, this.lastProof) : null;
      if (this.hasAccepts) segment.flags |= ACCEPTS;
    }
  }

  /** Nothing before `limitNs` can be painted any more: counts what is decided. */
  commit(limitNs: Nanoseconds): void {
    const segments = this.#segments;
    while (this.#head + 1 < segments.length) {
      const segment = segments[this.#head] as Segment;
      const endNs = (segments[this.#head + 1] as Segment).startNs;
      if (endNs > limitNs || (segment.next === undefined && this.#needsNext(segment))) break;
      this.#resolve(segment, segment.startNs, endNs, segment.next, this.tally);
      this.#head += 1;
    }
    if (this.#head > COMPACT_AT) {
      this.#segments = segments.slice(this.#head);
      this.#head = 0;
    }
  }

  get pending(): number {
    return this.#segments.length - this.#head;
  }

  /**
   * What {@link commit} has not counted, up to `toNs`: into `final` what cannot change (before `finalNs`, decided or of an early row), into
   * `provisional` the rest. `untilNs` stands in for a queue time that is missing.
   */
  tail(toNs: Nanoseconds, finalNs: Nanoseconds, untilNs: Nanoseconds, open: readonly OpenSpan[], final: Tally, provisional: Tally): void {
    const segments = this.#segments;
    const cuts = [finalNs, ...open.flatMap(({ startNs, endNs = finalNs }) => [startNs, endNs])].sort((a, b) => a - b);
    for (let index = this.#head; index < segments.length; index++) {
      const segment = segments[index] as Segment;
      const endNs = Math.min(toNs, segments[index + 1]?.startNs ?? toNs);
      for (let startNs = segment.startNs; startNs < endNs;) {
        const at = startNs;
        const pieceEnd = Math.min(endNs, cuts.find((cut) => cut > at) ?? endNs);
        const painted = { ...segment };
        for (const span of open) {
          if (span.startNs > startNs || (span.endNs !== undefined && span.endNs <= startNs)) continue;
          painted[span.paint] += 1;
          if (span.part) painted.part = span.part;
        }
        const undecided = segment.next === undefined && this.#needsNext(painted);
        let next = segment.next;
        if (next === undefined) {
          next = segment.candidate ? factsOf(segment.candidate, untilNs, this.lastProof) : null;
          if (this.hasAccepts) painted.flags |= ACCEPTS;
        }
        this.#resolve(painted, startNs, pieceEnd, next, pieceEnd <= finalNs && !undecided ? final : provisional);
        startNs = pieceEnd;
      }
    }
  }

  /** Index of the segment that begins at `t`, of the first one if `t` is before it. */
  #split(t: Nanoseconds): number {
    const segments = this.#segments;
    let index = segments.length - 1;
    while (index > this.#head && (segments[index] as Segment).startNs > t) index -= 1;
    const segment = segments[index] as Segment;
    if (segment.startNs >= t) return index;
    segments.splice(index + 1, 0, { ...segment, startNs: t });
    return index + 1;
  }

  #needsNext(segment: Segment): boolean {
    if (segment.row < FIRST_ROW_OF_NEXT || segment.unknown > 0 || (segment.flags & LOSSY) !== 0) return false;
    if (!this.isLog) return segment.kernels === 0;
    return groupOf(segment) < 0;
  }

  /** [startNs, endNs) of one segment, clipped to the run's beginning, as pieces of one term each. */
  #resolve(segment: Segment, fromNs: Nanoseconds, endNs: Nanoseconds, next: NextFacts | null | undefined, tally: Tally): void {
    const startNs = fromNs < 0 ? 0 : fromNs;
    if (startNs >= endNs) return;
    const { valid, part } = segment;
    if (segment.unknown > 0 || (segment.flags & LOSSY) !== 0) return tally.add(term.UNKNOWN, -1, startNs, endNs, valid, part);
    if (segment.workers > 0) tally.addWorkers(segment.workers, endNs - startNs);
    if (segment.kernels > 0) return tally.add(term.KERNEL, -1, startNs, endNs, valid, part);
    if (segment.row < FIRST_ROW_OF_NEXT) {
      return tally.add(term.FIRST_CAUSE + segment.row, segment.detail, startNs, endNs, valid, part);
    }
    const group = this.isLog ? groupOf(segment) : -1;
    if (group >= 0) return tally.add(group, -1, startNs, endNs, valid, part);
    this.#supply(segment, startNs, endNs, next ?? null, tally);
  }

  /** Rows that ask for N: what holds may change at its acceptance, at a − w, and with its wait. */
  #supply(segment: Segment, startNs: Nanoseconds, endNs: Nanoseconds, next: NextFacts | null, tally: Tally): void {
    const { flags, valid } = segment;
    const at = this.#scratch;
    at.alive = true;
    at.ready = (flags & READY) !== 0;
    at.allQueuedLoad = (flags & ALL_QUEUED_LOAD) !== 0;
    at.inFinish = (flags & IN_FINISH) !== 0;
    at.hasFree = (flags & HAS_FREE) !== 0;
    at.eligible = (flags & ELIGIBLE) !== 0;
    at.withheld = (flags & WITHHELD) !== 0;
    at.held = (flags & HELD) !== 0;
    at.waiting = at.lockHeld = (flags & WAITS_FOR_HELD) !== 0;
    at.hasNext = next !== null;
    at.nextLoads = next !== null && segment.loading.size > 0 && segment.loading.has(next.circuit);
    at.pickedBefore = next !== null && next.relation !== 'first';
    at.sameProof = next !== null && next.relation === 'same';
    for (let t = startNs; t < endNs;) {
      let untilNs = endNs;
      if (next !== null) {
        at.nextAccepted = next.acceptedNs <= t;
        at.permitDue = t >= next.dueNs;
        at.nextWaitsForPermit = next.waitFromNs <= t && t < next.waitToNs;
        if (next.acceptedNs > t && next.acceptedNs < untilNs) untilNs = next.acceptedNs;
        if (next.dueNs > t && next.dueNs < untilNs) untilNs = next.dueNs;
        if (next.waitFromNs > t && next.waitFromNs < untilNs) untilNs = next.waitFromNs;
        if (next.waitToNs > t && next.waitToNs < untilNs) untilNs = next.waitToNs;
      }
      const found = this.isLog ? this.#logTerm((flags & ACCEPTS) !== 0) : term.FIRST_CAUSE + rowOf(at);
      const detail = found === term.PERMIT ? (next?.bytes ? term.COUNT_DETAIL - 1 : term.COUNT_DETAIL) : -1;
      tally.add(found, detail, t, untilNs, valid, null);
      t = untilNs;
    }
  }

  /** Rows 7, 9 and 11 and g4 of a log that cannot tell. */
  #logTerm(hasAccepts: boolean): number {
    const at = this.#scratch;
    if (!at.ready || at.nextLoads || at.allQueuedLoad) return term.WARM_UP;
    if (at.eligible) return term.DISPATCH;
    if (hasAccepts && (!at.hasNext || !at.nextAccepted)) return term.NO_WORK;
    return term.BETWEEN_WORK;
  }
}

/** g1 to g3, or −1. */
function groupOf(segment: Segment): number {
  if (segment.lock > 0) return term.LOCK_OR_KERNEL;
  if (segment.unplaced > 0) return term.INSIDE_JOB;
  if (segment.before > 0 || (segment.after > 0 && (segment.flags & ELIGIBLE) !== 0)) return term.OUTSIDE_LOCK;
  return -1;
}
