/**
 * Bytes into the lines that may matter: those with a mark of the daemon's in them. Owns framing, line numbers and byte offsets; all other
 * lines are counted and never decoded. Chunks may be cut anywhere.
 *
 * Marks are looked for with Buffer.indexOf over a whole chunk, one cursor a mark; between them only line ends are counted.
 */
import { Buffer, isAscii, isUtf8 } from 'node:buffer';

/** Longest line that is looked at, in bytes. */
export const MAX_LINE_BYTES = 2 ** 20;
const HEAD_BYTES = 200;

const NEWLINE = 0x0a;
const RETURN = 0x0d;

const LOWER = Buffer.from('cuzk_');
const MARKS = [Buffer.from('TIMELINE,'), Buffer.from('CUZK_'), Buffer.from('Suppressed '), Buffer.from('Error: '), LOWER];
const LOWER_INDEX = MARKS.length - 1;
/** Marks of lines of ours: a line with one that cannot be read is a problem, and not somebody else's. */
const OWN_MARKS = 2;
const LONGEST_MARK = 16;

export interface FoundLine {
  /** 1-based. */
  line: number;
  /** Its first byte in the input. */
  offset: number;
  /** With its end. */
  bytes: number;
  /** Without its end; of a line that is no text, its beginning in Latin-1. */
  text: string;
}

export interface ScanSink {
  found(line: FoundLine): void;
  /** One of ours that is no text: too long, or not UTF-8. */
  bad(problem: string, line: FoundLine): void;
  /** All lines are wanted just now, marked or not: a torn one waits for its other half. */
  readonly wantsAll: boolean;
}

export class CuzkScanner {
  /** Lines that ended so far. */
  lines = 0;
  readonly #sink: ScanSink;
  readonly #next: number[] = MARKS.map(() => -1);
  /** Bytes before the unfinished line. */
  #offset = 0;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  /** Of the unfinished line; more than is kept once it is too long. */
  #openBytes = 0;
  /** Of a line that is too long: its beginning, its last bytes, and whether it is ours. */
  #head = '';
  #carry: Buffer = Buffer.alloc(0);
  #isOurs = false;

  constructor(sink: ScanSink) {
    this.#sink = sink;
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const last = bytes.lastIndexOf(NEWLINE);
    if (last < 0) {
      this.#keep(bytes);
      return;
    }
    let from = 0;
    if (this.#openBytes > 0) {
      from = bytes.indexOf(NEWLINE) + 1;
      this.#endOpen(bytes.subarray(0, from));
    }
    if (from <= last) this.#region(bytes, from, last + 1);
    if (last + 1 < bytes.length) this.#keep(bytes.subarray(last + 1));
  }

  /** The bytes after the last line end, as a line without one; null if there are none. */
  takeTail(): { line: FoundLine; isOurs: boolean } | null {
    if (this.#openBytes === 0) return null;
    const bytes = this.#openBytes;
    const isLong = bytes > MAX_LINE_BYTES;
    const line = isLong ? null : Buffer.concat(this.#kept);
    const isOurs = line ? hasOwnMark(line) : this.#isOurs;
    const text = line ? decode(line, 0, line.length) : this.#head;
    this.#forget();
    return { line: { line: this.lines + 1, offset: this.#offset, bytes, text }, isOurs };
  }

  #keep(part: Buffer): void {
    this.#openBytes += part.length;
    if (this.#openBytes <= MAX_LINE_BYTES) {
      // A copy: the caller may fill its buffer anew.
      this.#kept.push(Buffer.from(part));
      this.#keptBytes += part.length;
      return;
    }
    this.#tooLong(part);
  }

  /** The line is longer than any that is looked at: only its beginning is kept, and whether a mark of ours is in it. */
  #tooLong(part: Buffer): void {
    if (this.#kept.length > 0) {
      const before = Buffer.concat(this.#kept);
      this.#kept = [];
      this.#keptBytes = 0;
      this.#head = before.toString('latin1', 0, HEAD_BYTES);
      this.#isOurs = hasOwnMark(before);
      this.#carry = Buffer.from(before.subarray(-LONGEST_MARK));
    }
    if (this.#head.length < HEAD_BYTES) this.#head += part.toString('latin1', 0, HEAD_BYTES - this.#head.length);
    const joined = Buffer.concat([this.#carry, part]);
    this.#isOurs ||= hasOwnMark(joined);
    this.#carry = Buffer.from(joined.subarray(-LONGEST_MARK));
  }

  #forget(): void {
    this.#kept = [];
    this.#keptBytes = 0;
    this.#openBytes = 0;
    this.#head = '';
    this.#carry = Buffer.alloc(0);
    this.#isOurs = false;
  }

  /** `rest` ends the unfinished line; it includes the line end. */
  #endOpen(rest: Buffer): void {
    const bytes = this.#openBytes + rest.length;
    if (bytes - 1 > MAX_LINE_BYTES) {
      this.#tooLong(rest);
      this.lines += 1;
      if (this.#isOurs) this.#sink.bad(`longer than ${MAX_LINE_BYTES} bytes`, { line: this.lines, offset: this.#offset, bytes, text: this.#head });
      this.#offset += bytes;
      this.#forget();
      return;
    }
    const line = Buffer.concat([...this.#kept, rest]);
    this.#forget();
    this.#region(line, 0, line.length);
  }

  /** Whole lines: `to` is one past a line end. */
  #region(bytes: Buffer, from: number, to: number): void {
    const next = this.#next;
    for (let mark = 0; mark < MARKS.length; mark++) next[mark] = this.#seek(bytes, mark, from, to);
    const base = this.#offset - from;
    let start = from;
    while (start < to) {
      let end = start;
      while (bytes[end] !== NEWLINE) end++;
      this.lines += 1;
      if (end - start > MAX_LINE_BYTES) this.#longLine(bytes, start, end, base + start);
      else if (this.#isMarked(bytes, end, to) || this.#sink.wantsAll) this.#tell(bytes, start, end, base + start);
      for (let mark = 0; mark < MARKS.length; mark++) if ((next[mark] as number) <= end) next[mark] = this.#seek(bytes, mark, end + 1, to);
      start = end + 1;
    }
    this.#offset += to - from;
  }

  #isMarked(bytes: Buffer, end: number, to: number): boolean {
    const next = this.#next;
    for (let mark = 0; mark < LOWER_INDEX; mark++) if ((next[mark] as number) < end) return true;
    for (let at = next[LOWER_INDEX] as number; at < end; at = this.#seek(bytes, LOWER_INDEX, at + LOWER.length, to)) {
      if (!isIdleTarget(bytes, at)) return true;
    }
    return false;
  }

  #seek(bytes: Buffer, mark: number, from: number, to: number): number {
    if (from >= to) return Infinity;
    const at = bytes.indexOf(MARKS[mark] as Buffer, from);
    return at < 0 || at >= to ? Infinity : at;
  }

  #longLine(bytes: Buffer, start: number, end: number, offset: number): void {
    const whole = bytes.subarray(start, end);
    if (!hasOwnMark(whole)) return;
    const text = whole.toString('latin1', 0, HEAD_BYTES);
    this.#sink.bad(`longer than ${MAX_LINE_BYTES} bytes`, { line: this.lines, offset, bytes: end + 1 - start, text });
  }

  #tell(bytes: Buffer, start: number, end: number, offset: number): void {
    const stop = end > start && bytes[end - 1] === RETURN ? end - 1 : end;
    const found = { line: this.lines, offset, bytes: end + 1 - start };
    const part = bytes.subarray(start, stop);
    if (isAscii(part)) this.#sink.found({ ...found, text: bytes.toString("latin1", start, stop) });
    else if (isUtf8(part)) this.#sink.found({ ...found, text: bytes.toString("utf8", start, stop) });
    else if (hasOwnMark(part)) this.#sink.bad('not UTF-8', { ...found, text: part.toString('latin1', 0, HEAD_BYTES) });
  }
}

function hasOwnMark(bytes: Buffer): boolean {
  for (let mark = 0; mark < OWN_MARKS; mark++) if (bytes.includes(MARKS[mark] as Buffer)) return true;
  return false;
}

function decode(bytes: Buffer, start: number, end: number): string {
  return isUtf8(bytes) ? bytes.toString('utf8', start, end) : bytes.toString('latin1', start, end);
}

const P = 0x70;
const COLON = 0x3a;
const PCE = Buffer.from('pce');

/** `cuzk_pce…` and `cuzk_core::p…` (pipeline, prover, pinned pool): tracing targets that say nothing that is not said elsewhere. */
function isIdleTarget(bytes: Buffer, at: number): boolean {
  if (bytes[at + 5] === PCE[0] && bytes[at + 6] === PCE[1] && bytes[at + 7] === PCE[2]) return true;
  return bytes[at + 9] === COLON && bytes[at + 10] === COLON && bytes[at + 11] === P;
}
