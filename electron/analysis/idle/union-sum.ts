/**
 * Union and sum of intervals that come in the order of their ends. Disjoint stretches are kept as a stack: a new interval swallows those that it
 * reaches.
 */
import type { Nanoseconds } from '../../contract/units.ts';

export class UnionSum {
  #starts: number[] = [];
  #ends: number[] = [];
  #union = 0;
  #sum = 0;
  count = 0;
  /** What ends later is cut here. */
  limitNs = Number.POSITIVE_INFINITY;

  /** Clipped at 0; empty ones count nothing. An end before the last one's is put right by swallowing too. */
  add(startNs: Nanoseconds, endNs: Nanoseconds): void {
    this.count += 1;
    let start = Math.max(0, startNs);
    let end = Math.min(endNs, this.limitNs);
    if (end <= start) return;
    this.#sum += end - start;
    while (this.#ends.length > 0 && (this.#ends.at(-1) as number) >= start) {
      const lastStart = this.#starts.pop() as number;
      const lastEnd = this.#ends.pop() as number;
      this.#union -= lastEnd - lastStart;
      if (lastStart < start) start = lastStart;
      if (lastEnd > end) end = lastEnd;
    }
    this.#starts.push(start);
    this.#ends.push(end);
    this.#union += end - start;
  }

  /** `open`: starts of spans that count up to `toNs`. */
  total(toNs: Nanoseconds, open: readonly Nanoseconds[]): { union: Nanoseconds; sum: Nanoseconds } {
    let { union, sum } = { union: this.#union, sum: this.#sum };
    if (open.length === 0) return { union, sum };
    const from = Math.max(0, Math.min(...open));
    for (let at = this.#ends.length - 1; at >= 0 && (this.#ends[at] as number) > from; at--) {
      union -= (this.#ends[at] as number) - Math.max(from, this.#starts[at] as number);
    }
    union += Math.max(0, toNs - from);
    for (const start of open) sum += Math.max(0, toNs - Math.max(0, start));
    return { union, sum };
  }
}
