/**
 * How a whole run is told to whoever analyses or writes it: process by process, each with its events in the order of `seq`. The store
 * walks its rows this way, an import its lines; reports, idle causes, simulation and exports listen.
 *
 *   beginProcess → take … take → takeLoss … → endProcess → beginProcess → … → takeHold …
 */
import type { EventOf, StateLine, TimelineEvent } from '../contract/timeline-events.ts';
import type { Nanoseconds } from '../contract/units.ts';

/** Events that are missing, on the process's clock: unknown from `tFrom` to `healedT` (null: to the process's end). */
export interface FedLoss {
  tFrom: Nanoseconds;
  tTo: Nanoseconds;
  count: number;
  healedT: Nanoseconds | null;
  /** The snapshot that ended it. */
  state: StateLine | null;
}

export interface RunFeed {
  /**
   * `originT`: the first process's `run_started` on its own clock (the same value for every process of the run is fine: only the first
   * counts). `fromStart`: the part of the run begins with the process's hello; else the process served another run before.
   */
  beginProcess(hello: EventOf<'hello'>, originT: Nanoseconds, fromStart: boolean): void;
  take(event: TimelineEvent): void;
  takeLoss?(loss: FedLoss): void;
  /** `endT`: when it was last seen alive, on its clock; null: it lives, and its part of the run lasts. */
  endProcess?(endT: Nanoseconds | null): void;
  /** On the run's axis; `toNs` null: it lasts. */
  takeHold?(fromNs: Nanoseconds, toNs: Nanoseconds | null): void;
}
