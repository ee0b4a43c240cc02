/**
 * Tracing lines carry the wall clock, TIMELINE lines the time since the engine's start. One anchor puts both on one axis: the wall clock
 * at the engine's start. The wall clock may be set meanwhile; the other cannot, and shows it.
 */
import { MAX_INSTANT, type Nanoseconds } from '../../contract/units.ts';

/** Threads write a little out of order; a clock that was set moves further. */
const STEP_US = 1_000_000;

export interface Placed {
  t: Nanoseconds;
  /** The wall clock moved by so much against the engine's; null: it did not. */
  stepNs: number | null;
}

export class WallClock {
  /** Wall clock of the axis's zero, µs; null while the log does not tell. */
  #anchorUs: number | null;
  #lastWallUs: number | null = null;
  /** TIMELINE and tracing lines were seen to agree: a later distance is a step, not two logs one after the other. */
  #agreed = false;

  constructor(anchorUs: number | null) {
    this.#anchorUs = anchorUs;
  }

  /** Wall clock of the zero in ns, as a decimal string; `"0"` where unknown. */
  get zeroNs(): string {
    return this.#anchorUs === null ? '0' : nsText(this.#anchorUs);
  }

  get isAnchored(): boolean {
    return this.#anchorUs !== null;
  }

  /** Null: it cannot be placed. */
  place(wallUs: number): Placed | null {
    if (this.#anchorUs === null) return null;
    const last = this.#lastWallUs;
    let stepUs: number | null = null;
    if (last !== null && wallUs < last - STEP_US) {
      stepUs = wallUs - last;
      this.#anchorUs += stepUs;
    }
    this.#lastWallUs = wallUs;
    const t = (wallUs - this.#anchorUs) * 1_000;
    if (t > MAX_INSTANT) return null;
    return { t: Math.max(0, t), stepNs: stepUs === null ? null : stepUs * 1_000 };
  }

  /** A TIMELINE line at `t`. Answers the step that it shows, in ns, or null. */
  check(t: Nanoseconds): number | null {
    if (this.#anchorUs === null || this.#lastWallUs === null) return null;
    const aheadUs = this.#lastWallUs - this.#anchorUs - t / 1_000;
    if (Math.abs(aheadUs) < STEP_US) this.#agreed = true;
    if (!this.#agreed || aheadUs <= STEP_US) return null;
    this.#anchorUs += Math.round(aheadUs);
    return Math.round(aheadUs) * 1_000;
  }

  wallNsAt(t: Nanoseconds): string {
    return this.#anchorUs === null ? '0' : (BigInt(this.#anchorUs) * 1_000n + BigInt(Math.round(t))).toString();
  }
}

export function nsText(us: number): string {
  return (BigInt(us) * 1_000n).toString();
}
