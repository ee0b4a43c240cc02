/**
 * When a prover that died may be started again: after 1, 2, 4 … 60 s, at most five starts in ten minutes. The starts are counted over a
 * window, not by how long each lived, so neither quick nor slow deaths go round for ever.
 */
import type { Nanoseconds } from '../contract/units.ts';

export const CRASH_LIMITS = { mostStarts: 5, windowMs: 600_000, longestMs: 60_000 };

export class CrashWindow {
  readonly #limits: typeof CRASH_LIMITS;
  #starts: Nanoseconds[] = [];
  #crashes: Nanoseconds[] = [];
  #first: string | null = null;

  constructor(limits = CRASH_LIMITS) {
    this.#limits = limits;
  }

  /** The first error of the present series: the later ones are as a rule its consequences. */
  get firstError(): string | null {
    return this.#first;
  }

  started(nowNs: Nanoseconds): void {
    this.#starts.push(nowNs);
  }

  /** Notes a crash. Answers how long to wait, or `hold` when the window is full. */
  crashed(nowNs: Nanoseconds, message: string): { waitMs: number } | { hold: true } {
    const from = nowNs - this.#limits.windowMs * 1e6;
    this.#starts = this.#starts.filter((at) => at > from);
    this.#crashes = this.#crashes.filter((at) => at > from);
    if (this.#crashes.length === 0) this.#first = message;
    this.#crashes.push(nowNs);
    if (this.#starts.length >= this.#limits.mostStarts) return { hold: true };
    return { waitMs: Math.min(1000 * 2 ** (this.#crashes.length - 1), this.#limits.longestMs) };
  }

  reset(): void {
    this.#starts = [];
    this.#crashes = [];
    this.#first = null;
  }
}
