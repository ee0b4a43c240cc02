/**
 * The table of docs/idle-causes.md, rows 2 to 15, as predicates in its order. Row 1 (events are missing) and kernels come before all of them and are
 * looked at by whoever asks ({@link causeOf} is for an instant where neither holds).
 */
import type { Cause } from '../../contract/idle.ts';

/** What is true of one device at one instant. "Worker" is always one of the device. */
export interface DeviceInstant {
  /** A prover process of the run lives and has this device. */
  alive: boolean;
  /** Every slot's worker is dead. */
  allDead: boolean;
  inDevice: boolean;
  waiting: boolean;
  lockHeld: boolean;
  inPrepare: boolean;
  inFinish: boolean;
  /** A slot that nobody took, or whose worker has put down what it had. */
  hasFree: boolean;
  ready: boolean;
  /** There is a queued partition, and the params of each are loading. */
  allQueuedLoad: boolean;
  /** A queued partition's params are not loading. */
  eligible: boolean;
  withheld: boolean;
  /** The host keeps a proof back. */
  held: boolean;
  hasNext: boolean;
  nextLoads: boolean;
  nextAccepted: boolean;
  /** t ≥ a − w(N). */
  permitDue: boolean;
  nextWaitsForPermit: boolean;
  /** The device has picked something up in this process's part of the run. */
  pickedBefore: boolean;
  /** N is of the proof that it picked up last. */
  sameProof: boolean;
}

export interface Row {
  cause: Cause;
  holds: (at: DeviceInstant) => boolean;
}

/** The first one that holds is the cause; the last always does. The order is that of `CAUSES`. */
export const ROWS: readonly Row[] = [
  { cause: 'down', holds: (at) => !at.alive },
  { cause: 'fault', holds: (at) => at.allDead },
  { cause: 'in_lock', holds: (at) => at.inDevice },
  { cause: 'handoff', holds: (at) => at.waiting && !at.lockHeld },
  { cause: 'preamble', holds: (at) => at.inPrepare },
  { cause: 'warm_up', holds: (at) => !at.ready || (at.hasNext && at.nextLoads) || at.allQueuedLoad },
  { cause: 'epilogue', holds: (at) => at.inFinish && !at.hasFree && (at.eligible || (at.waiting && at.lockHeld)) },
  { cause: 'dispatch', holds: (at) => (at.eligible && at.hasFree) || at.withheld },
  { cause: 'held', holds: (at) => (!at.hasNext || !at.nextAccepted) && at.held },
  { cause: 'no_work', holds: (at) => !at.hasNext || !at.nextAccepted },
  { cause: 'permit', holds: (at) => at.permitDue || at.nextWaitsForPermit },
  { cause: 'first_synthesis', holds: (at) => !at.pickedBefore },
  { cause: 'starved', holds: (at) => at.sameProof },
  { cause: 'cross_sector', holds: () => true },
];

/** Rows before this one say nothing of N: they are known at once. */
export const FIRST_ROW_OF_NEXT = 5;

/** Index into {@link ROWS} and `CAUSES`. */
export function rowOf(at: DeviceInstant): number {
  let row = 0;
  while (!(ROWS[row] as Row).holds(at)) row += 1;
  return row;
}

/** The same, of rows 2 to 6 alone; {@link FIRST_ROW_OF_NEXT} where none of them holds. */
export function earlyRowOf(at: DeviceInstant): number {
  for (let row = 0; row < FIRST_ROW_OF_NEXT; row++) if ((ROWS[row] as Row).holds(at)) return row;
  return FIRST_ROW_OF_NEXT;
}

export function causeOf(at: DeviceInstant): Cause {
  return (ROWS[rowOf(at)] as Row).cause;
}

/** Everything false: a scratch to fill. */
export function makeInstant(): DeviceInstant {
  return {
    alive: false, allDead: false, inDevice: false, waiting: false, lockHeld: false, inPrepare: false, inFinish: false, hasFree: false,
    ready: false, allQueuedLoad: false, eligible: false, withheld: false, held: false, hasNext: false, nextLoads: false,
    nextAccepted: false, permitDue: false, nextWaitsForPermit: false, pickedBefore: false, sameProof: false,
  }; // prettier-ignore
}
