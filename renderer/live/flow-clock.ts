/**
 * The run's clock as the lanes flow along it, between the messages that say what time it is. It never runs backwards, and it makes up
 * for small differences by running a little faster or slower, so that the lanes do not twitch with every message.
 */
const MOST_SLEW = 0.08;
/** From here on a difference is a jump: the page slept, or the connection was away. */
const JUMP_NS = 1.5e9;

export class FlowClock {
  #runNs = 0;
  #pageNs = 0;
  /** How far behind (positive) or ahead the shown time is of what the host last said. */
  #behindNs = 0;
  #going = false;

  /** The host says that its run's clock shows `runNs`; the page's clock shows `pageNs`. */
  set(runNs: number, pageNs: number): void {
    if (!this.#going) {
      this.#runNs = runNs;
      this.#pageNs = pageNs;
      this.#behindNs = 0;
      this.#going = true;
      return;
    }
    const shown = this.read(pageNs);
    this.#behindNs = runNs - shown;
    if (Math.abs(this.#behindNs) > JUMP_NS) {
      this.#runNs = this.#behindNs > 0 ? runNs : shown;
      this.#behindNs = 0;
    }
  }

  /** The run's time to show. */
  read(pageNs: number): number {
    if (!this.#going) return this.#runNs;
    const passed = Math.max(0, pageNs - this.#pageNs);
    const slew = Math.sign(this.#behindNs) * Math.min(Math.abs(this.#behindNs), passed * MOST_SLEW);
    this.#runNs += passed + slew;
    this.#behindNs -= slew;
    this.#pageNs = pageNs;
    return this.#runNs;
  }

  /** A new run, or the end of this one: the next `set` counts as the first. */
  reset(): void {
    this.#going = false;
    this.#runNs = 0;
  }
}
