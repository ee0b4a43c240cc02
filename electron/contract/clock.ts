/**
 * The one way to time. Whoever needs an instant, a wait or a wall-clock label takes a {@link Clock}; `electron/host/clock.ts` has the
 * machine's, `test/support/manual-clock.ts` one that a test moves by hand.
 */
import type { Nanoseconds } from './units.ts';

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Monotonic, from an origin of its own: for durations and order. Never falls, never jumps with the wall clock. */
  nowNs(): Nanoseconds;
  /** Wall clock, ms since the epoch: a label, never subtracted. */
  wallMs(): number;
  /** Calls `run` once after `ms`. Delays beyond 2^31 − 1 ms are waited out, not fired at once. */
  after(ms: number, run: () => void): Timer;
}

/** Resolves after `ms` of the clock's time, or at once when the signal is (or gets) aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      timer.cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(ms, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** What a wait that ran out of time yields. */
export const TIMED_OUT = Symbol('timed out');

/** The promise's value, or {@link TIMED_OUT} after `ms`. The promise itself goes on. */
export function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | typeof TIMED_OUT> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => resolve(TIMED_OUT));
    promise.then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      (error: unknown) => {
        timer.cancel();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
