/**
 * Idle causes of a run that lasts, kept up to date: after each event it says what idle-analysis.ts would say of the same events at the
 * same horizon. Its cost does not grow with the run: what cannot change any more is counted and let go.
 */
import type { Cause, DeviceIdle, IdleParts } from '../../contract/idle.ts';
import type { Scheduler } from '../../contract/scheduler.ts';
import type { EventOf, MarkLine, StateLine, TimelineEvent } from '../../contract/timeline-events.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import { RunAxis } from '../run-axis.ts';
import type { FedLoss } from '../run-feed.ts';
import { HOLD_BEGINS, HOLD_ENDS } from './codes.ts';
import { detailsOf, provisionalOf, steadyOf } from './device-report.ts';
import { DeviceNames, ProcessStream } from './stream.ts';
import { Sweep } from './sweep.ts';
import { asParts } from './terms.ts';

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
  details: DeviceIdle['details'];
  steady: DeviceIdle['steady'];
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
  readonly #names = new DeviceNames();
  readonly #sweep: Sweep;
  readonly #j: number;
  readonly #openHolds = new Set<Nanoseconds>();
  #axis: RunAxis | null = null;
  #stream: ProcessStream | null = null;
  #nowNs = Number.NEGATIVE_INFINITY;

  constructor({ engine, scheduler, proofsInFlight }: IdleTrackerOptions) {
    this.#j = Math.max(1, proofsInFlight);
    this.#sweep = new Sweep(this.#names, { isLog: engine === 'cuzk', scheduler, steadyFrom: this.#j, stretches: null, sink: null });
  }

  beginProcess(hello: EventOf<'hello'>, originT: Nanoseconds, fromStart: boolean): void {
    this.#stream?.end(null);
    this.#axis ??= new RunAxis(hello, originT);
    this.#stream = new ProcessStream(hello, this.#axis.offsetOf(hello), fromStart, this.#names);
    this.#sweep.add(this.#stream);
  }

  take(event: TimelineEvent): void {
    this.#stream?.take(event);
  }

  /** Everything before its `t` has been taken. */
  takeMark(mark: MarkLine | StateLine): void {
    if (this.#stream) this.#advance(this.#stream.axisOf(mark.t));
  }

  /** A snapshot: ends the losses that were told before it. Also a mark. */
  takeState(state: StateLine): void {
    this.#stream?.takeState(state);
    this.takeMark(state);
  }

  /** `healedT` null: the next {@link takeState} ends it, else the end of the process. To be told before a mark passes its `tFrom`. */
  takeLoss(loss: FedLoss): void {
    this.#stream?.takeLoss(loss);
  }

  /** `endT` null: it lives. */
  endProcess(endT: Nanoseconds | null): void {
    if (endT !== null) this.#stream?.end(endT);
  }

  /** Told again with the same `fromNs` once its end is known. Counts from how far the account has come. */
  takeHold(fromNs: Nanoseconds, toNs: Nanoseconds | null): void {
    if (!this.#openHolds.has(fromNs)) this.#sweep.hold(fromNs, HOLD_BEGINS);
    this.#openHolds.add(fromNs);
    if (toNs === null) return;
    this.#openHolds.delete(fromNs);
    this.#sweep.hold(toNs, HOLD_ENDS);
  }

  /** `horizonNs`: run's axis; what lies before it has all been taken. One that falls is taken as the last one. */
  figures(horizonNs: Nanoseconds): IdleFigures {
    this.#advance(horizonNs);
    const wallNs = Math.max(0, Math.min(this.#nowNs, this.#sweep.wallEndNs));
    const isOver = this.#sweep.wallEndNs <= wallNs;
    const devices = this.#sweep.devices.map((device) => {
      const { all, final, provisional } = this.#sweep.shares(device, wallNs, isOver);
      return {
        device: device.account.name,
        kind: device.account.kind,
        wall_ns: wallNs,
        all: asParts(all.totals),
        final: asParts(final.totals),
        provisional: provisionalOf(provisional),
        details: detailsOf(all),
        steady: steadyOf(all, this.#sweep.validEnds, this.#j),
      };
    });
    return { wall_ns: wallNs, devices };
  }

  /** Segments that are kept one by one: does not grow with the run. */
  get pending(): number {
    return this.#sweep.devices.reduce((sum, { account }) => sum + account.pending, 0);
  }

  #advance(toNs: Nanoseconds): void {
    if (toNs <= this.#nowNs) return;
    this.#nowNs = toNs;
    this.#sweep.advance(toNs);
  }
}
