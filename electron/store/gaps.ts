/** Which sequence numbers of one process have been seen, as ranges: holes are few, numbers may be huge. Pure, in memory. */

export interface Gap {
  /** Inclusive. */
  from: number;
  to: number;
  /** `t` of the event before and after it: in between something is missing. */
  tFrom: number;
  tTo: number;
}

export type Seen = 'next' | 'skips' | 'earlier';

export class Gaps {
  /** The number that comes next; all below are seen or in a gap. */
  next: number;
  #lastT: number;
  /** Not yet stored as losses: they may still fill. In order. */
  #open: Gap[] = [];

  constructor(next = 0, lastT = 0, open: Gap[] = []) {
    this.next = next;
    this.#lastT = lastT;
    this.#open = open;
  }

  see(seq: number, t: number): Seen {
    if (seq === this.next) {
      this.next += 1;
      this.#lastT = t;
      return 'next';
    }
    if (seq > this.next) {
      this.#open.push({ from: this.next, to: seq - 1, tFrom: Math.min(this.#lastT, t), tTo: Math.max(this.#lastT, t) });
      this.next = seq + 1;
      this.#lastT = t;
      return 'skips';
    }
    return 'earlier';
  }

  /** A missing number came late. True if its gap was still open here. */
  fill(seq: number): boolean {
    const at = this.#open.findIndex((gap) => gap.from <= seq && seq <= gap.to);
    const gap = this.#open[at];
    if (!gap) return false;
    const left = { ...gap, to: seq - 1 };
    const right = { ...gap, from: seq + 1 };
    this.#open.splice(at, 1, ...[left, right].filter((part) => part.from <= part.to));
    return true;
  }

  /** Everything up to `upto` is written: what is missing below is lost. Hands those gaps out, once. */
  settle(upto: number, t: number): Gap[] {
    if (upto >= this.next) {
      this.#open.push({ from: this.next, to: upto, tFrom: Math.min(this.#lastT, t), tTo: t });
      this.next = upto + 1;
    }
    const settled = this.#open.filter((gap) => gap.to <= upto);
    if (settled.length > 0) this.#open = this.#open.filter((gap) => gap.to > upto);
    return settled;
  }

  copy(): Gaps {
    return new Gaps(this.next, this.#lastT, [...this.#open]);
  }
}

/** What of the gaps lies in none of the ranges; both ascending. A part keeps its gap's stamps. */
export function subtractGaps(gaps: readonly Gap[], ranges: readonly { from: number; to: number }[]): Gap[] {
  return gaps.flatMap((gap) => {
    const left: Gap[] = [];
    let { from } = gap;
    for (const range of ranges) {
      if (range.to < from || range.from > gap.to) continue;
      if (range.from > from) left.push({ ...gap, from, to: range.from - 1 });
      from = range.to + 1;
    }
    if (from <= gap.to) left.push({ ...gap, from });
    return left;
  });
}
