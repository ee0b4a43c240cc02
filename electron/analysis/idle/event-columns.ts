/** Events waiting for their turn, column by column: a million of them cost no million of objects. Handed out in the order of (t, seq). */
import type { Nanoseconds } from '../../contract/units.ts';

const FIRST_CAPACITY = 64;

export class EventColumns<Subject, Extra> {
  t = new Float64Array(FIRST_CAPACITY);
  seq = new Float64Array(FIRST_CAPACITY);
  code = new Uint8Array(FIRST_CAPACITY);
  device = new Int16Array(FIRST_CAPACITY);
  worker = new Int32Array(FIRST_CAPACITY);
  subject: Subject[] = [];
  extra: Extra[] = [];
  length = 0;
  #sorted = true;
  #order: Int32Array | null = null;

  push(t: Nanoseconds, seq: number, code: number, subject: Subject, device: number, worker: number, extra: Extra): void {
    const at = this.length;
    if (at === this.t.length) this.#grow(at * 2);
    if (at > 0 && this.#sorted) {
      const before = this.t[at - 1] as number;
      if (t < before || (t === before && seq < (this.seq[at - 1] as number))) this.#sorted = false;
    }
    this.t[at] = t;
    this.seq[at] = seq;
    this.code[at] = code;
    this.device[at] = device;
    this.worker[at] = worker;
    this.subject.push(subject);
    this.extra.push(extra);
    this.length = at + 1;
    this.#order = null;
  }

  /** Indices in the order of (t, seq); of equals, as they came. */
  order(): Int32Array {
    if (this.#order) return this.#order;
    const order = new Int32Array(this.length);
    for (let index = 0; index < order.length; index++) order[index] = index;
    if (!this.#sorted) this.#sort(order);
    return (this.#order = order);
  }

  /** Takes out what the first `count` of {@link order} are. */
  drop(count: number): void {
    if (count === 0) return;
    const rest = this.order().slice(count);
    const { t, seq, code, device, worker } = this;
    this.t = new Float64Array(Math.max(FIRST_CAPACITY, rest.length));
    this.seq = new Float64Array(this.t.length);
    this.code = new Uint8Array(this.t.length);
    this.device = new Int16Array(this.t.length);
    this.worker = new Int32Array(this.t.length);
    rest.forEach((from, to) => {
      this.t[to] = t[from] as number;
      this.seq[to] = seq[from] as number;
      this.code[to] = code[from] as number;
      this.device[to] = device[from] as number;
      this.worker[to] = worker[from] as number;
    });
    this.subject = Array.from(rest, (from) => this.subject[from] as Subject);
    this.extra = Array.from(rest, (from) => this.extra[from] as Extra);
    this.length = rest.length;
    this.#sorted = true;
    this.#order = null;
  }

  #grow(capacity: number): void {
    const copy = <T extends Float64Array | Uint8Array | Int16Array | Int32Array>(to: T, from: T): T => {
      to.set(from);
      return to;
    };
    this.t = copy(new Float64Array(capacity), this.t);
    this.seq = copy(new Float64Array(capacity), this.seq);
    this.code = copy(new Uint8Array(capacity), this.code);
    this.device = copy(new Int16Array(capacity), this.device);
    this.worker = copy(new Int32Array(capacity), this.worker);
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
