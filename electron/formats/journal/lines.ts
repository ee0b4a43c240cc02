/**
 * Bytes into lines. Owns framing only: what a line means is decode.ts's business.
 *
 * A line ends at `\n`; a `\r` before it is dropped. Bytes after the last `\n` are the torn tail: they are kept back until more bytes
 * come and are never a line. Chunks may be cut anywhere, also inside a character.
 */
import { Buffer, isAscii, isUtf8 } from 'node:buffer';

/** Longest line that is looked at, in bytes without its line end. */
export const MAX_LINE_BYTES = 2 ** 20;

export interface LineSink {
  /** A line without its end. `offset`: its first byte in the file; `end`: the byte after its `\n`. */
  line(text: string, offset: number, end: number): void;
  /** One that is no text: too long, or not UTF-8. */
  bad(problem: string, offset: number, end: number): void;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

export class LineSplitter {
  /** Offset of the first byte not handed on as part of a whole line: where reading may resume. */
  offset: number;
  readonly #maxBytes: number;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  /** Bytes of the unfinished line, kept or (past the cap) thrown away. */
  #openBytes = 0;

  constructor(offset = 0, maxBytes = MAX_LINE_BYTES) {
    this.offset = offset;
    this.#maxBytes = maxBytes;
  }

  /** Bytes of the torn tail so far. */
  get tailBytes(): number {
    return this.#openBytes;
  }

  push(chunk: Uint8Array, sink: LineSink): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const ascii = isAscii(bytes);
    let from = 0;
    for (;;) {
      const at = bytes.indexOf(NEWLINE, from);
      if (at < 0) break;
      const start = this.offset;
      this.offset = start + this.#openBytes + (at - from) + 1;
      if (this.#openBytes === 0) this.#emit(bytes, from, at, ascii, start, sink);
      else this.#emitJoined(bytes, from, at, start, sink);
      from = at + 1;
    }
    if (from < bytes.length) this.#keep(bytes, from);
  }

  #keep(bytes: Buffer, from: number): void {
    const count = bytes.length - from;
    this.#openBytes += count;
    // One byte more than the cap, for the `\r` that does not count.
    if (this.#openBytes > this.#maxBytes + 1) {
      this.#kept = [];
      this.#keptBytes = 0;
      return;
    }
    // A copy: the caller may fill its buffer anew.
    this.#kept.push(Buffer.from(bytes.subarray(from)));
    this.#keptBytes += count;
  }

  #emitJoined(bytes: Buffer, from: number, at: number, start: number, sink: LineSink): void {
    const whole = this.#openBytes === this.#keptBytes;
    const length = this.#openBytes + (at - from);
    const parts = this.#kept;
    this.#kept = [];
    this.#keptBytes = 0;
    this.#openBytes = 0;
    if (!whole || length > this.#maxBytes + 1) {
      sink.bad(`longer than ${this.#maxBytes} bytes`, start, this.offset);
      return;
    }
    parts.push(bytes.subarray(from, at));
    const line = Buffer.concat(parts);
    this.#emit(line, 0, line.length, isAscii(line), start, sink);
  }

  #emit(bytes: Buffer, from: number, at: number, ascii: boolean, start: number, sink: LineSink): void {
    const to = at > from && bytes[at - 1] === RETURN ? at - 1 : at;
    if (to - from > this.#maxBytes) sink.bad(`longer than ${this.#maxBytes} bytes`, start, this.offset);
    else if (ascii) sink.line(bytes.toString('latin1', from, to), start, this.offset);
    else if (isUtf8(bytes.subarray(from, to))) sink.line(bytes.toString('utf8', from, to), start, this.offset);
    else sink.bad('not UTF-8', start, this.offset);
  }
}
