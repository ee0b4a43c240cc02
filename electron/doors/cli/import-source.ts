/** Where `import` reads from: a file, a file that grows, or standard input. A wrong path is said by its name before anything is opened. */
import { constants, open, stat, type FileHandle } from 'node:fs/promises';
import { sleep, type Clock } from '../../contract/clock.ts';
import { InterlockError } from '../../contract/errors.ts';
import { PIECE_BYTES } from '../../contract/transfer.ts';
import { visibleText } from '../../contract/visible-text.ts';

/** How often a file that grows is looked at. */
const LOOK_MS = 250;

export interface ImportSource {
  /** Of a plain file; null of a pipe. */
  readonly sizeBytes: number | null;
  /** The next bytes, at most a piece; none yet: an empty array; null at the end. */
  read(): Promise<Uint8Array | null>;
  /** No more is read: the next `read` is the end. */
  stop(): void;
  close(): Promise<void>;
}

export interface SourceOptions {
  follow: boolean;
  clock: Clock;
  say(message: string): void;
}

export async function openSource(word: string, options: SourceOptions): Promise<ImportSource> {
  if (word === '-') return new PipeSource(process.stdin, options.clock);
  const file = await openFile(word);
  const info = await file.stat();
  if (info.isDirectory()) {
    await file.close();
    throw new InterlockError('usage', `${visibleText(word)} is a folder; a file is imported.`);
  }
  if (!info.isFile()) return new PipeSource(file.createReadStream(), options.clock);
  return options.follow ? new GrowingSource(word, file, options) : new FileSource(file, info.size);
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === 'ENOENT'
        ? 'is not there'
        : code === 'EACCES' || code === 'EPERM'
          ? 'may not be read by this user'
          : `cannot be read (${code})`;
    throw new InterlockError('usage', `${visibleText(path)} ${why}.`);
  }
}

class FileSource implements ImportSource {
  readonly sizeBytes: number;
  readonly #file: FileHandle;
  #stopped = false;

  constructor(file: FileHandle, sizeBytes: number) {
    this.#file = file;
    this.sizeBytes = sizeBytes;
  }

  async read(): Promise<Uint8Array | null> {
    if (this.#stopped) return null;
    const buffer = Buffer.allocUnsafe(PIECE_BYTES);
    const { bytesRead } = await this.#file.read(buffer, 0, PIECE_BYTES);
    return bytesRead === 0 ? null : buffer.subarray(0, bytesRead);
  }

  stop(): void {
    this.#stopped = true;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/**
 * A file that grows, as `tail -F` reads it: after its end it is looked at again and again. One that got another file under its name is
 * read to its end and then the new one; one that was cut is read from its beginning.
 */
class GrowingSource implements ImportSource {
  readonly #path: string;
  readonly #options: SourceOptions;
  readonly #stop = new AbortController();
  #file: FileHandle;
  #offset = 0;
  #replaced = false;

  constructor(path: string, file: FileHandle, options: SourceOptions) {
    this.#path = path;
    this.#file = file;
    this.#options = options;
  }

  get sizeBytes(): null {
    return null;
  }

  async read(): Promise<Uint8Array | null> {
    if (this.#stop.signal.aborted) return null;
    const buffer = Buffer.allocUnsafe(PIECE_BYTES);
    const { bytesRead } = await this.#file.read(buffer, 0, PIECE_BYTES, this.#offset);
    this.#offset += bytesRead;
    if (bytesRead > 0) return buffer.subarray(0, bytesRead);
    if (await this.#turn()) return new Uint8Array();
    await sleep(this.#options.clock, LOOK_MS, this.#stop.signal);
    return this.#stop.signal.aborted ? null : new Uint8Array();
  }

  stop(): void {
    this.#stop.abort();
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  /** True if there is something else to read from now. */
  async #turn(): Promise<boolean> {
    const mine = await this.#file.stat();
    if (mine.size < this.#offset) {
      this.#options.say(`${this.#path} was cut; it is read from its beginning.`);
      this.#offset = 0;
      return true;
    }
    const named = await stat(this.#path).catch(() => null);
    if (named === null || (named.ino === mine.ino && named.dev === mine.dev)) return false;
    if (!this.#replaced) {
      // What was written to the old one between the last read and now comes first.
      this.#replaced = true;
      return true;
    }
    const next = await open(this.#path, constants.O_RDONLY).catch(() => null);
    if (next === null) return false;
    await this.#file.close();
    this.#options.say(`${this.#path} is another file now; it is read on.`);
    this.#file = next;
    this.#offset = 0;
    this.#replaced = false;
    return true;
  }
}

class PipeSource implements ImportSource {
  readonly sizeBytes = null;
  readonly #stream: NodeJS.ReadableStream & { destroy(): unknown };
  readonly #clock: Clock;
  readonly #waiting: Buffer[] = [];
  #size = 0;
  #ended = false;
  #failed: Error | null = null;
  #wake: () => void = () => undefined;

  constructor(stream: NodeJS.ReadableStream & { destroy(): unknown }, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
    stream.on('data', (bytes: Buffer) => {
      this.#waiting.push(bytes);
      this.#size += bytes.length;
      if (this.#size >= 2 * PIECE_BYTES) stream.pause();
      this.#wake();
    });
    stream.on('end', () => this.#end());
    stream.on('close', () => this.#end());
    stream.on('error', (error: Error) => {
      this.#failed = error;
      this.#end();
    });
  }

  /** A whole piece, or what there is after a moment. */
  async read(): Promise<Uint8Array | null> {
    if (this.#size < PIECE_BYTES && !this.#ended) {
      const moment = new AbortController();
      this.#wake = () => (this.#size >= PIECE_BYTES || this.#ended) && moment.abort();
      await sleep(this.#clock, LOOK_MS, moment.signal);
    }
    if (this.#failed) throw new InterlockError('usage', `Standard input cannot be read: ${this.#failed.message}.`);
    if (this.#size === 0) return this.#ended ? null : new Uint8Array();
    const all = Buffer.concat(this.#waiting.splice(0));
    const rest = all.subarray(PIECE_BYTES);
    this.#size = rest.length;
    if (rest.length > 0) this.#waiting.push(rest);
    if (this.#size < PIECE_BYTES) this.#stream.resume();
    return all.subarray(0, PIECE_BYTES);
  }

  stop(): void {
    this.#end();
    this.#stream.destroy();
  }

  close(): Promise<void> {
    this.#stream.destroy();
    return Promise.resolve();
  }

  #end(): void {
    this.#ended = true;
    this.#wake();
  }
}
