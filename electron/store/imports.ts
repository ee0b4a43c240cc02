/**
 * Imports on their way into the history: begin, pieces in order, end. Lives in the writing thread; one transaction for each stretch of
 * unpacked bytes, so that nothing stands between two of them but what is durable.
 *
 *   piece → (gunzip | unzstd) → run file | log → ImportWriter → SQLite
 *
 * An import that is left alone is ended as if it had been asked to; one that dies with this process leaves runs that the next start
 * closes as interrupted, and that the same bytes complete.
 */
import { randomUUID } from 'node:crypto';
import type { CallOutput, CheckedInput } from '../contract/api.ts';
import type { Clock, Timer } from '../contract/clock.ts';
import { InterlockError } from '../contract/errors.ts';
import { PIECE_BYTES, TRANSFER_SCHEMA, type ImportProblem, type ImportProgress, type ImportReport } from '../contract/transfer.ts';
import type { ImportReader, ImportSink } from '../formats/import-sink.ts';
import { closeCutRuns, readRunState } from './import-facts.ts';
import { ImportWriter } from './import-writer.ts';
import { keepNewest } from './keep-newest.ts';
import type { WritingDictionary } from './dictionary.ts';
import type { LiveFeed } from './live-feed.ts';
import type { Db } from './open.ts';
import { MAGIC_BYTES, recognisePacking, Unpacker } from './unpack.ts';

export interface ImportReaders {
  runFile(sink: ImportSink): ImportReader;
  log(sink: ImportSink, options: { name: string }): ImportReader;
}

export interface ImportsOptions {
  clock: Clock;
  /** One transaction on the writer's connection. */
  transact<T>(work: (db: Db, dictionary: WritingDictionary) => T): T;
  live: LiveFeed;
  readers: ImportReaders;
}

/** Left alone for so long, an import is ended. */
export const ALONE_MS = 10 * 60_000;
const MOST_AT_ONCE = 16;
/** Reports of ended imports that may still be asked for. */
const REPORTS_KEPT = 32;
const RUN_FILE_BEGINS = Buffer.from('{"interlock_run":');

interface Session {
  id: string;
  name: string;
  writer: ImportWriter;
  /** Pieces come one after another; what comes apart is taken in order. */
  turn: Promise<unknown>;
  timer: Timer;
  bytes: number;
  /** Pieces that came and are not read yet. */
  waiting: Buffer[];
  /** The first bytes, until it is known what they are. */
  head: Buffer | null;
  packing: string | null;
  unpacker: Unpacker | null;
  unpackedHead: Buffer | null;
  reader: ImportReader | null;
  failed: unknown;
}

export class Imports {
  readonly #options: ImportsOptions;
  readonly #open = new Map<string, Session>();
  readonly #reports = new Map<string, ImportReport>();

  constructor(options: ImportsOptions) {
    this.#options = options;
    this.#close(null, 'the import was cut off');
  }

  begin(input: CheckedInput<'import_begin'>): CallOutput<'import_begin'> {
    if (this.#open.size >= MOST_AT_ONCE) throw new InterlockError('busy', `${MOST_AT_ONCE} imports are open; end one of them first.`);
    const id = randomUUID();
    // A path is nobody's business here.
    const name = input.name.split(/[/\\]/).at(-1)?.trim() || 'unnamed';
    const { clock } = this.#options;
    const writer = new ImportWriter({ id, name, wallMs: () => clock.wallMs(), follow: input.follow });
    this.#open.set(id, {
      id, name, writer, turn: Promise.resolve(), timer: this.#alone(id), bytes: 0, waiting: [], head: Buffer.alloc(0), packing: null, unpacker: null,
      unpackedHead: Buffer.alloc(0), reader: null, failed: null,
    }); // prettier-ignore
    return { import: id };
  }

  /**
   * Resolves once what the piece says is durable. Pieces that are here already share a transaction: most of its time is the disk's. Fails
   * with what a write failed with; then the import is over.
   */
  async piece(id: string, base64: string): Promise<ImportProgress> {
    const session = this.#find(id);
    const bytes = Buffer.from(base64, 'base64');
    if (bytes.length > PIECE_BYTES) throw new InterlockError('too_large', `A piece has at most ${PIECE_BYTES} bytes.`);
    session.timer.cancel();
    session.waiting.push(bytes);
    return this.#inTurn(session, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      try {
        await this.#take(session, session.waiting.splice(0));
      } finally {
        session.timer.cancel();
        if (this.#open.has(id)) session.timer = this.#alone(id);
      }
      return this.#progress(session);
    });
  }

  async end(id: string): Promise<ImportReport> {
    const report = this.#reports.get(id);
    if (report) return report;
    const session = this.#find(id);
    session.timer.cancel();
    return this.#inTurn(session, () => this.#end(session));
  }

  /** The history is about to close: what came is kept. */
  async endAll(): Promise<void> {
    for (const id of [...this.#open.keys()]) await this.end(id).catch(() => undefined);
  }

  #find(id: string): Session {
    const session = this.#open.get(id);
    if (session) return session;
    throw new InterlockError('not_found', 'There is no such import; it was ended, or left alone for ten minutes.');
  }

  #alone(id: string): Timer {
    return this.#options.clock.after(ALONE_MS, () => void this.end(id).catch(() => undefined));
  }

  #inTurn<T>(session: Session, work: () => Promise<T>): Promise<T> {
    const mine = session.turn.then(work);
    session.turn = mine.catch(() => undefined);
    return mine;
  }

  async #take(session: Session, pieces: Buffer[]): Promise<void> {
    if (session.failed !== null) throw session.failed;
    if (session.reader !== null && session.unpacker === null) return this.#read(session, pieces);
    for (const bytes of pieces) {
      if (session.head === null) await this.#unpack(session, bytes);
      else {
        session.head = Buffer.concat([session.head, bytes]);
        if (session.head.length >= MAGIC_BYTES) await this.#recognise(session);
      }
    }
  }

  /** Looks at the first bytes: are they packed? */
  async #recognise(session: Session): Promise<void> {
    const head = session.head ?? Buffer.alloc(0);
    session.head = null;
    session.packing = recognisePacking(head);
    if (session.packing === 'gzip' || session.packing === 'zstd') {
      session.unpacker = new Unpacker(session.packing, (bytes) => this.#read(session, [bytes]));
    } else if (session.packing !== null) {
      const tool = session.packing === 'bzip2' ? 'bzcat' : session.packing === 'zip' ? 'unzip -p' : `${session.packing}cat`;
      this.#tellProblem(
        session,
        'unparsed',
        `This is packed with ${session.packing}; gzip and zstd are read here: ${tool} FILE | interlock import -`,
      );
    }
    await this.#unpack(session, head);
  }

  async #unpack(session: Session, bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return;
    if (session.unpacker) await session.unpacker.push(bytes);
    else if (session.packing === null) this.#read(session, [bytes]);
  }

  /** What was unpacked: one transaction. */
  #read(session: Session, pieces: Uint8Array[]): void {
    if (pieces.length === 0) return;
    for (const bytes of pieces) session.bytes += bytes.length;
    if (session.unpackedHead === null) {
      return this.#write(session, () => {
        for (const bytes of pieces) session.reader?.push(bytes);
      });
    }
    session.unpackedHead = Buffer.concat([session.unpackedHead, ...pieces]);
    if (session.unpackedHead.length >= RUN_FILE_BEGINS.length) this.#write(session, () => this.#beginReading(session));
  }

  #beginReading(session: Session): void {
    const head = session.unpackedHead ?? Buffer.alloc(0);
    session.unpackedHead = null;
    const { readers } = this.#options;
    const isRunFile = head.subarray(0, RUN_FILE_BEGINS.length).equals(RUN_FILE_BEGINS);
    session.reader = isRunFile ? readers.runFile(session.writer) : readers.log(session.writer, { name: session.name });
    session.reader.push(head);
  }

  #write(session: Session, work: () => void): void {
    if (session.failed !== null) throw session.failed;
    const { writer } = session;
    try {
      this.#options.transact((db, dictionary) => {
        writer.use(db, dictionary);
        work();
        writer.flush();
      });
    } catch (error) {
      // What was read cannot be read again: the import is over, and what is durable stays.
      session.failed = error;
      this.#close(session.id, 'the import failed');
      throw error;
    }
    for (const step of writer.takeLive()) step(this.#options.live);
  }

  async #end(session: Session): Promise<ImportReport> {
    const { writer, id } = session;
    this.#open.delete(id);
    if (session.failed !== null) {
      this.#close(id, 'the import failed');
      throw session.failed;
    }
    if (session.head !== null && session.head.length > 0) await this.#recognise(session);
    const trouble = (await session.unpacker?.end()) ?? null;
    this.#write(session, () => {
      if (session.unpackedHead !== null && session.unpackedHead.length > 0) this.#beginReading(session);
      if (trouble !== null) this.#say(session, 'torn', trouble);
      writer.ending = true;
      session.reader?.end();
      writer.giveUp('the import ended');
      if (writer.runs.length === 0) this.#say(session, 'note', this.#nothing(session));
    });
    this.#options.live.importEnded();
    const report = this.#report(session);
    keepNewest(this.#reports, id, report, REPORTS_KEPT);
    return report;
  }

  #nothing(session: Session): string {
    if (session.bytes === 0) return 'The input is empty.';
    return (
      'No run was found here. Looked for: a run file of Interlock ({"interlock_run":…}), and in a log of the cuzk daemon its lines with ' +
      'TIMELINE, CUZK_TIMING or the daemon’s tracing messages, plain or behind journald, syslog or docker prefixes.'
    );
  }

  #tellProblem(session: Session, kind: ImportProblem['kind'], problem: string): void {
    this.#write(session, () => this.#say(session, kind, problem));
  }

  /** About the input as a whole. */
  #say(session: Session, kind: ImportProblem['kind'], problem: string): void {
    const line = Math.max(1, session.reader?.lines ?? 1);
    session.writer.remark({ line, offset: session.bytes, bytes: 0, kind, problem, text: '' });
  }

  #close(importing: string | null, endedBy: string): void {
    const { transact, clock } = this.#options;
    try {
      transact((db) => closeCutRuns(db, importing, endedBy, clock.wallMs()));
    } catch {
      // Not even that can be written now: the next start does it.
    }
  }

  #progress({ bytes, reader, writer }: Session): ImportProgress {
    const { events, unparsed } = writer;
    return { bytes, lines: reader?.lines ?? 0, events, unparsed, runs: writer.runs.map(({ run }) => run) };
  }

  #report(session: Session): ImportReport {
    const { writer, name } = session;
    const { bytes, lines, events, unparsed } = this.#progress(session);
    const states = this.#options.transact((db) => new Map(writer.runs.map(({ run }) => [run, readRunState(db, run)])));
    return {
      schema: TRANSFER_SCHEMA,
      run: writer.runs.at(-1)?.run ?? null,
      runs: writer.runs.map(({ run, again, events: count, proofs }) => {
        return { run, name, state: states.get(run) ?? 'interrupted', events: count, proofs: proofs.size, again };
      }),
      bytes,
      lines,
      events,
      unparsed,
      problems: [...writer.remarks, ...writer.problems],
      more_problems: writer.moreProblems,
    };
  }
}
