/** What the reading thread answers: short queries and pages, never an open cursor between two calls. */
import type { ProofSummary } from '../contract/api.ts';
import { InterlockError } from '../contract/errors.ts';
import { RunAxis } from '../analysis/run-axis.ts';
import type { EventOf } from '../contract/timeline-events.ts';
import { encodeLine } from '../formats/journal/encode.ts';
import { ReadingDictionary } from './dictionary.ts';
import { unpackEvent, type EventRow } from './event-rows.ts';
import type { Db } from './open.ts';
import { readProofSummary } from './queue.ts';

/** A stretch of a process's events that belongs to a run. */
export interface Stretch {
  id: number;
  process: string;
  seqFrom: number;
  /** Inclusive; MAX_SAFE_INTEGER for the last run of a process. */
  seqTo: number;
  startedT: number;
  hello: EventOf<'hello'>;
}

export const EVENT_COLUMNS = 'seq, t, e, subject, partition, device, worker, a, b, detail';

export class Reads {
  readonly db: Db;
  readonly dictionary: ReadingDictionary;

  constructor(db: Db) {
    this.db = db;
    this.dictionary = new ReadingDictionary(db);
  }

  /** Turns `last` into the newest run's id. Fails with `not_found`. */
  resolveRun(run: string): string {
    const found =
      run === 'last'
        ? this.db.prepare('SELECT run FROM run ORDER BY id DESC LIMIT 1').pluck().get()
        : this.db.prepare('SELECT run FROM run WHERE run = ?').pluck().get(run);
    if (found === undefined) throw new InterlockError('not_found', run === 'last' ? 'There is no run yet.' : `There is no run ${run}.`);
    return found as string;
  }

  /** The stretches of a run, in order of its processes; those whose hello is not stored are left out. */
  stretchesOf(run: string): Stretch[] {
    const rows = this.db
      .prepare(
        `SELECT rp.process AS id, p.process, rp.seq_from AS seqFrom, rp.started_t AS startedT,
           CASE WHEN EXISTS (SELECT 1 FROM run_process later WHERE later.process = rp.process AND later.seq_from > rp.seq_from)
             THEN rp.seq_to ELSE NULL END AS seqTo
         FROM run_process rp JOIN process p ON p.id = rp.process WHERE rp.run = ? ORDER BY rp.place, rp.process`,
      )
      .all(run) as (Omit<Stretch, 'hello' | 'seqTo'> & { seqTo: number | null })[];
    return rows.flatMap((row) => {
      const hello = this.readPage(row.id, 0, 0, 1)[0];
      return hello?.e === 'hello' ? [{ ...row, seqTo: row.seqTo ?? Number.MAX_SAFE_INTEGER, hello }] : [];
    });
  }

  /** Null where no event of the run is stored yet. */
  axisOf(stretches: readonly Stretch[]): RunAxis | null {
    const first = stretches[0];
    return first ? new RunAxis(first.hello, first.startedT) : null;
  }

  /** Events of a process with `from` ≤ seq ≤ `to`, in order, at most `limit`. */
  readPage(id: number, from: number, to: number, limit: number) {
    const rows = this.db
      .prepare<[number, number, number, number], EventRow>(
        `SELECT ${EVENT_COLUMNS} FROM event WHERE process = ? AND seq >= ? AND seq <= ? ORDER BY seq LIMIT ?`,
      )
      .raw()
      .all(id, from, to, limit);
    return rows.map((row) => unpackEvent(row, this.dictionary));
  }

  readEvents(input: { run: string; after?: string | undefined; limit: number }): { lines: string[]; next: string | null } {
    const run = this.resolveRun(input.run);
    const stretches = this.stretchesOf(run);
    const axis = this.axisOf(stretches);
    if (!axis) return { lines: [], next: null };
    const [afterId, afterSeq] = readCursor(input.after);
    const lines: string[] = [];
    for (const stretch of stretches) {
      if (stretch.id < afterId) continue;
      const from = stretch.id === afterId ? Math.max(stretch.seqFrom, afterSeq + 1) : stretch.seqFrom;
      const room = input.limit - lines.length;
      const events = this.readPage(stretch.id, from, stretch.seqTo, room + 1);
      const offset = axis.offsetOf(stretch.hello);
      for (const event of events.slice(0, room)) {
        lines.push(encodeRunLine(event, stretch.process, offset));
      }
      if (events.length > room) {
        const last = events[room - 1];
        return { lines, next: room === 0 ? `${stretch.id}:${from - 1}` : `${stretch.id}:${last?.seq ?? 0}` };
      }
    }
    return { lines, next: null };
  }

  proofSummary(proof: string): ProofSummary {
    const summary = readProofSummary(this.db, proof);
    if (!summary) throw new InterlockError('not_found', `There is no proof ${proof}.`);
    return summary;
  }
}

/** One line of `read_events`: where it comes from, on its process's clock and on the run's. */
function encodeRunLine(event: Parameters<typeof encodeLine>[0] & { seq?: number }, process: string, offset: number): string {
  // `hello` has a field `process` of its own, with the same value.
  return encodeLine(event, { process, seq: event.seq, t: event.t, run_t: event.t + offset });
}

function readCursor(after: string | undefined): [id: number, seq: number] {
  if (after === undefined) return [0, -1];
  const match = /^(\d{1,15}):(-?\d{1,16})$/.exec(after);
  if (!match) throw new InterlockError('usage', '"after" is not a position that was handed out as "next".');
  return [Number(match[1]), Number(match[2])];
}
