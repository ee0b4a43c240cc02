/** Feeds the live view of the newest run with what was committed. */
import type { Clock } from '../contract/clock.ts';
import type { LiveMessage, LiveSnapshot } from '../contract/live.ts';
import type { JournalLine } from '../contract/timeline-events.ts';
import type { EventWriter, Written } from './event-writer.ts';
import type { Db } from './open.ts';

export class LiveFeed {
  constructor(_clock: Clock) {}
  runClosed(_run: string): void {}
  restart(): void {}
  restore(_db: Db, _writer: EventWriter, _process: string): void {}
  take(_process: string, _lines: JournalLine[], _written: Written): void {}
  processEnded(_process: string): void {}
  snapshot(_run?: string): LiveSnapshot | null {
    return null;
  }
  takeMessages(): LiveMessage[] {
    return [];
  }
}
