/** Events waiting for their turn, column by column: a million of them cost no million of objects. Handed out in the order of (t, seq). */
import type { Nanoseconds } from '../../contract/units.ts';

export class EventColumns<Subject, Extra> {
  readonly t: Nanoseconds[] = [];
  readonly seq: number[] = [];
  readonly code: number[] = [];
  readonly subject: Subject[] = [];
  readonly device: number[] = [];
  readonly worker: number[] = [];
  readonly extra: Extra[] = [];
  #sorted = true;
  #order: Int32Array | null = null;

  get length(): number {
    return this.t.length;
  }

  push(t: Nanoseconds, seq: number, code: number, subject: Subject, device: number, worker: number, extra: Extra): void {
    const last = this.t.length - 1;
    if (last >= 0) {
      const before = this.t[last] as number;
      if (t < before || (t === before && seq < (this.seq[last] as number))) this.#sorted = false;
    }
    this.t.push(t);
    this.seq.push(seq);
    this.code.push(code);
    this.subject.push(subject);
    this.device.push(device);
    this.worker.push(worker);
    this.extra.push(extra);
    this.#order = null;
  }

  /** Indices in the order of (t, seq); of equals, as they came. */
  order(): Int32Array {
    if (this.#order) return this.#order;
    const order = new Int32Array(this.t.length);
    for (let index = 0; index < order.length; index++) order[index] = index;
    if (!this.#sorted) this.#sort(order);
    return (this.#order = order);
  }

  /** Takes out what the first `count` of {@link order} are. */
  drop(count: number): void {
    const rest = this.order().slice(count);
    const keep = <T>(column: T[]) => {
      const kept = Array.from(rest, (index) => column[index] as T);
      column.length = 0;
      for (const value of kept) column.push(value);
    };
    for (const column of [this.t, this.seq, this.code, this.subject, this.device, this.worker, this.extra]) keep<unknown>(column);
    this.#sorted = true;
    this.#order = null;
  }

  /** Lines are nearly in order: each moves a short way. Where they are not, the general sort takes over. */
  #sort(order: Int32Array): void {
    const { t, seq } = this;
    const compare = (a: number, b: number) => (t[a] as number) - (t[b] as number) || (seq[a] as number) - (seq[b] as number) || a - b;
    let moves = 0;
    for (let index = 1; index < order.length; index++) {
      const one = order[index] as number;
      let at = index - 1;
      if (compare(order[at] as number, one) <= 0) continue;
      while (at >= 0 && compare(order[at] as number, one) > 0) {
        order[at + 1] = order[at] as number;
        at -= 1;
      }
      order[at + 1] = one;
      moves += index - at;
      if (moves > 40 * order.length + 1_000) {
        order.sort(compare);
        return;
      }
    }
  }
}
