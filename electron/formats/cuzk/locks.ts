/**
 * Where the lock windows lie. The C++ lines have neither time nor job, but they come in the order of the lock, which is exclusive:
 *
 *   TIMELINE,7067,GPU_START,B …          call of B begins
 *   CUZK_TIMING: pre_lock_cpu_ms=739 mutex_wait_ms=0          somebody has the lock          ← between two stamps
 *   CUZK_TIMING: mutex_held_ms=23688 total_start_fn_ms=24428  and has let go of it           ← between two stamps, `from` and `to`
 *   TIMELINE,31476,GPU_PICKUP,…
 *
 * The end is GPU_START + total_start_fn of the call for which that falls between `from` and `to` (and as much later as the worker's
 * "prove_start" line says that the call began late); the start is mutex_held before it. All figures are rounded down, so the truth is never
 * earlier than the placed end, and not later than `to`, nor than mutex_held after the stamp that follows the grant: that distance is the
 * error that is told. A window that fits no call, or runs into the one before, is not recorded.
 */
import type { Nanoseconds } from '../../contract/units.ts';
import type { TimingValues } from './decode.ts';
import type { Part } from './jobs.ts';

const MS = 1e6;
/** From GPU_START to the call on a busy machine; seen: up to 35 ms. */
const LATE_NS = 60 * MS;
/** Rounding of the four figures of one call, ms. */
const ROUNDING_MS = 4;
/** Stamped lines that are looked at for one end: a line's stamp is older than the line, and two streams are merged by arrival. */
const MAX_TRIES = 3;
/** Kept at once of each: calls under way, grants, ends. A machine has a handful. */
const MAX_CALLS = 256;

export interface Call {
  part: Part;
  startNs: Nanoseconds;
  /** Durations that are this call's for sure, ns. */
  durations: Record<string, number>;
}

export interface LockWindow {
  call: Call;
  startNs: Nanoseconds;
  endNs: Nanoseconds;
  /** Both stamps are right to ± this. */
  errorNs: Nanoseconds;
  durations: Record<string, number>;
}

/** A line without time: after the stamp `from` and before the stamp `to` (null: none came yet). */
interface Bracket {
  from: Nanoseconds;
  to: Nanoseconds | null;
}
interface Grant extends Bracket {
  preMs: number;
  waitMs: number;
}
interface Release<S> extends Bracket {
  heldMs: number;
  totalMs: number;
  grant: Grant | null;
  inside: Record<string, number>;
  tries: number;
  source: S;
}

/** "prove_start returned" lines name the worker: the end that was just told is that worker's. */
export interface ProveStart {
  worker: number;
  partition: number | null;
  /** From GPU_START to the call. */
  lateMs: number;
}

const INSIDE = [
  ['ntt_msm_h_ms', 'ntt_msm_h'], ['barrier_wait_ms', 'barrier_wait'], ['batch_add_ms', 'batch_add'], ['tail_msm_ms', 'tail_msm'],
  ['gpu_total_ms', 'gpu_total'],
] as const; // prettier-ignore
const BESIDE = [['prep_msm_ms', 'prep_msm'], ['b_g2_msm_ms', 'b_g2_msm']] as const; // prettier-ignore

export class LockWindows<S> {
  readonly #placed: (window: LockWindow) => void;
  readonly #lost: (why: string, source: S) => void;
  #calls: Call[] = [];
  #grants: Grant[] = [];
  #releases: Release<S>[] = [];
  #inside: Record<string, number> = {};
  readonly #lastEnd = new Map<string, Nanoseconds>();
  #lastNs: Nanoseconds = 0;

  constructor(placed: (window: LockWindow) => void, lost: (why: string, source: S) => void) {
    this.#placed = placed;
    this.#lost = lost;
  }

  begin(part: Part, startNs: Nanoseconds): void {
    this.#calls.push({ part, startNs, durations: {} });
    if (this.#calls.length > MAX_CALLS) this.#calls.shift();
  }

  /** The call returned, or its worker has gone on to something else. */
  forget(matches: (part: Part) => boolean): void {
    this.#calls = this.#calls.filter((call) => !matches(call.part));
  }

  /** No window that is still to be placed begins before this; null: none is to be placed. */
  get openFrom(): Nanoseconds | null {
    let from: Nanoseconds | null = null;
    for (const { startNs } of this.#calls) from = from === null ? startNs : Math.min(from, startNs);
    return from;
  }

  take(values: TimingValues, source: S): void {
    const { pre_lock_cpu_ms: preMs, mutex_wait_ms: waitMs, mutex_held_ms: heldMs, total_start_fn_ms: totalMs } = values;
    if (preMs !== undefined && waitMs !== undefined) {
      this.#grants.push({ preMs, waitMs, from: this.#lastNs, to: null });
      if (this.#grants.length > MAX_CALLS) this.#grants.shift();
    } else if (heldMs !== undefined && totalMs !== undefined) {
      this.#release(heldMs, totalMs, source);
    } else {
      this.#measure(values);
    }
  }

  /** A stamped line: everything before it in the log has happened by then. `step`: how much later it may truly be. */
  stamp(ns: Nanoseconds, step: Nanoseconds, from: ProveStart | null): void {
    const to = ns + step;
    for (let index = this.#grants.length - 1; index >= 0; index--) {
      const grant = this.#grants[index] as Grant;
      if (grant.to !== null) break;
      grant.to = to;
    }
    if (this.#releases.length > 0) {
      const releases = this.#releases;
      this.#releases = [];
      for (const release of releases) this.#place(release, to, from);
    }
    this.#lastNs = Math.max(this.#lastNs, ns);
  }

  /** No stamp follows: only the stamps around its grant may bound an end that waits for one. */
  end(): void {
    for (const release of this.#releases.splice(0)) {
      if (release.grant === null || release.grant.to === null) this.#lost('no stamped line follows it', release.source);
      else this.#place(release, boundOf(release, Infinity), null);
    }
  }

  #release(heldMs: number, totalMs: number, source: S): void {
    const index = this.#grants.findIndex(({ preMs, waitMs }) => Math.abs(totalMs - heldMs - preMs - waitMs) <= ROUNDING_MS);
    const inside = this.#grants.length <= 1 ? this.#inside : {};
    this.#inside = {};
    const grant = index < 0 ? null : (this.#grants.splice(index, 1)[0] as Grant);
    this.#releases.push({ heldMs, totalMs, grant, inside, tries: 0, source, from: this.#lastNs, to: null });
    if (this.#releases.length > MAX_CALLS) this.#releases.shift();
  }

  #measure(values: TimingValues): void {
    for (const [key, name] of INSIDE) {
      const value = values[key];
      if (value !== undefined) this.#inside[name] = (this.#inside[name] ?? 0) + value * MS;
    }
    // The preparation runs beside the lock: it is somebody's for sure only while one call is under way.
    const only = this.#calls.length === 1 ? this.#calls[0] : undefined;
    if (!only) return;
    for (const [key, name] of BESIDE) {
      const value = values[key];
      if (value !== undefined) only.durations[name] = value * MS;
    }
  }

  #place(release: Release<S>, to: Nanoseconds, from: ProveStart | null): void {
    const { heldMs, totalMs, grant, inside, source } = release;
    const fits = this.#calls.filter((call) => this.#fits(call, release, to));
    fits.sort((a, b) => a.startNs - b.startNs);
    const named =
      from && fits.find(({ part }) => part.worker === from.worker && (from.partition === null || part.partition === from.partition));
    const call = named || fits[0];
    if (!call) {
      release.tries += 1;
      const isEarly = release.tries < MAX_TRIES && this.#calls.some(({ startNs }) => startNs + totalMs * MS > to);
      return isEarly ? void this.#releases.push(release) : this.#lost('it fits no call that is under way', source);
    }
    const { device } = call.part;
    const before = this.#lastEnd.get(device) ?? 0;
    const lateMs = named && call === named ? from.lateMs : 0;
    const earliest = Math.min(call.startNs + (lateMs + totalMs) * MS, to);
    // Not before the stamp that precedes the line, nor so early that it runs into the window before.
    const endNs = Math.max(earliest, release.from, before + heldMs * MS);
    // A stamp is older than its line: one that would have the lock granted too early bounds nothing.
    const bound = boundOf(release, to);
    const latest = bound >= endNs ? bound : to;
    if (endNs > to) return this.#lost('it runs into the window before it', source);
    const startNs = endNs - heldMs * MS;
    this.#lastEnd.set(device, endNs);
    this.#calls = this.#calls.filter((other) => other !== call);
    this.#placed({
      call, startNs, endNs, errorNs: Math.max(latest - endNs, endNs - earliest) + MS,
      durations: {
        ...(grant ? { pre_lock_cpu: grant.preMs * MS, lock_wait: grant.waitMs * MS } : {}),
        lock_held: heldMs * MS, start_fn: totalMs * MS, ...inside, ...call.durations,
      },
    }); // prettier-ignore
  }

  #fits(call: Call, { heldMs, totalMs, from, grant }: Release<S>, to: Nanoseconds): boolean {
    const end = call.startNs + totalMs * MS;
    if (end > to || end < from - LATE_NS) return false;
    if (!grant) return true;
    const start = end - heldMs * MS;
    return start >= grant.from - LATE_NS && (grant.to === null || start <= grant.to + ROUNDING_MS * MS);
  }
}

/** The latest that the window may have ended: before the stamp `to`, and mutex_held after the stamp that follows its grant. */
function boundOf<S>({ grant, heldMs }: Release<S>, to: Nanoseconds): Nanoseconds {
  return grant === null || grant.to === null ? to : Math.min(to, grant.to + (heldMs + 1) * MS);
}
