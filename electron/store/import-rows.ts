/** Events of one imported process into their rows: in bulk where they are new, compared where they are stored already. */
import type { Statement } from 'better-sqlite3';
import type { TimelineEvent } from '../contract/timeline-events.ts';
import type { WritingDictionary } from './dictionary.ts';
import { packEvent, type EventRow } from './event-rows.ts';
import type { Db } from './open.ts';
import { EVENT_COLUMNS } from './reads.ts';

/** A call costs as much as an event: so many rows go in with one. */
export const ROWS_AT_ONCE = 32;
const COLUMNS = 11;
const PLACES_OF_ROW = `(${Array.from({ length: COLUMNS }, () => '?').join(', ')})`;
const PLACES_OF_ROWS = Array.from({ length: ROWS_AT_ONCE }, () => PLACES_OF_ROW).join(', ');

/**
 * What is done about an event that is stored as something else. `replace`: it and all after it give way. `stop`: this and the following
 * are left out. `keep`: the stored one stays, and that is a problem.
 */
export type Clash = 'replace' | 'stop' | 'keep';

export interface RowTarget {
  /** Row id of the process. */
  readonly id: number;
  /** Highest stored seq; −1 none. Moves with what is written. */
  storedUpTo: number;
  /** Rows written, less those that gave way. */
  added: number;
  /** Nothing more is written. */
  stopped: boolean;
}

export class ImportRows {
  readonly #dictionary: WritingDictionary;
  readonly #insert: Statement<unknown[]>;
  readonly #insertMany: Statement<unknown[]>;
  readonly #stored: Statement<[number, number, number], EventRow>;
  readonly #drop: Statement<[number, number]>;
  readonly #dropLosses: Statement<[number, number]>;

  constructor(db: Db, dictionary: WritingDictionary) {
    this.#dictionary = dictionary;
    this.#insert = db.prepare(`INSERT INTO event VALUES ${PLACES_OF_ROW}`);
    this.#insertMany = db.prepare(`INSERT INTO event VALUES ${PLACES_OF_ROWS}`);
    this.#stored = db
      .prepare<[number, number, number], EventRow>(`SELECT ${EVENT_COLUMNS} FROM event WHERE process = ? AND seq >= ? AND seq <= ?`)
      .raw();
    this.#drop = db.prepare('DELETE FROM event WHERE process = ? AND seq >= ?');
    this.#dropLosses = db.prepare('DELETE FROM loss WHERE process = ? AND seq_from >= ?');
  }

  /** Events in the order of `seq`. `clash` is asked at each that is stored as something else. */
  write(target: RowTarget, events: readonly TimelineEvent[], clash: (event: TimelineEvent) => Clash): void {
    const first = events[0];
    if (!first || target.stopped) return;
    if (first.seq > target.storedUpTo) this.#append(target, events, 0);
    else this.#merge(target, events, clash);
  }

  #append(target: RowTarget, events: readonly TimelineEvent[], from: number): void {
    let at = from;
    for (; at + ROWS_AT_ONCE <= events.length; at += ROWS_AT_ONCE) {
      const values: unknown[] = [];
      for (let index = at; index < at + ROWS_AT_ONCE; index++) {
        values.push(target.id, ...packEvent(events[index] as TimelineEvent, this.#dictionary));
      }
      this.#insertMany.run(values);
    }
    for (; at < events.length; at++) this.#insert.run(target.id, ...packEvent(events[at] as TimelineEvent, this.#dictionary));
    target.added += events.length - from;
    target.storedUpTo = Math.max(target.storedUpTo, events.at(-1)?.seq ?? -1);
  }

  #merge(target: RowTarget, events: readonly TimelineEvent[], clash: (event: TimelineEvent) => Clash): void {
    const last = events.at(-1) as TimelineEvent;
    const stored = new Map<number, EventRow>();
    for (const row of this.#stored.all(target.id, (events[0] as TimelineEvent).seq, last.seq)) stored.set(row[0], row);
    for (const [index, event] of events.entries()) {
      const before = stored.get(event.seq);
      if (before === undefined) {
        if (event.seq > target.storedUpTo) return this.#append(target, events, index);
        this.#insert.run(target.id, ...packEvent(event, this.#dictionary));
        target.added += 1;
        continue;
      }
      const row = packEvent(event, this.#dictionary);
      if (row.every((value, column) => value === before[column])) continue;
      const answer = clash(event);
      if (answer === 'stop') {
        target.stopped = true;
        return;
      }
      if (answer === 'replace') {
        target.added -= this.#drop.run(target.id, event.seq).changes;
        this.#dropLosses.run(target.id, event.seq);
        target.storedUpTo = event.seq - 1;
        return this.#append(target, events, index);
      }
    }
  }
}
