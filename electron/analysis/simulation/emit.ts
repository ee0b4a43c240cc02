/** Tells a simulated run to a {@link RunFeed} as the journal of a real one would: the same events, numbered, in the order of time. */
import type { EventOf, EventName, TimelineEvent } from '../../contract/timeline-events.ts';
import type { Scheduler } from '../../contract/scheduler.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import type { RunFeed } from '../run-feed.ts';

export type Untold = { [E in EventName]: Omit<EventOf<E>, 'seq' | 't'> }[EventName];

export interface SimulatedRun {
  /** What the devices are, as the run that is imitated has it. */
  devices: readonly { device: string; kind: string }[];
  backend: string;
  scheduler: Scheduler;
}

export class Teller {
  readonly #feed: RunFeed;
  #seq = 0;
  #lastT = 0;

  constructor(feed: RunFeed, run: SimulatedRun) {
    this.#feed = feed;
    const hello: EventOf<'hello'> = {
      seq: 0, t: 0, e: 'hello', format: 1, process: 'simulated', pid: 0, start_ticks: '0', boot_id: 'simulated', monotonic_ns: '0',
      wall_ns: '0', version: 'simulated', engine: 'builtin', backend: run.backend,
      devices: run.devices.map(({ device, kind }) => ({ device, kind, name: device, workers_max: run.scheduler.gpu_workers, clock: 'host' })),
      grace_ns: 0, host_cpus: 1, memory_total_bytes: 0,
    }; // prettier-ignore
    feed.beginProcess(hello, 0, true);
    feed.take(hello);
    this.#seq = 1;
    this.tell(0, { e: 'ready' });
    this.tell(0, { e: 'run_started', run: 'simulated', scheduler: run.scheduler, emulate: null });
  }

  tell(t: Nanoseconds, event: Untold): void {
    this.#lastT = Math.max(this.#lastT, t);
    this.#feed.take({ ...event, seq: this.#seq++, t } as TimelineEvent);
  }

  end(): void {
    this.tell(this.#lastT, { e: 'run_ended', run: 'simulated', reason: 'drained' });
    this.#feed.endProcess?.(this.#lastT);
  }
}
