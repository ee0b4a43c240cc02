/** What happens next: a binary heap in the order of (time, order of being planned). */

export interface Planned<T> {
  t: number;
  order: number;
  what: T;
}

export class Agenda<T> {
  readonly #heap: Planned<T>[] = [];
  #order = 0;

  plan(t: number, what: T): void {
    const heap = this.#heap;
    const item = { t, order: this.#order++, what };
    let at = heap.length;
    heap.push(item);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up] as Planned<T>;
      if (isBefore(parent, item)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = item;
  }

  /** The next one, taken off; undefined when nothing is planned. */
  next(): Planned<T> | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= heap.length) break;
      if (down + 1 < heap.length && isBefore(heap[down + 1] as Planned<T>, heap[down] as Planned<T>)) down += 1;
      const child = heap[down] as Planned<T>;
      if (isBefore(last, child)) break;
      heap[at] = child;
      at = down;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Planned<unknown>, b: Planned<unknown>): boolean {
  return a.t < b.t || (a.t === b.t && a.order < b.order);
}
