/** How many syntheses ran at once, as a curve over one process's time, whose average over any stretch is two look-ups. */
import type { Nanoseconds } from '../../contract/units.ts';

export class ConcurrencyCurve {
  #steps: [t: number, by: number][] = [];
  #times: number[] = [];
  /** Count from each time on, and the integral up to it. */
  #counts: number[] = [];
  #integrals: number[] = [];
  most = 0;

  step(t: Nanoseconds, by: 1 | -1): void {
    this.#steps.push([t, by]);
  }

  /** All steps are there. An end comes before a start at the same instant. */
  finish(): void {
    let count = 0;
    let integral = 0;
    let last = 0;
    for (const [t, by] of this.#steps.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
      integral += count * (t - last);
      last = t;
      count += by;
      this.most = Math.max(this.most, count);
      if (this.#times.at(-1) === t) {
        this.#counts[this.#counts.length - 1] = count;
      } else {
        this.#times.push(t);
        this.#counts.push(count);
        this.#integrals.push(integral);
      }
    }
    this.#steps = [];
  }

  /** Time average over [from, to); the count at `from` where the stretch is empty. */
  average(from: Nanoseconds, to: Nanoseconds): number {
    if (to <= from) return this.#at(from).count;
    return (this.#at(to).integral - this.#at(from).integral) / (to - from);
  }

  #at(t: Nanoseconds): { count: number; integral: number } {
    let [low, high] = [0, this.#times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#times[middle] as number) <= t) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return { count: 0, integral: 0 };
    const count = this.#counts[low - 1] as number;
    return { count, integral: (this.#integrals[low - 1] as number) + count * (t - (this.#times[low - 1] as number)) };
  }
}
