/**
 * Writes what one journal said, within the caller's transaction. Idempotent by (process, seq): a line that comes again changes
 * nothing; one that comes again and says something else is kept as a problem. Numbers that never come become a loss.
 */
import type { Statement } from 'better-sqlite3';
import { randomUUID } from 'node:crypto';
import type { EventOf, JournalLine, StateLine, TimelineEvent } from '../contract/timeline-events.ts';
import { ReadingDictionary, WritingDictionary } from './dictionary.ts';
import { packEvent, unpackEvent, type EventRow } from './event-rows.ts';
import { Gaps, subtractGaps, type Gap } from './gaps.ts';
import type { Db } from './open.ts';

/** One followed process, as the writer knows it. */
export interface JournalCursor {
  /** Row id. */
  id: number;
  process: string;
  gaps: Gaps;
}

export interface LineProblem {
  offset: number;
  bytes: number;
  kind: 'line' | 'double' | 'torn' | 'file';
  problem: string;
}

/** Lines in the order of the file. */
export interface JournalBatch {
  lines: JournalLine[];
  /** Of each line. */
  offsets: number[];
  problems: LineProblem[];
  /** The byte after the last line: lines and offset are committed together. */
  committedBytes: number;
}

export interface Written {
  /** Events that were new, in the order of the file. */
  events: TimelineEvent[];
  /** Losses that were found or told. */
  losses: { count: number; tFrom: number; tTo: number }[];
  /** Problems that were new. */
  unparsed: number;
}

/** Stored in full up to this many a process; all are counted. */
const PROBLEMS_KEPT = 1_000;
/** Events that come in order are inserted so many at a time: a call costs as much as an event. */
const ROWS_AT_ONCE = 16;
const COLUMNS = 11;
const PLACES_OF_ROW = `(${Array.from({ length: COLUMNS }, () => '?').join(', ')})`;
const PLACES_OF_ROWS = Array.from({ length: ROWS_AT_ONCE }, () => PLACES_OF_ROW).join(', ');

/** Events that change more than their row. */
const SPECIAL: ReadonlySet<string> = new Set(['lost', 'run_started', 'run_ended']);

export class EventWriter {
  readonly dictionary: WritingDictionary;
  readonly #db: Db;
  readonly #reading: ReadingDictionary;
  readonly #wallMs: () => number;
  readonly #insert: Statement<unknown[]>;
  readonly #insertMany: Statement<unknown[]>;
  readonly #find: Statement<[number, number], EventRow>;
  readonly #hole: Statement<unknown[]>;
  readonly #filled: Statement<[number, number, number]>;
  readonly #ring: Statement<unknown[]>;
  readonly #heal: Statement<unknown[]>;
  readonly #problem: Statement<unknown[]>;
  readonly #problemCount: Statement<[number], number>;
  readonly #journal: Statement<unknown[]>;

  constructor(db: Db, wallMs: () => number) {
    this.#db = db;
    this.#wallMs = wallMs;
    this.dictionary = new WritingDictionary(db);
    this.#reading = new ReadingDictionary(db);
    this.#insert = db.prepare('INSERT OR IGNORE INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#insertMany = db.prepare(`INSERT INTO event VALUES ${PLACES_OF_ROWS}`);
    this.#find = db
      .prepare<[number, number], EventRow>(
        'SELECT seq, t, e, subject, partition, device, worker, a, b, detail FROM event WHERE process = ? AND seq = ?',
      )
      .raw();
    this.#hole = db.prepare(
      `INSERT OR IGNORE INTO loss (process, kind, seq_from, seq_to, count, t_from, t_to) VALUES (?, 'hole', ?, ?, ?, ?, ?)`,
    );
    this.#filled = db.prepare(`UPDATE loss SET filled = filled + 1 WHERE process = ? AND kind = 'hole' AND seq_from <= ? AND seq_to >= ?`);
    this.#ring = db.prepare(
      `INSERT OR IGNORE INTO loss (process, kind, seq_from, seq_to, ring, count, t_from, t_to) VALUES (?, 'ring', ?, ?, ?, ?, ?, ?)`,
    );
    this.#heal = db.prepare('UPDATE loss SET healed_t = ?, healed_state = ? WHERE process = ? AND healed_t IS NULL AND seq_to <= ?');
    this.#problem = db.prepare('INSERT OR IGNORE INTO problem (process, offset, kind, bytes, problem) VALUES (?, ?, ?, ?, ?)');
    this.#problemCount = db.prepare<[number], number>('SELECT count(*) FROM problem WHERE process = ?').pluck();
    this.#journal = db.prepare(
      `UPDATE journal SET committed_bytes = ?, last_seq = ?, events = events + ?, unparsed = unparsed + ?, horizon = coalesce(?, horizon),
         last_state = coalesce(?, last_state), peak_rss_bytes = nullif(max(coalesce(peak_rss_bytes, 0), ?), 0) WHERE process = ?`,
    );
  }

  write(cursor: JournalCursor, batch: JournalBatch): Written {
    const written: Written = { events: [], losses: [], unparsed: 0 };
    const { lines, offsets } = batch;
    let horizon: number | null = null;
    let state: StateLine | null = null;
    for (let index = 0; index < lines.length; index++) {
      const line = lines[index] as JournalLine;
      if (line.e === 'mark' || line.e === 'state') {
        horizon = Math.max(horizon ?? 0, line.t);
        this.#settle(cursor, line.upto, line.t, written);
        if (line.e === 'state') {
          state = line;
          this.#heal.run(line.t, JSON.stringify(line), cursor.id, line.upto);
        }
      } else if (this.#writeMany(cursor, lines, index, written)) index += ROWS_AT_ONCE - 1;
      else this.#writeEvent(cursor, line, offsets[index] ?? 0, written);
    }
    for (const problem of batch.problems) this.#writeProblem(cursor, problem, written);
    this.#journal.run(
      batch.committedBytes,
      cursor.gaps.next - 1,
      written.events.length,
      written.unparsed,
      horizon,
      state === null ? null : JSON.stringify(state),
      state?.peak_rss_bytes ?? 0,
      cursor.id,
    );
    return written;
  }

  /** The file has ended: what is still missing never comes. */
  finish(cursor: JournalCursor, written: Written): void {
    this.#settle(cursor, cursor.gaps.next - 1, 0, written);
    this.#db.prepare('UPDATE journal SET finished = 1, last_seq = ? WHERE process = ?').run(cursor.gaps.next - 1, cursor.id);
  }

  /** Writes the next {@link ROWS_AT_ONCE} lines if they are events in order, none of which is stored; else writes nothing. */
  #writeMany(cursor: JournalCursor, lines: JournalLine[], from: number, written: Written): boolean {
    const to = from + ROWS_AT_ONCE;
    if (to > lines.length) return false;
    let { next } = cursor.gaps;
    for (let index = from; index < to; index++) {
      const line = lines[index] as JournalLine;
      if (line.e === 'mark' || line.e === 'state' || line.seq !== next || SPECIAL.has(line.e)) return false;
      next += 1;
    }
    const values: unknown[] = [];
    for (let index = from; index < to; index++) values.push(cursor.id, ...packEvent(lines[index] as TimelineEvent, this.dictionary));
    try {
      this.#insertMany.run(values);
    } catch (error) {
      // One of them is stored already: the statement is undone as a whole, and each is looked at by itself.
      if ((error as { code?: string }).code === 'SQLITE_CONSTRAINT_PRIMARYKEY') return false;
      throw error;
    }
    for (let index = from; index < to; index++) {
      const event = lines[index] as TimelineEvent;
      cursor.gaps.see(event.seq, event.t);
      written.events.push(event);
    }
    return true;
  }

  #writeEvent(cursor: JournalCursor, event: TimelineEvent, offset: number, written: Written): void {
    const row = packEvent(event, this.dictionary);
    const isNew = this.#insert.run(cursor.id, ...row).changes === 1;
    const seen = cursor.gaps.see(event.seq, event.t);
    if (!isNew) {
      const stored = this.#find.get(cursor.id, event.seq) as EventRow;
      if (row.some((value, index) => value !== stored[index])) {
        const problem = `event ${event.seq} (${event.e}) came again as something else`;
        this.#writeProblem(cursor, { offset, bytes: 0, kind: 'double', problem }, written);
      }
      return;
    }
    if (seen === 'earlier' && !cursor.gaps.fill(event.seq)) this.#filled.run(cursor.id, event.seq, event.seq);
    written.events.push(event);
    if (event.e === 'lost') {
      this.#ring.run(cursor.id, event.seq, event.seq, event.ring, event.count, event.t_from, event.t_to);
      written.losses.push({ count: event.count, tFrom: event.t_from, tTo: event.t_to });
    } else if (event.e === 'run_started') this.#startRun(cursor, event);
    else if (event.e === 'run_ended') this.#endRun(cursor, event);
  }

  #settle(cursor: JournalCursor, upto: number, t: number, written: Written): void {
    for (const gap of cursor.gaps.settle(upto, t)) {
      const count = gap.to - gap.from + 1;
      this.#hole.run(cursor.id, gap.from, gap.to, count, gap.tFrom, gap.tTo);
      written.losses.push({ count, tFrom: gap.tFrom, tTo: gap.tTo });
    }
  }

  #writeProblem(cursor: JournalCursor, problem: LineProblem, written: Written): void {
    const kept = (this.#problemCount.get(cursor.id) ?? 0) < PROBLEMS_KEPT;
    if (kept) {
      const isNew = this.#problem.run(cursor.id, problem.offset, problem.kind, problem.bytes, problem.problem.slice(0, 500)).changes === 1;
      if (!isNew) return;
    }
    // A torn tail or a fact about the file is no line.
    if (problem.kind === 'line' || problem.kind === 'double') written.unparsed += 1;
  }

  #startRun(cursor: JournalCursor, event: EventOf<'run_started'>): void {
    const db = this.#db;
    const process = db.prepare('SELECT backend FROM process WHERE id = ?').get(cursor.id) as { backend: string };
    // Asked first: an insert that is ignored would use up the next run's number all the same.
    if (!db.prepare('SELECT 1 FROM run WHERE run = ?').get(event.run)) {
      db.prepare(
        `INSERT INTO run (run, uid, state, engine, backend, emulate, scheduler, created_wall_ms) VALUES (?, ?, 'running', 'builtin', ?, ?, ?, ?)`,
      ).run(event.run, randomUUID(), process.backend, event.emulate, JSON.stringify(event.scheduler), this.#wallMs());
    }
    const before = db
      .prepare('SELECT run, seq_to AS seqTo FROM run_process WHERE process = ? ORDER BY seq_from DESC LIMIT 1')
      .get(cursor.id) as { run: string; seqTo: number | null } | undefined;
    if (before && before.seqTo === null && before.run !== event.run) {
      db.prepare('UPDATE run_process SET seq_to = ? WHERE run = ? AND process = ?').run(event.seq - 1, before.run, cursor.id);
    }
    const from = before ? (before.seqTo ?? event.seq - 1) + 1 : 0;
    db.prepare('INSERT OR IGNORE INTO run_process (run, process, started_seq, started_t, seq_from) VALUES (?, ?, ?, ?, ?)').run(
      event.run,
      cursor.id,
      event.seq,
      event.t,
      from,
    );
  }

  #endRun(cursor: JournalCursor, event: EventOf<'run_ended'>): void {
    this.#db
      .prepare('UPDATE run_process SET seq_to = ?, ended_t = ?, reason = ? WHERE run = ? AND process = ? AND seq_to IS NULL')
      .run(event.seq, event.t, event.reason, event.run, cursor.id);
  }

  /** The cursor of a process whose journal was followed before: finds numbers that are missing and not yet told as lost. */
  restoreCursor(id: number, process: string, lastSeq: number): JournalCursor {
    const count = this.#db.prepare('SELECT count(*) FROM event WHERE process = ?').pluck().get(id) as number;
    const lastT =
      (this.#db.prepare('SELECT t FROM event WHERE process = ? ORDER BY seq DESC LIMIT 1').pluck().get(id) as number | undefined) ?? 0;
    const holes = this.#db
      .prepare(`SELECT coalesce(sum(count - filled), 0) FROM loss WHERE process = ? AND kind = 'hole'`)
      .pluck()
      .get(id) as number;
    if (count + holes === lastSeq + 1) return { id, process, gaps: new Gaps(lastSeq + 1, lastT) };
    const found = this.#db
      .prepare(
        `SELECT before + 1 AS "from", seq - 1 AS "to", before_t AS tFrom, t AS tTo FROM (
           SELECT seq, t, lag(seq, 1, -1) OVER (ORDER BY seq) AS before, lag(t, 1, 0) OVER (ORDER BY seq) AS before_t
           FROM event WHERE process = ?) WHERE seq > before + 1`,
      )
      .all(id) as Gap[];
    const told = this.#db
      .prepare(`SELECT seq_from AS "from", seq_to AS "to" FROM loss WHERE process = ? AND kind = 'hole' ORDER BY seq_from`)
      .all(id) as { from: number; to: number }[];
    return { id, process, gaps: new Gaps(lastSeq + 1, lastT, subtractGaps(found, told)) };
  }

  /** Stored events of a process from `seq` on, in order. */
  readFrom(id: number, seq: number, limit: number): TimelineEvent[] {
    const rows = this.#db
      .prepare<[number, number, number], EventRow>(
        'SELECT seq, t, e, subject, partition, device, worker, a, b, detail FROM event WHERE process = ? AND seq >= ? ORDER BY seq LIMIT ?',
      )
      .raw()
      .all(id, seq, limit);
    return rows.map((row) => unpackEvent(row, this.#reading));
  }
}
