/** Why the devices of a live run were idle, as the live view shows it: the final nanoseconds, and beside them what may still change. */
import { CAUSES, type Cause, type IdleParts } from '../contract/idle.ts';
import type { DeviceIdleLive } from '../contract/live.ts';
import type { Scheduler } from '../contract/scheduler.ts';
import type { EventOf, MarkLine, StateLine, TimelineEvent } from '../contract/timeline-events.ts';
import type { Nanoseconds } from '../contract/units.ts';
import { IdleTracker } from './idle/idle-tracker.ts';
import { isLog } from './windows.ts';

export interface LiveLoss {
  tFrom: Nanoseconds;
  tTo: Nanoseconds;
  count: number;
  /** Null: the next snapshot ends it. */
  healedT: Nanoseconds | null;
  state: StateLine | null;
}

export class LiveIdle {
  readonly #scheduler: Scheduler | null;
  readonly #proofsInFlight: number;
  #tracker: IdleTracker | null = null;
  #isLog = false;

  constructor(scheduler: Scheduler | null, proofsInFlight: number) {
    this.#scheduler = scheduler;
    this.#proofsInFlight = proofsInFlight;
  }

  beginProcess(hello: EventOf<'hello'>, originT: Nanoseconds, fromStart: boolean): void {
    const options = { engine: hello.engine, scheduler: this.#scheduler, proofsInFlight: this.#proofsInFlight };
    this.#tracker ??= new IdleTracker(options);
    this.#isLog = isLog(hello);
    this.#tracker.beginProcess(hello, originT, fromStart);
  }

  take(event: TimelineEvent): void {
    this.#tracker?.take(event);
  }

  takeMark(mark: MarkLine | StateLine): void {
    if (mark.e === 'state') this.#tracker?.takeState(mark);
    else this.#tracker?.takeMark(mark);
  }

  takeLoss(loss: LiveLoss): void {
    this.#tracker?.takeLoss(loss);
  }

  takeHold(fromNs: Nanoseconds, toNs: Nanoseconds | null): void {
    this.#tracker?.takeHold(fromNs, toNs);
  }

  /** It was last seen alive at `endT`, on its own clock. */
  endProcess(endT: Nanoseconds): void {
    this.#tracker?.endProcess(endT);
  }

  /** On the run's axis; `isOver`: nothing of it can change any more. Per device: kernel + Σ idle + Σ provisional + Σ groups + unknown = wall. */
  figures(horizonNs: Nanoseconds, isOver: boolean): DeviceIdleLive[] {
    const figures = this.#tracker?.figures(horizonNs);
    return (figures?.devices ?? []).map(({ device, wall_ns, all, final: settled, steady }) => {
      const final = isOver ? all : settled;
      return {
        device,
        wall_ns,
        kernel_ns: this.#isLog ? null : all.kernel_ns,
        idle_ns: named((cause) => final.idle_ns[cause]),
        provisional: named((cause) => all.idle_ns[cause] - final.idle_ns[cause]),
        groups: groupsOf(all),
        unknown_ns: all.unknown_ns,
        steady,
      };
    });
  }
}

/** What is 0 is left out: these go out twice a second. */
function named(valueOf: (cause: Cause) => number): Partial<Record<Cause, number>> {
  const parts: Partial<Record<Cause, number>> = {};
  for (const cause of CAUSES) {
    const ns = valueOf(cause);
    if (ns !== 0) parts[cause] = ns;
  }
  return parts;
}

function groupsOf({ groups }: IdleParts): IdleParts['groups'] {
  return Object.fromEntries(Object.entries(groups).filter(([, ns]) => ns !== 0));
}
