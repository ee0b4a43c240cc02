/** Sums of one device's pieces of time: by term, by detail, by worker state, and over the steady stretch. */
import type { Nanoseconds } from '../../contract/units.ts';
import type { Part } from './parts.ts';
import { addTotals, DETAILS, makeTotals } from './terms.ts';

/** Hears every piece of a device in the order of time, without holes. */
export type PieceSink = (term: number, startNs: Nanoseconds, endNs: Nanoseconds, part: Part | null) => void;

export const WORKER_STATE_COUNT = 6;
/** Counts of workers by state in one number, a digit each: up to 255 of each. */
export const DIGIT = 256;

export class Tally {
  readonly totals = makeTotals();
  readonly details = new Float64Array(DETAILS.length);
  readonly workers = new Float64Array(WORKER_STATE_COUNT);
  /** Between the end of the j-th valid proof and that of the last one, and since. */
  readonly steady = makeTotals();
  readonly #tail = makeTotals();
  /** Valid proofs so far. */
  valid: number;
  readonly #steadyFrom: number;
  readonly #sink: PieceSink | null;

  /** `steadyFrom`: the valid proof whose end begins the steady stretch. */
  constructor(steadyFrom: number, valid: number, sink: PieceSink | null) {
    this.#steadyFrom = steadyFrom;
    this.valid = valid;
    this.#sink = sink;
  }

  /** `valid`: how many valid proofs had ended when the piece began. */
  add(term: number, detail: number, startNs: Nanoseconds, endNs: Nanoseconds, valid: number, part: Part | null): void {
    const ns = endNs - startNs;
    this.totals[term] = (this.totals[term] as number) + ns;
    if (detail >= 0) this.details[detail] = (this.details[detail] as number) + ns;
    if (valid >= this.#steadyFrom) {
      const totals = valid < this.valid ? this.steady : this.#tail;
      totals[term] = (totals[term] as number) + ns;
    }
    if (this.#sink) this.#sink(term, startNs, endNs, part);
  }

  addWorkers(packed: number, ns: Nanoseconds): void {
    let rest = packed;
    for (let state = 0; rest > 0; state++) {
      const count = rest % DIGIT;
      if (count > 0) this.workers[state] = (this.workers[state] as number) + count * ns;
      rest = (rest - count) / DIGIT;
    }
  }

  addAll(from: Tally): void {
    addTotals(this.totals, from.totals);
    addTotals(this.details, from.details);
    addTotals(this.workers, from.workers);
    addTotals(this.steady, from.steady);
  }

  /** One more valid proof ended. */
  takeValid(): void {
    this.valid += 1;
    addTotals(this.steady, this.#tail);
    this.#tail.fill(0);
  }
}
