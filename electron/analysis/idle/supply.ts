/**
 * What one process has ready or in the making, in the order in which it began: partitions in synthesis, withheld, queued, waiting for a
 * permit, proofs of which nothing has begun; and which params load. The same for all its devices.
 */
import type { Nanoseconds } from '../../contract/units.ts';
import { NOTHING_LOADS } from './account.ts';
import { partOf, type Part, type ProofRecord } from './parts.ts';

const PRIORITIES = 4;

export class Supply {
  ready: boolean;
  readonly synthesising = new Map<Part, number>();
  readonly withheld = new Set<Part>();
  readonly queued = new Set<Part>();
  readonly asked = new Set<Part>();
  /** By priority, 1 first. */
  readonly #unbegun: Set<ProofRecord>[] = Array.from({ length: PRIORITIES + 1 }, () => new Set());
  /** A new set at each change: segments keep what held then. */
  loading: ReadonlySet<string> = NOTHING_LOADS;
  /** Queued ones whose params load. */
  #queuedLoad = 0;

  constructor(ready: boolean) {
    this.ready = ready;
  }

  get isEligible(): boolean {
    return this.queued.size > this.#queuedLoad;
  }

  get allQueuedLoad(): boolean {
    return this.#queuedLoad > 0 && this.queued.size === this.#queuedLoad;
  }

  accept(record: ProofRecord, circuit: string, priority: number, t: Nanoseconds): void {
    record.acceptedNs = t;
    record.circuit = circuit;
    this.#unbegun[record.priority]?.delete(record);
    record.priority = Math.min(PRIORITIES, Math.max(0, priority));
    record.ended = false;
    record.outcome = null;
    if (!record.begun) this.#unbegun[record.priority]?.add(record);
    this.#recount();
  }

  ask(part: Part, t: Nanoseconds): void {
    this.begin(part.of);
    part.askedNs = t;
    this.asked.delete(part);
    this.asked.add(part);
  }

  grant(part: Part, bytes: boolean, t: Nanoseconds): void {
    part.grantedNs = t;
    part.waitedForBytes = bytes;
    this.asked.delete(part);
  }

  startSynthesis(part: Part, synthesiser: number): void {
    this.begin(part.of);
    this.synthesising.delete(part);
    this.synthesising.set(part, synthesiser);
  }

  endSynthesis(part: Part): void {
    this.begin(part.of);
    this.synthesising.delete(part);
    this.withheld.delete(part);
    this.withheld.add(part);
  }

  queue(part: Part, t: Nanoseconds): void {
    this.begin(part.of);
    part.queuedNs = t;
    this.withheld.delete(part);
    this.asked.delete(part);
    this.#dequeue(part);
    this.queued.add(part);
    part.loads = this.loading.has(part.of.circuit);
    if (part.loads) this.#queuedLoad += 1;
  }

  pickUp(part: Part): void {
    this.begin(part.of);
    this.withheld.delete(part);
    this.#dequeue(part);
  }

  endPart(part: Part): void {
    this.synthesising.delete(part);
    this.withheld.delete(part);
    this.asked.delete(part);
    this.#dequeue(part);
  }

  endProof(record: ProofRecord): void {
    record.ended = true;
    this.#unbegun[record.priority]?.delete(record);
    for (const part of record.parts.values()) this.endPart(part);
  }

  begin(record: ProofRecord): void {
    if (record.begun) return;
    record.begun = true;
    this.#unbegun[record.priority]?.delete(record);
  }

  load(circuit: string, loads: boolean): void {
    const next = new Set(this.loading);
    if (loads) next.add(circuit);
    else next.delete(circuit);
    this.setLoading(next);
  }

  setLoading(circuits: ReadonlySet<string>): void {
    this.loading = circuits.size === 0 ? NOTHING_LOADS : circuits;
    this.#recount();
  }

  /** The oldest go until `count` are left. */
  dropQueued(count: number): void {
    for (const part of this.queued) {
      if (this.queued.size <= count) return;
      this.#dequeue(part);
    }
  }

  dropWithheld(count: number): void {
    for (const part of this.withheld) {
      if (this.withheld.size <= count) return;
      this.withheld.delete(part);
    }
  }

  /** N if nothing is picked up any more. */
  candidate(): Part | null {
    for (const parts of [this.synthesising, this.queued, this.withheld, this.asked]) {
      for (const part of parts.keys()) return part;
    }
    for (let priority = PRIORITIES; priority >= 0; priority--) {
      for (const record of this.#unbegun[priority] as Set<ProofRecord>) return partOf(record, 0);
    }
    return null;
  }

  #dequeue(part: Part): void {
    if (!this.queued.delete(part)) return;
    if (part.loads) this.#queuedLoad -= 1;
    part.loads = false;
  }

  #recount(): void {
    this.#queuedLoad = 0;
    for (const part of this.queued) {
      part.loads = this.loading.has(part.of.circuit);
      if (part.loads) this.#queuedLoad += 1;
    }
  }
}
