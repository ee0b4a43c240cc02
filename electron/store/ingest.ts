/**
 * Journals into the database: follows files, decodes, commits in groups, tells what became durable. Runs in the writing thread and owns
 * its connection.
 *
 *   read a chunk → decode → batch ──(1,000 events, 50 ms, or an urgent event)──▶ one transaction: events + byte offset ──▶ tell
 *
 * While commits fail nothing more is read: the journal keeps it. A full disk is waited out. After an I/O error the connection's view of
 * the file cannot be trusted (the kernel marks pages clean that never reached the disk), so it is closed, opened anew, and reading goes
 * on from what the database says.
 *
 * Long because followers, batch and failure change together; apart they would have to know each other's insides.
 */
import type { Clock, Timer } from '../contract/clock.ts';
import type { ErrorCode } from '../contract/errors.ts';
import type { Notice } from '../contract/live.ts';
import type { EventName, JournalLine, StateLine, TimelineEvent } from '../contract/timeline-events.ts';
import { decodeLine } from '../formats/journal/decode.ts';
import type { LineSink } from '../formats/journal/lines.ts';
import { JournalTail, type JournalFiles, type TailFact } from '../formats/journal/tail.ts';
import type { WritingDictionary } from './dictionary.ts';
import { EventWriter, type Written } from './event-writer.ts';
import { explainFailedWrite } from './failures.ts';
import { writeMarker } from './folder.ts';
import { emptyBatch, type Follower } from './follower.ts';
import { LiveFeed } from './live-feed.ts';
import { reopenWriter, type Db } from './open.ts';
import { NO_JOURNAL, Processes } from './processes.ts';
import { inTransaction, Queue } from './queue.ts';
import type { IngestStatus } from './types.ts';
import { WalCare } from './wal-care.ts';

export interface IngestSink {
  committed(process: string, events: TimelineEvent[], lastSeq: number): void;
  state(process: string, state: StateLine): void;
  notice(notice: Notice): void;
  failing(failing: IngestStatus['failing']): void;
  /** A reader keeps the WAL from being folded in; it grows towards its bound. */
  walLarge(bytes: number): void;
}

export interface IngestOptions {
  folder: string;
  db: Db;
  clock: Clock;
  files: JournalFiles;
  sink: IngestSink;
  live: LiveFeed;
  /** From which size of the WAL on a stuck reader is told of. */
  walTellBytes?: number;
  /** Tests only. */
  synchronous?: 'FULL' | 'NORMAL' | undefined;
}

const COMMIT_EVENTS = 1_000;
const COMMIT_MS = 50;
const RETRY_MS = [50, 100, 250, 500, 1_000, 2_000];
/** State changes and proofs' ends do not wait for company. */
const URGENT: ReadonlySet<EventName> = new Set<EventName>([
  'hello', 'ready', 'run_started', 'run_ended', 'configure_refused', 'drain_started', 'drain_cancelled', 'proof_ended', 'proof_returned',
  'worker_dead', 'params_load_ended', 'bye', 'lost',
]); // prettier-ignore

export class Ingest {
  queue: Queue;
  processes: Processes;
  readonly #options: IngestOptions;
  #db: Db;
  #writer: EventWriter;
  readonly #wal: WalCare;
  readonly #followers = new Map<string, Follower>();
  #commitTimer: Timer | null = null;
  #retryTimer: Timer | null = null;
  #failing: IngestStatus['failing'] = null;
  #failures = 0;
  #poisoned = false;
  #pumpDue = false;
  #urgent = false;
  #closed = false;

  constructor(options: IngestOptions) {
    this.#options = options;
    this.#db = options.db;
    this.#writer = new EventWriter(this.#db, this.#wallMs);
    this.queue = new Queue(this.#db, this.#wallMs);
    this.processes = new Processes(this.#db, this.#wallMs);
    this.#wal = new WalCare({
      folder: options.folder,
      clock: options.clock,
      tellBytes: options.walTellBytes,
      onLarge: (bytes) => options.sink.walLarge(bytes),
      checkpoint: () => this.#checkpoint(),
    });
  }

  get db(): Db {
    return this.#db;
  }

  follow(process: string): void {
    if (this.#followers.has(process)) return;
    const record = this.processes.find(process);
    const cursor = this.#writer.restoreCursor(record.id, process, record.lastSeq);
    const follower: Follower = {
      process,
      cursor,
      tail: this.#openTail(process, record.journal, record.committedBytes),
      batch: emptyBatch(record.committedBytes),
      committedBytes: record.committedBytes,
      horizonNs: record.horizonNs,
      heardNs: null,
      originNs: null,
      finishing: [],
      atEnd: false,
      stopped: false,
    };
    this.#followers.set(process, follower);
    const hello = this.#writer.readFrom(record.id, 0, 1)[0];
    if (hello?.e === 'hello') follower.originNs = BigInt(hello.monotonic_ns);
    this.#options.live.restore(this.#db, this.#writer, process);
    this.#wake();
  }

  /** Resolves once everything up to the end of the file is committed. */
  finishFollowing(process: string): Promise<void> {
    this.processes.find(process);
    if (!this.#followers.has(process)) this.follow(process);
    return new Promise((resolve) => {
      const follower = this.#followers.get(process);
      if (follower) {
        follower.finishing.push(resolve);
        follower.atEnd = false;
      }
      this.#wake();
    });
  }

  status(): IngestStatus {
    const count = (sql: string) => (this.#db.prepare(sql).pluck().get() as number | null) ?? 0;
    let lagNs = 0;
    const now = this.#options.clock.nowNs();
    for (const follower of this.#followers.values()) {
      if (follower.originNs === null || follower.horizonNs === null || follower.finishing.length > 0) continue;
      lagNs = Math.max(lagNs, now - Number(follower.originNs + BigInt(follower.horizonNs)));
    }
    return {
      lagNs,
      lost: this.#poisoned
        ? 0
        : count(`SELECT sum(l.count - l.filled) FROM loss l JOIN journal j ON j.process = l.process WHERE j.path <> '${NO_JOURNAL}'`),
      unparsed: this.#poisoned ? 0 : count(`SELECT sum(unparsed) FROM journal WHERE path <> '${NO_JOURNAL}'`),
      failing: this.#failing,
      following: [...this.#followers.values()].map((follower) => ({
        process: follower.process,
        committedBytes: follower.committedBytes,
        lastSeq: follower.cursor.gaps.next - 1,
        horizonNs: follower.horizonNs,
        heardNs: follower.heardNs,
        finished: follower.stopped,
      })),
    };
  }

  /** Runs a write of the queue or a record; an I/O error poisons the connection for it as well. */
  guard<T>(work: () => T): T {
    if (this.#poisoned) this.#reopen();
    try {
      return work();
    } catch (error) {
      this.#judge(error, false);
      throw error;
    }
  }

  /** A transaction of somebody else on this connection, with the words and attempts that all share. */
  transact<T>(work: (db: Db, dictionary: WritingDictionary) => T): T {
    return this.guard(() => {
      const { dictionary } = this.#writer;
      try {
        const value = inTransaction(this.#db, () => work(this.#db, dictionary));
        dictionary.committed();
        this.#wal.afterCommit();
        return value;
      } catch (error) {
        dictionary.forget();
        throw error;
      }
    });
  }

  /** Commits what was read, now. */
  flush(): void {
    this.#commit();
  }

  close(): void {
    this.#commit();
    this.#closed = true;
    for (const timer of [this.#commitTimer, this.#retryTimer]) timer?.cancel();
    this.#wal.close();
    for (const follower of this.#followers.values()) follower.tail.close();
    this.#followers.clear();
  }

  readonly #wallMs = (): number => this.#options.clock.wallMs();

  #openTail(process: string, journal: string, offset: number): JournalTail {
    return new JournalTail({
      path: journal,
      offset,
      files: this.#options.files,
      clock: this.#options.clock,
      onWake: () => this.#wake(),
      onFact: (fact) => this.#takeFact(process, fact),
    });
  }

  #wake(): void {
    if (this.#pumpDue || this.#closed) return;
    this.#pumpDue = true;
    setImmediate(() => {
      this.#pumpDue = false;
      if (!this.#closed) this.#pump();
    });
  }

  #pump(): void {
    if (this.#failing !== null) return;
    let more = false;
    for (const follower of this.#followers.values()) {
      const count = follower.stopped ? 0 : this.#readChunk(follower);
      if (count > 0) more = true;
      else if (follower.finishing.length > 0) {
        follower.atEnd = true;
        this.#urgent = true;
      }
    }
    const waiting = this.#countWaiting();
    if (this.#urgent || waiting >= COMMIT_EVENTS) this.#commit();
    else if (waiting > 0 && this.#commitTimer === null) {
      this.#commitTimer = this.#options.clock.after(COMMIT_MS, () => {
        this.#commitTimer = null;
        this.#commit();
      });
    }
    if (more) this.#wake();
  }

  #readChunk(follower: Follower): number {
    try {
      const count = follower.tail.read(this.#sinkOf(follower));
      if (count > 0) follower.batch.committedBytes = follower.tail.offset;
      return count;
    } catch (error) {
      // The file cannot be read now; the poll tries again.
      this.#fail({ code: 'internal', message: `The journal of ${follower.process} cannot be read: ${(error as Error).message}` });
      this.#retryLater();
      return 0;
    }
  }

  #sinkOf(follower: Follower): LineSink {
    const { batch } = follower;
    return {
      line: (text, offset, end) => {
        if (follower.stopped) return;
        const decoded = decodeLine(text, offset);
        if (decoded.ok) return this.#takeLine(follower, decoded.line, offset);
        if (decoded.tooNew === true) return this.#stop(follower, 'journal_too_new', decoded.problem);
        batch.problems.push({ offset, bytes: end - offset, kind: 'line', problem: decoded.problem });
      },
      bad: (problem, offset, end) => {
        if (!follower.stopped) batch.problems.push({ offset, bytes: end - offset, kind: 'line', problem });
      },
    };
  }

  #takeLine(follower: Follower, line: JournalLine, offset: number): void {
    if (line.e === 'hello') {
      if (line.process !== follower.process) {
        return this.#stop(follower, 'internal', `The journal belongs to process ${line.process}, not ${follower.process}.`);
      }
      follower.originNs = BigInt(line.monotonic_ns);
    }
    if (line.e === 'mark' || line.e === 'state') {
      follower.horizonNs = Math.max(follower.horizonNs ?? 0, line.t);
      follower.heardNs = this.#options.clock.nowNs();
      if (line.e === 'state') this.#options.sink.state(follower.process, line);
    } else if (URGENT.has(line.e)) this.#urgent = true;
    follower.batch.lines.push(line);
    follower.batch.offsets.push(offset);
  }

  #countWaiting(): number {
    let waiting = 0;
    for (const { batch } of this.#followers.values()) waiting += batch.lines.length + batch.problems.length;
    return waiting;
  }

  #commit(): void {
    this.#commitTimer?.cancel();
    this.#commitTimer = null;
    if (this.#closed || this.#retryTimer !== null) return;
    const due = [...this.#followers.values()].filter(
      (follower) =>
        follower.batch.lines.length > 0 || follower.batch.problems.length > 0 || (follower.finishing.length > 0 && follower.atEnd),
    );
    this.#urgent = false;
    if (due.length === 0) return;
    const before = due.map((follower) => follower.cursor.gaps.copy());
    let written: Written[];
    try {
      if (this.#poisoned) this.#reopen();
      written = inTransaction(this.#db, () => due.map((follower) => this.#write(follower)));
      this.#writer.dictionary.committed();
    } catch (error) {
      due.forEach((follower, index) => (follower.cursor.gaps = before[index] ?? follower.cursor.gaps));
      this.#writer.dictionary.forget();
      this.#judge(error, true);
      return;
    }
    this.#recovered();
    due.forEach((follower, index) => this.#tell(follower, written[index] as Written));
    this.#wal.afterCommit();
  }

  #write(follower: Follower): Written {
    const { batch, tail } = follower;
    const written = this.#writer.write(follower.cursor, batch);
    if (follower.finishing.length > 0 && follower.atEnd) {
      if (tail.tailBytes > 0) {
        const problem = {
          offset: tail.offset,
          bytes: tail.tailBytes,
          kind: 'torn' as const,
          problem: 'the file ends in the middle of a line',
        };
        this.#writer.write(follower.cursor, { ...emptyBatch(batch.committedBytes), problems: [problem] });
      }
      this.#writer.finish(follower.cursor, written);
    }
    return written;
  }

  #tell(follower: Follower, written: Written): void {
    const { lines } = follower.batch;
    follower.committedBytes = follower.batch.committedBytes;
    follower.batch = emptyBatch(follower.committedBytes);
    const { live, sink } = this.#options;
    live.take(follower.process, lines, written);
    if (written.events.length > 0) sink.committed(follower.process, written.events, follower.cursor.gaps.next - 1);
    if (follower.finishing.length > 0 && follower.atEnd) {
      live.processEnded(follower.process);
      follower.tail.close();
      this.#followers.delete(follower.process);
      for (const resolve of follower.finishing) resolve();
    }
  }

  #takeFact(process: string, fact: TailFact): void {
    const follower = this.#followers.get(process);
    if (!follower) return;
    const problem =
      fact.kind === 'truncated'
        ? `The journal of process ${process} is shorter (${fact.size} bytes) than what was read of it (${fact.offset}): its end was lost, probably in a power cut.`
        : `The journal of process ${process} was ${fact.kind} while it was being written; what the process writes is still read.`;
    follower.batch.problems.push({ offset: follower.tail.offset, bytes: 0, kind: 'file', problem });
    this.#notice('warning', 'info', problem);
  }

  /** This journal is not for us: nothing more of it is read. */
  #stop(follower: Follower, code: ErrorCode, message: string): void {
    follower.stopped = true;
    follower.batch.problems.push({ offset: follower.tail.offset, bytes: 0, kind: 'file', problem: message });
    this.#urgent = true;
    this.#notice('error', code, message);
  }

  #notice(severity: Notice['severity'], code: Notice['code'], message: string): void {
    try {
      this.#options.sink.notice(this.processes.recordNotice({ severity, code, message }));
    } catch {
      // Not even that can be written now; it is told all the same.
      this.#options.sink.notice({ id: 0, severity, code, message, wallMs: this.#wallMs() });
    }
  }

  /** What is done about a failed write. `retry`: a batch waits for it, whatever it was. */
  #judge(error: unknown, retry: boolean): void {
    const { failing, isPoison, isDamage } = explainFailedWrite(error, this.#options.folder);
    if (failing.code === 'internal' && !retry) return;
    if (isPoison) this.#poisoned = true;
    if (isDamage) writeMarker(this.#options.folder, (error as Error).message);
    this.#fail(failing);
    this.#retryLater();
  }

  #fail(failing: NonNullable<IngestStatus['failing']>): void {
    if (this.#failing?.code !== failing.code) this.#options.sink.failing(failing);
    this.#failing = failing;
  }

  #recovered(): void {
    this.#failures = 0;
    if (this.#failing === null) return;
    this.#failing = null;
    this.#options.sink.failing(null);
    this.#wake();
  }

  #retryLater(): void {
    if (this.#retryTimer !== null || this.#closed) return;
    const wait = RETRY_MS[Math.min(this.#failures, RETRY_MS.length - 1)] ?? 2_000;
    this.#failures += 1;
    this.#retryTimer = this.#options.clock.after(wait, () => {
      this.#retryTimer = null;
      this.#retry();
    });
  }

  #retry(): void {
    try {
      if (this.#poisoned) this.#reopen();
      if (this.#countWaiting() > 0) this.#commit();
      else {
        // Nothing waits: a write of no consequence tells whether writing works again.
        inTransaction(this.#db, () => this.#db.prepare(`UPDATE meta SET value = value WHERE key = 'clean_shutdown'`).run());
        this.#recovered();
      }
    } catch (error) {
      this.#judge(error, true);
    }
  }

  /** A new connection; each follower goes back to what the database says and reads on from there. */
  #reopen(): void {
    try {
      this.#db.close();
    } catch {
      // It is given up in any case.
    }
    this.#db = reopenWriter({ folder: this.#options.folder, wallMs: this.#wallMs(), synchronous: this.#options.synchronous });
    this.#writer = new EventWriter(this.#db, this.#wallMs);
    this.queue = new Queue(this.#db, this.#wallMs);
    this.processes = new Processes(this.#db, this.#wallMs);
    this.#poisoned = false;
    for (const follower of this.#followers.values()) {
      const record = this.processes.find(follower.process);
      const toldUpTo = follower.cursor.gaps.next;
      follower.cursor = this.#writer.restoreCursor(record.id, follower.process, record.lastSeq);
      follower.tail.close();
      follower.tail = this.#openTail(follower.process, record.journal, record.committedBytes);
      follower.batch = emptyBatch(record.committedBytes);
      follower.committedBytes = record.committedBytes;
      follower.atEnd = false;
      // The commit that failed may have reached the disk after all: then those events are told now.
      const events = record.lastSeq >= toldUpTo ? this.#writer.readFrom(record.id, toldUpTo, record.lastSeq - toldUpTo + 1) : [];
      if (events.length > 0) {
        this.#options.live.take(follower.process, events, { events, losses: [], unparsed: 0 });
        this.#options.sink.committed(follower.process, events, record.lastSeq);
      }
    }
    this.#wake();
  }

  #checkpoint(): void {
    if (this.#failing !== null) return;
    try {
      this.#db.pragma('wal_checkpoint(TRUNCATE)');
    } catch (error) {
      this.#judge(error, false);
    }
  }
}
