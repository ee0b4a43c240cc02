/** Numbers one engine's events and remembers how far its time has come. */
import type { EventName, EventOf, TimelineEvent } from '../../contract/timeline-events.ts';
import { MAX_INSTANT, type Nanoseconds } from '../../contract/units.ts';
import type { ImportSink } from '../import-sink.ts';

export type FieldsOf<E extends EventName> = Omit<EventOf<E>, 'seq' | 't' | 'e'>;

export class Emitter {
  seq = 0;
  /** Latest instant told of or stamped. */
  maxT: Nanoseconds = 0;
  readonly #sink: ImportSink;

  constructor(sink: ImportSink) {
    this.#sink = sink;
  }

  emit<E extends EventName>(e: E, t: Nanoseconds, fields: FieldsOf<E>): void {
    const at = Math.min(Math.max(0, t), MAX_INSTANT);
    if (at > this.maxT) this.maxT = at;
    const event = { seq: this.seq, t: at, e, ...fields } as unknown as TimelineEvent;
    this.seq += 1;
    this.#sink.event(event);
  }
}
