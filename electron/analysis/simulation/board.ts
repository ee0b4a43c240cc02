/**
 * Which partition starts its synthesis next, which is picked up next, and who has a permit: the decisions of `native/pipeline`
 * (board, order, permits) again, one by one, so that a simulated scheduler does what the real one does. No time passes here.
 */
import { InterlockError } from '../../contract/errors.ts';
import type { Scheduler } from '../../contract/scheduler.ts';
import type { SimulatedProof, SimulationSetup, StageTimes } from './model.ts';

/** How often a younger proof or partition of the same priority may go first. */
const OVERTAKE_LIMIT = 32;
const POST_PRIORITY = 4;

export type Shortage = 'bytes' | 'count';
type At = 'waiting' | 'synthesis' | 'withheld' | 'queued' | 'worker' | 'verify' | 'ended';

export interface Part {
  readonly proof: BoardProof;
  readonly partition: number;
  readonly times: StageTimes;
  at: At;
  asked: boolean;
  shortage: Shortage | null;
  since: number;
  passed: number;
}

export interface BoardProof {
  readonly id: string;
  readonly what: SimulatedProof;
  /** A counter of acceptance: smaller is older. */
  readonly accepted: number;
  readonly parts: Part[];
  passed: number;
  promised: number;
  started: boolean;
  unstarted: number;
  left: number;
}

export interface Step {
  asked: Part[];
  granted: Part | null;
}

export class Board {
  readonly #scheduler: Scheduler;
  readonly #partitionBytes: number;
  readonly #totalBytes: number;
  /** Proofs with a partition that has not ended, in the order of acceptance. */
  #here: BoardProof[] = [];
  #accepted = 0;
  #since = 0;
  #held = 0;
  #promised = 0;

  constructor(setup: Pick<SimulationSetup, 'scheduler' | 'memory'>) {
    this.#scheduler = setup.scheduler;
    this.#partitionBytes = setup.memory?.partitionBytes ?? 0;
    this.#totalBytes = setup.memory?.totalBytes ?? Number.POSITIVE_INFINITY;
  }

  /** Takes a proof over. Fails with `budget_too_small` where it could never start, as the prover refuses it. */
  accept(id: string, what: SimulatedProof): BoardProof {
    const needed = this.#scheduler.dispatch === 'batch' ? what.partitions.length : 1;
    const spare = this.#scheduler.reserve_post && what.priority < POST_PRIORITY ? 1 : 0;
    const short = this.#shortageOf(needed, spare, 0);
    if (short !== null) {
      const words = short === 'count' ? `${needed + spare} partitions in flight` : 'more memory';
      throw new InterlockError('budget_too_small', `With this scheduler a proof of ${what.partitions.length} partitions needs ${words}.`);
    }
    const parts: Part[] = [];
    const proof: BoardProof = {
      id, what, accepted: this.#accepted++, parts, passed: 0, promised: 0, started: false,
      unstarted: what.partitions.length, left: what.partitions.length,
    }; // prettier-ignore
    what.partitions.forEach((times, partition) =>
      parts.push({ proof, partition, times, at: 'waiting', asked: false, shortage: null, since: 0, passed: 0 }),
    );
    this.#here.push(proof);
    return proof;
  }

  /** What happens when `idle` synthesis workers have nothing to do: the next ones ask for permits, the first of them may get one. */
  dispatch(idle: number): Step {
    const { dispatch, reserve_post } = this.#scheduler;
    const step: Step = { asked: [], granted: null };
    let firstShortage: Shortage | null = null;
    const starts = this.#nextStarts(idle);
    for (const [place, part] of starts.entries()) {
      const { proof } = part;
      if (!part.asked) {
        part.asked = true;
        step.asked.push(part);
      }
      const spare = reserve_post && proof.what.priority < POST_PRIORITY ? 1 : 0;
      const isPromised = proof.promised > 0;
      const claim = dispatch === 'batch' ? proof.unstarted : 1;
      const shortage: Shortage | null = firstShortage ?? (isPromised ? null : this.#shortageOf(claim, spare));
      if (shortage !== null) {
        firstShortage = shortage;
        part.shortage = shortage;
        continue;
      }
      // The first one is granted; the others are looked at again once it has started.
      if (place > 0) continue;
      if (dispatch === 'batch') {
        if (!isPromised) {
          this.#promised += claim;
          proof.promised = claim;
        }
        this.#promised -= 1;
        proof.promised -= 1;
      }
      this.#held += 1;
      for (const other of this.#here) {
        const isPassed = other.unstarted > 0 && other.what.priority === proof.what.priority && other.accepted < proof.accepted;
        if (isPassed) other.passed += 1;
      }
      part.at = 'synthesis';
      proof.started = true;
      proof.unstarted -= 1;
      step.granted = part;
      break;
    }
    return step;
  }

  /** A synthesis ended; the partitions that are queued by that. */
  synthesised(part: Part): Part[] {
    part.at = 'withheld';
    const { parts } = part.proof;
    if (this.#scheduler.dispatch === 'batch' && parts.some(({ at }) => at === 'waiting' || at === 'synthesis')) return [];
    const queued = this.#scheduler.dispatch === 'batch' ? parts.filter(({ at }) => at === 'withheld') : [part];
    for (const one of queued) {
      one.at = 'queued';
      one.since = this.#since++;
      this.#queue.push(one);
    }
    return queued;
  }

  readonly #queue: Part[] = [];

  get queued(): number {
    return this.#queue.length;
  }

  /** The partition that a worker picks up now. */
  pick(): Part | null {
    let best = -1;
    for (let index = 0; index < this.#queue.length; index++) {
      if (best < 0 || this.#goesFirst(this.#queue[index] as Part, this.#queue[best] as Part)) best = index;
    }
    if (best < 0) return null;
    const [chosen] = this.#queue.splice(best, 1) as [Part];
    for (const other of this.#queue) {
      if (other.proof.what.priority === chosen.proof.what.priority && other.since < chosen.since) other.passed += 1;
    }
    chosen.at = 'worker';
    return chosen;
  }

  releasePermit(): void {
    this.#held -= 1;
  }

  /** Nothing more happens to the partition. True where its proof is complete by that. */
  endPartition(part: Part): boolean {
    part.at = 'ended';
    part.proof.left -= 1;
    if (part.proof.left > 0) return false;
    this.#here = this.#here.filter((proof) => proof !== part.proof);
    return true;
  }

  #shortageOf(claim: number, spare: number, inUse = this.#held + this.#promised): Shortage | null {
    const count = inUse + claim + spare;
    if (count > this.#scheduler.partitions_in_flight) return 'count';
    return count * this.#partitionBytes > this.#totalBytes ? 'bytes' : null;
  }

  #nextStarts(limit: number): Part[] {
    const { proofs_in_flight, dispatch } = this.#scheduler;
    let admitted = this.#here;
    if (admitted.length > proofs_in_flight) {
      admitted = [...admitted].sort(
        (a, b) => b.what.priority - a.what.priority || Number(b.started) - Number(a.started) || this.#compareProofs(a, b),
      );
      admitted.length = proofs_in_flight;
    }
    const inOrder = [...admitted].sort((a, b) => this.#compareProofs(a, b));
    // A batch that has begun is synthesised to its end before another begins: its withheld partitions hold permits until then.
    const begun = dispatch === 'batch' ? this.#here.filter((proof) => proof.promised > 0) : [];
    const starts: Part[] = [];
    for (const proof of begun.length > 0 ? [...begun, ...inOrder.filter((proof) => proof.promised === 0)] : inOrder) {
      if (proof.unstarted === 0) continue;
      for (const part of proof.parts) {
        if (part.at !== 'waiting') continue;
        starts.push(part);
        if (starts.length >= limit) return starts;
      }
    }
    return starts;
  }

  #compareProofs(a: BoardProof, b: BoardProof): number {
    const late = (proof: BoardProof) => proof.passed >= OVERTAKE_LIMIT;
    return b.what.priority - a.what.priority || Number(late(b)) - Number(late(a)) || this.#key(a) - this.#key(b) || a.accepted - b.accepted;
  }

  #key(proof: BoardProof): number {
    if (proof.passed >= OVERTAKE_LIMIT) return 0;
    switch (this.#scheduler.order) {
      case 'shortest-first':
        return proof.left * proof.what.constraints;
      case 'deadline':
        return proof.what.deadline ?? Number.MAX_VALUE;
      default:
        return 0;
    }
  }

  #goesFirst(a: Part, b: Part): boolean {
    const late = (part: Part) => part.passed >= OVERTAKE_LIMIT;
    const outer = b.proof.what.priority - a.proof.what.priority || Number(late(b)) - Number(late(a));
    if (outer !== 0) return outer < 0;
    if (late(a) || this.#scheduler.order === 'fifo') return a.since < b.since;
    const inner =
      this.#key(a.proof) - this.#key(b.proof) || a.proof.accepted - b.proof.accepted || a.partition - b.partition || a.since - b.since;
    return inner < 0;
  }
}
