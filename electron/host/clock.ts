/** The machine's clock. The only file that reads the wall clock or sets timers of the run time. */
import type { Clock, Timer } from '../contract/clock.ts';

/** `setTimeout` fires at once beyond this many milliseconds. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  nowNs: () => Number(process.hrtime.bigint()),
  wallMs: () => Date.now(),
  after(ms: number, run: () => void): Timer {
    let left = Math.max(0, ms);
    let handle: NodeJS.Timeout;
    const step = () => {
      const part = Math.min(left, LONGEST_TIMEOUT_MS);
      left -= part;
      handle = setTimeout(left > 0 ? step : run, part);
    };
    step();
    return { cancel: () => clearTimeout(handle) };
  },
};
