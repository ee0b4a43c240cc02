/** What one process knows of proofs and their partitions. Instants on the run's axis; NaN: has not happened. */
import type { Nanoseconds } from '../../contract/units.ts';

export interface ProofRecord {
  readonly proof: string;
  readonly attempt: number;
  readonly parts: Map<number, Part>;
  acceptedNs: Nanoseconds;
  circuit: string;
  priority: number;
  /** Something of a partition has happened. */
  begun: boolean;
  ended: boolean;
  outcome: string | null;
}

export interface Part {
  readonly of: ProofRecord;
  readonly partition: number;
  askedNs: Nanoseconds;
  grantedNs: Nanoseconds;
  waitedForBytes: boolean;
  queuedNs: Nanoseconds;
  /** Counted with the queued partitions whose params load. */
  loads: boolean;
  /** Sum of its kernels, and of those of tries that came to nothing; by the device that it was last on. */
  kernelNs: Nanoseconds;
  wastedNs: Nanoseconds;
  device: number;
  outcome: string | null;
  /** The engine's native call. */
  calledNs: Nanoseconds;
  /** Of the stage that it is in, for its stretch. */
  stageNs: Nanoseconds;
  stageBeside: number;
}

export class PartBook {
  #proofs = new Map<string, ProofRecord[]>();
  #last: ProofRecord | null = null;

  proof(proof: string, attempt: number): ProofRecord {
    // Events of one proof come in rows.
    const last = this.#last;
    if (last !== null && last.attempt === attempt && last.proof === proof) return last;
    let attempts = this.#proofs.get(proof);
    if (!attempts) this.#proofs.set(proof, (attempts = []));
    let record = attempts.find((one) => one.attempt === attempt);
    if (!record) {
      record = {
        proof, attempt, parts: new Map(), acceptedNs: Number.NaN, circuit: '', priority: 0, begun: false,
        ended: false, outcome: null,
      }; // prettier-ignore
      attempts.push(record);
    }
    this.#last = record;
    return record;
  }

  part(proof: string, attempt: number, partition: number): Part {
    return partOf(this.proof(proof, attempt), partition);
  }

  forget(record: ProofRecord): void {
    const attempts = this.#proofs.get(record.proof);
    const at = attempts?.indexOf(record) ?? -1;
    if (!attempts || at < 0) return;
    attempts.splice(at, 1);
    if (attempts.length === 0) this.#proofs.delete(record.proof);
    if (this.#last === record) this.#last = null;
  }

  *records(): Iterable<ProofRecord> {
    for (const attempts of this.#proofs.values()) yield* attempts;
  }
}

export function partOf(of: ProofRecord, partition: number): Part {
  let part = of.parts.get(partition);
  if (!part) {
    part = {
      of, partition, askedNs: Number.NaN, grantedNs: Number.NaN, waitedForBytes: false, queuedNs: Number.NaN, loads: false,
      kernelNs: 0, wastedNs: 0, device: -1, outcome: null, calledNs: Number.NaN, stageNs: Number.NaN, stageBeside: 0,
    }; // prettier-ignore
    of.parts.set(partition, part);
  }
  return part;
}
