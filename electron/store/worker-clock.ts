/** The machine's clock for the store's own threads: a clock cannot be handed to another thread. */
import type { Clock, Timer } from '../contract/clock.ts';

export const workerClock: Clock = {
  nowNs: () => Number(process.hrtime.bigint()),
  wallMs: () => Date.now(),
  after(ms: number, run: () => void): Timer {
    // The store never waits longer than minutes; setTimeout's limit is 24 days.
    const handle = setTimeout(run, ms);
    return { cancel: () => clearTimeout(handle) };
  },
};
