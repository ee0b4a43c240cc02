/** The page's clock: `performance.now` for durations, the system's wall clock for labels. */
import type { Clock } from '../../electron/contract/clock.ts';

export const pageClock: Clock = {
  nowNs: () => Math.round(performance.now() * 1e6),
  wallMs: () => Date.now(),
  after(ms, run) {
    const handle = setTimeout(run, ms);
    return { cancel: () => clearTimeout(handle) };
  },
};
