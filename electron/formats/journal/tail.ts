/**
 * Follows a growing file from a byte offset, line by line. Owns when to look and what the file did; the file itself is reached through
 * {@link JournalFiles}, time through a clock.
 *
 * A change notice of the file system wakes it, and a poll does so as well, since notices can be lost. The open descriptor is the
 * journal: if the path later names another file, or none, that is told as a fact and the descriptor is read on.
 */
import type { Clock, Timer } from '../../contract/clock.ts';
import { LineSplitter, type LineSink } from './lines.ts';

export interface JournalFiles {
  /** Null while there is no such file. */
  open(path: string): OpenJournal | null;
  /** Device and inode as one word; null where the path names nothing. */
  identify(path: string): string | null;
  /** Calls `changed` now and then after a change; null where that cannot be had. */
  watch(path: string, changed: () => void): { close(): void } | null;
}

export interface OpenJournal {
  readonly identity: string;
  size(): number;
  /** Bytes read into the buffer's start, 0 at the end of the file. */
  read(buffer: Uint8Array, position: number): number;
  close(): void;
}

export type TailFact =
  /** Shorter than what has been read already: nothing more is read. */
  | { kind: 'truncated'; size: number; offset: number }
  /** The path names another file now. */
  | { kind: 'replaced' }
  | { kind: 'deleted' };

export interface TailOptions {
  path: string;
  /** Where a line begins: the offset of an earlier {@link JournalTail.offset}. */
  offset: number;
  files: JournalFiles;
  clock: Clock;
  /** There may be something to read. */
  onWake: () => void;
  onFact: (fact: TailFact) => void;
  /** At most 50. */
  pollMs?: number;
  chunkBytes?: number;
}

const POLL_MS = 50;
/** The path is compared with the descriptor every so many polls. */
const POLLS_PER_LOOK = 20;
const CHUNK_BYTES = 512 * 1024;

export class JournalTail {
  readonly #options: TailOptions;
  readonly #splitter: LineSplitter;
  readonly #buffer: Uint8Array;
  /** The next byte to read. */
  #position: number;
  #file: OpenJournal | null = null;
  #watch: { close(): void } | null = null;
  #timer: Timer | null = null;
  #polls = 0;
  #truncated = false;
  #lastPathFact: 'replaced' | 'deleted' | null = null;
  #closed = false;

  constructor(options: TailOptions) {
    this.#options = options;
    this.#splitter = new LineSplitter(options.offset);
    this.#position = options.offset;
    this.#buffer = new Uint8Array(options.chunkBytes ?? CHUNK_BYTES);
    this.#schedule();
  }

  /** The byte after the last whole line handed out. */
  get offset(): number {
    return this.#splitter.offset;
  }

  /** Bytes after it that end in no line yet. */
  get tailBytes(): number {
    return this.#splitter.tailBytes;
  }

  /** False while the file is not there yet. */
  get isOpen(): boolean {
    return this.#file !== null;
  }

  /** Reads one chunk; whole lines go to the sink. Returns the bytes read: 0 means the present end. */
  read(sink: LineSink): number {
    if (this.#closed || this.#truncated) return 0;
    const file = this.#openFile();
    if (!file) return 0;
    const size = file.size();
    if (size < this.#position) {
      this.#truncated = true;
      this.#options.onFact({ kind: 'truncated', size, offset: this.#position });
      return 0;
    }
    if (size === this.#position) return 0;
    const count = file.read(this.#buffer, this.#position);
    this.#position += count;
    if (count > 0) this.#splitter.push(this.#buffer.subarray(0, count), sink);
    return count;
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#watch?.close();
    this.#file?.close();
    this.#file = null;
  }

  #openFile(): OpenJournal | null {
    if (!this.#file) {
      this.#file = this.#options.files.open(this.#options.path);
      if (this.#file) this.#watch = this.#options.files.watch(this.#options.path, this.#options.onWake);
    }
    return this.#file;
  }

  #schedule(): void {
    this.#timer = this.#options.clock.after(Math.min(this.#options.pollMs ?? POLL_MS, POLL_MS), () => {
      if (this.#closed) return;
      this.#schedule();
      this.#polls += 1;
      if (this.#polls % POLLS_PER_LOOK === 0) this.#lookAtPath();
      this.#options.onWake();
    });
  }

  #lookAtPath(): void {
    if (!this.#file) return;
    const identity = this.#options.files.identify(this.#options.path);
    const fact = identity === null ? 'deleted' : identity === this.#file.identity ? null : 'replaced';
    if (fact !== null && fact !== this.#lastPathFact) this.#options.onFact({ kind: fact });
    this.#lastPathFact = fact;
  }
}
