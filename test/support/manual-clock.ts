/** A clock that a test moves by hand. Timers run in order as time passes them; waiting promises get their turn after each. */
import type { Clock, Timer } from '../../electron/contract/clock.ts';

export class ManualClock implements Clock {
  #nowNs = 1_000_000_000;
  #wallMs = 1_700_000_000_000;
  #timers: { atNs: number; order: number; run: () => void }[] = [];
  #order = 0;

  nowNs(): number {
    return this.#nowNs;
  }

  wallMs(): number {
    return this.#wallMs;
  }

  after(ms: number, run: () => void): Timer {
    const timer = { atNs: this.#nowNs + ms * 1e6, order: this.#order++, run };
    this.#timers.push(timer);
    return { cancel: () => (this.#timers = this.#timers.filter((other) => other !== timer)) };
  }

  /** Moves on, running what falls due on the way. */
  async advance(ms: number): Promise<void> {
    const end = this.#nowNs + ms * 1e6;
    for (;;) {
      await settle();
      const due = this.#timers.filter((timer) => timer.atNs <= end).sort((a, b) => a.atNs - b.atNs || a.order - b.order)[0];
      if (!due) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.#wallMs += (due.atNs - this.#nowNs) / 1e6;
      this.#nowNs = due.atNs;
      due.run();
    }
    this.#wallMs += (end - this.#nowNs) / 1e6;
    this.#nowNs = end;
    await settle();
  }

  /** Time passes without anything getting its turn: the whole process was stopped. */
  freeze(ms: number): void {
    this.#nowNs += ms * 1e6;
    this.#wallMs += ms;
  }

  stepWall(ms: number): void {
    this.#wallMs += ms;
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
