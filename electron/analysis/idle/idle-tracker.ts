/**
 * Idle causes of a run that lasts, kept up to date: after each event it says what idle-analysis.ts would say of the same events at the
 * same horizon. Its cost does not grow with the run.
 */
import type { IdleParts, IN_LOCK_DETAILS, PERMIT_DETAILS, Cause } from '../../contract/idle.ts';
import type { Scheduler } from '../../contract/scheduler.ts';
import type { EventOf, MarkLine, StateLine, TimelineEvent } from '../../contract/timeline-events.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import type { FedLoss } from '../run-feed.ts';

export interface DeviceFigures {
  device: string;
  kind: string;
  wall_ns: number;
  /** Final and provisional together. */
  all: IdleParts;
  /** What cannot change any more: each of these numbers never falls. */
  final: IdleParts;
  /** Idle ns that may still get another name or become unknown. */
  provisional: Partial<Record<Cause, number>>;
  details: { in_lock: Record<(typeof IN_LOCK_DETAILS)[number], number>; permit: Record<(typeof PERMIT_DETAILS)[number], number> };
  steady: { from_ns: number; to_ns: number; proofs: number; per_proof: IdleParts } | null;
}

export interface IdleFigures {
  wall_ns: number;
  devices: DeviceFigures[];
}

export interface IdleTrackerOptions {
  engine: string;
  scheduler: Scheduler | null;
  proofsInFlight: number;
}

export class IdleTracker {
  constructor(_options: IdleTrackerOptions) {}
  beginProcess(_hello: EventOf<'hello'>, _originT: Nanoseconds, _fromStart: boolean): void {}
  take(_event: TimelineEvent): void {}
  /** Everything before its `t` has been taken. */
  takeMark(_mark: MarkLine | StateLine): void {}
  /** A snapshot: ends the losses that were told before it. Also a mark. */
  takeState(_state: StateLine): void {}
  /** `healedT` and `state` null: the next {@link takeState} ends it. */
  takeLoss(_loss: FedLoss): void {}
  endProcess(_endT: Nanoseconds | null): void {}
  /** Told again with the same `fromNs` once its end is known. */
  takeHold(_fromNs: Nanoseconds, _toNs: Nanoseconds | null): void {}
  /** `horizonNs`: run's axis; never before what a mark promised. */
  figures(_horizonNs: Nanoseconds): IdleFigures {
    throw new Error('not built');
  }
}
