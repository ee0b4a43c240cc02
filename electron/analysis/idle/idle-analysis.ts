/**
 * Why each device of a whole run was idle, from its events in the order of the file: the batch form of idle-tracker.ts. The causes are
 * defined in docs/idle-causes.md.
 */
import type { GapsReport, IdleReport } from '../../contract/idle.ts';
import type { RunState } from '../../contract/run-report.ts';
import type { Scheduler } from '../../contract/scheduler.ts';
import type { EventOf, TimelineEvent } from '../../contract/timeline-events.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import type { FedLoss, RunFeed } from '../run-feed.ts';

/** What is known of a run beside its events. */
export interface IdleFacts {
  run: string;
  state: RunState;
  engine: string;
  scheduler: Scheduler | null;
  /** Null: as many as were in work at the same time. */
  proofsInFlight: number | null;
}

export class IdleAnalysis implements RunFeed {
  beginProcess(_hello: EventOf<'hello'>, _originT: Nanoseconds, _fromStart: boolean): void {}
  take(_event: TimelineEvent): void {}
  takeLoss(_loss: FedLoss): void {}
  endProcess(_endT: Nanoseconds | null): void {}
  takeHold(_fromNs: Nanoseconds, _toNs: Nanoseconds | null): void {}

  /** `horizonNs`: of a run that still lasts, how far everything is known; null: it is over. */
  build(_facts: IdleFacts, _horizonNs: Nanoseconds | null): IdleReport {
    throw new Error('not built');
  }

  /** Of the account that {@link build} made last: gaps of at least `minNs`, the longest `limit` of them. */
  gaps(_minNs: Nanoseconds, _limit: number): GapsReport {
    throw new Error('not built');
  }
}
