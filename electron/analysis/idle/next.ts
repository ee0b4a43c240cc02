/** N of docs/idle-causes.md: what is known of the partition that a device picks up next. */
import type { Nanoseconds } from '../../contract/units.ts';
import type { Part } from './parts.ts';

export type Relation = 'first' | 'same' | 'other';

export interface NextFacts {
  circuit: string;
  /** NaN: never. */
  acceptedNs: Nanoseconds;
  /** a − w: from here on it would have been queued, had it not waited for its permit. */
  dueNs: Nanoseconds;
  /** Waits for its permit in [waitFromNs, waitToNs). */
  waitFromNs: Nanoseconds;
  waitToNs: Nanoseconds;
  /** What for. */
  bytes: boolean;
  /** To what the device picked up last: nothing yet, the same proof, another one. */
  relation: Relation;
}

/** `untilNs`: its pick-up, or how far anything is known: stands in for a queue time that is missing. */
export function factsOf(part: Part, untilNs: Nanoseconds, lastProof: string | null): NextFacts {
  const { of, askedNs, grantedNs } = part;
  const queuedNs = Number.isNaN(part.queuedNs) ? untilNs : part.queuedNs;
  const waitedNs = grantedNs > askedNs ? grantedNs - askedNs : 0;
  return {
    circuit: of.circuit,
    acceptedNs: of.acceptedNs,
    dueNs: queuedNs - waitedNs,
    waitFromNs: askedNs,
    waitToNs: Number.isNaN(grantedNs) ? queuedNs : grantedNs,
    bytes: part.waitedForBytes,
    relation: lastProof === null ? 'first' : lastProof === of.proof ? 'same' : 'other',
  };
}
