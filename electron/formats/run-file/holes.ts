/**
 * Which sequence numbers of a process never came. Holds a bounded number of holes: past that the last one grows, so that a hostile file
 * cannot fill the memory and nothing missing is forgotten.
 */
import type { Nanoseconds } from '../../contract/units.ts';

export interface SeqHole {
  seqFrom: number;
  seqTo: number;
  /** Numbers missing. */
  count: number;
  /** Instants of the events before and after it. */
  tFrom: Nanoseconds;
  tTo: Nanoseconds;
}

const MOST_HOLES = 10_000;

export class SeqHoles {
  #next: number;
  #lastT = 0;
  #holes: SeqHole[] = [];

  /** `from`: the first number that has to come. */
  constructor(from = 0) {
    this.#next = from;
  }

  /** False where the number came before, or a larger one did. */
  take(seq: number, t: Nanoseconds): boolean {
    if (seq < this.#next) return false;
    if (seq > this.#next) this.#add({ seqFrom: this.#next, seqTo: seq - 1, count: seq - this.#next, tFrom: Math.min(this.#lastT, t), tTo: Math.max(this.#lastT, t) }); // prettier-ignore
    this.#next = seq + 1;
    this.#lastT = t;
    return true;
  }

  /** A loss that the run had already where it was made. */
  explain(seqFrom: number, seqTo: number): void {
    this.#holes = this.#holes.flatMap((hole) => {
      if (hole.seqTo < seqFrom || hole.seqFrom > seqTo) return [hole];
      const left = { ...hole, seqTo: seqFrom - 1, count: Math.min(hole.count, seqFrom - hole.seqFrom) };
      const right = { ...hole, seqFrom: seqTo + 1, count: Math.min(hole.count, hole.seqTo - seqTo) };
      return [left, right].filter((part) => part.seqTo >= part.seqFrom);
    });
  }

  unexplained(): readonly SeqHole[] {
    return this.#holes;
  }

  #add(hole: SeqHole): void {
    const last = this.#holes.at(-1);
    if (this.#holes.length < MOST_HOLES || !last) {
      this.#holes.push(hole);
      return;
    }
    last.seqTo = hole.seqTo;
    last.count += hole.count;
    last.tTo = Math.max(last.tTo, hole.tTo);
  }
}
