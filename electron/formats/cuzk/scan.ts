/**
 * Bytes into the lines that may matter: those with a mark of the daemon's in them. Owns framing, line numbers and byte offsets; all other
 * lines are counted and never decoded. Chunks may be cut anywhere.
 *
 * Marks are looked for over a whole chunk, one cursor a mark; between them only line ends are counted. The chunk is looked at as Latin-1
 * text, where a byte is a character: searching text costs no call out of the engine. Lines that are handed on are texts of their own, so
 * that none of them keeps its chunk in memory.
 */
import { Buffer, isAscii, isUtf8 } from 'node:buffer';

/** Longest line that is looked at, in bytes. */
export const MAX_LINE_BYTES = 2 ** 20;
const HEAD_BYTES = 200;
const BLOCK_BYTES = 64 * 1024;

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Targets of tracing lines begin so. */
const LOWER = 'cuzk_';
const MARKS = ['TIMELINE,', 'CUZK_', 'Suppressed ', 'Error: '];
/** `2026-11-30T14:23:30.136570` before its Z, and the level after it, padded. */
const STAMP_CHARS = 26;
const TARGET_AT = 34;
const Z = 0x5a;
const T = 0x54;
const C = 0x43;
/** Marks of lines of ours: a line with one that cannot be read is a problem, and not somebody else's. */
const OWN_MARKS = 2;
const LONGEST_MARK = 16;
const NOT_ASCII = /[\x80-\xff]/;

/** Node's own, behind `toString('latin1')`; its types lack it. */
type Latin1Bytes = Buffer & { latin1Slice(from: number, to: number): string };

export interface FoundLine {
  /** 1-based. */
  line: number;
  /** Its first byte in the input. */
  offset: number;
  /** With its end. */
  bytes: number;
  /** Without its end; of a line that is no text, its beginning in Latin-1. */
  text: string;
  /** The logger's own stamp, µs since 1970; null where there is none, or until it is looked at. */
  wallUs: number | null;
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
  /** Of the chunk that is looked at: where each mark comes next, and where a target does. */
  readonly #next: number[] = MARKS.map(() => -1);
  #lower = -1;
  /** No line of it needs a second look at its characters. */
  #isAscii = false;
  /** Bytes before the unfinished line. */
  #offset = 0;
  #kept: Buffer[] = [];
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
    while (from <= last) {
      const to = endOfBlock(bytes, from, last + 1);
      this.#region(bytes, from, to);
      from = to;
    }
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
    return { line: { line: this.lines + 1, offset: this.#offset, bytes, text, wallUs: null }, isOurs };
  }

  #keep(part: Buffer): void {
    this.#openBytes += part.length;
    if (this.#openBytes <= MAX_LINE_BYTES) {
      // A copy: the caller may fill its buffer anew.
      this.#kept.push(Buffer.from(part));
      return;
    }
    this.#tooLong(part);
  }

  /** The line is longer than any that is looked at: only its beginning is kept, and whether a mark of ours is in it. */
  #tooLong(part: Buffer): void {
    if (this.#kept.length > 0) {
      const before = Buffer.concat(this.#kept);
      this.#kept = [];
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
      if (this.#isOurs)
        this.#sink.bad(`longer than ${MAX_LINE_BYTES} bytes`, {
          line: this.lines,
          offset: this.#offset,
          bytes,
          text: this.#head,
          wallUs: null,
        });
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
    const text = (bytes as Latin1Bytes).latin1Slice(from, to);
    this.#isAscii = isAscii(bytes.subarray(from, to));
    const next = this.#next;
    let nearest = seekAll(next, text, 0);
    this.#lower = -1;
    for (let start = 0; start < text.length;) {
      const end = text.indexOf('\n', start);
      this.lines += 1;
      const offset = this.#offset + start;
      if (end - start > MAX_LINE_BYTES) this.#longLine(bytes, from + start, from + end, offset);
      else if (startsWithMark(text, start)) this.#tell(bytes, from + start, from + end, offset);
      else {
        if (nearest < start) nearest = seekAll(next, text, start);
        const isWanted = nearest < end || this.#isOfDaemon(text, start, end) || this.#sink.wantsAll;
        if (isWanted) this.#tell(bytes, from + start, from + end, offset);
      }
      start = end + 1;
    }
    this.#offset += to - from;
  }

  /** A tracing line of one of the daemon's targets that matter. */
  #isOfDaemon(text: string, start: number, end: number): boolean {
    // Most have their target right after stamp and level: no need to look for it.
    if (text.charCodeAt(start + STAMP_CHARS) === Z && text.startsWith(LOWER, start + TARGET_AT))
      return !isIdleTarget(text, start + TARGET_AT);
    if (this.#lower < start) this.#lower = seek(text, LOWER, start);
    for (let at = this.#lower; at < end; at = seek(text, LOWER, at + LOWER.length)) if (!isIdleTarget(text, at)) return true;
    return false;
  }

  #longLine(bytes: Buffer, start: number, end: number, offset: number): void {
    const whole = bytes.subarray(start, end);
    if (!hasOwnMark(whole)) return;
    const text = whole.toString('latin1', 0, HEAD_BYTES);
    this.#sink.bad(`longer than ${MAX_LINE_BYTES} bytes`, { line: this.lines, offset, bytes: end + 1 - start, text, wallUs: null });
  }

  #tell(bytes: Buffer, start: number, end: number, offset: number): void {
    const stop = end > start && bytes[end - 1] === RETURN ? end - 1 : end;
    const found = { line: this.lines, offset, bytes: end + 1 - start, text: (bytes as Latin1Bytes).latin1Slice(start, stop), wallUs: null };
    if (!this.#isAscii && NOT_ASCII.test(found.text)) {
      const part = bytes.subarray(start, stop);
      if (!isUtf8(part)) {
        found.text = found.text.slice(0, HEAD_BYTES);
        if (hasOwnMark(part)) this.#sink.bad('not UTF-8', found);
        return;
      }
      found.text = part.toString('utf8');
    }
    this.#sink.found(found);
  }
}

/** Whole lines of about a block: what is searched several times stays near the processor. `end` is one past a line end. */
function endOfBlock(bytes: Buffer, from: number, end: number): number {
  if (end - from <= BLOCK_BYTES) return end;
  const last = bytes.lastIndexOf(NEWLINE, from + BLOCK_BYTES - 1);
  return (last >= from ? last : bytes.indexOf(NEWLINE, from + BLOCK_BYTES)) + 1;
}

function hasOwnMark(bytes: Buffer): boolean {
  for (let mark = 0; mark < OWN_MARKS; mark++) if (bytes.includes(MARKS[mark] as string, 0, 'latin1')) return true;
  return false;
}

function decode(bytes: Buffer, start: number, end: number): string {
  return isUtf8(bytes) ? bytes.toString('utf8', start, end) : bytes.toString('latin1', start, end);
}

/** First place at or after `from`; Infinity where there is none. */
function seek(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? Infinity : at;
}

/** Of most lines of ours no search is needed; the cursors are moved on when another line asks. */
function startsWithMark(text: string, start: number): boolean {
  const first = text.charCodeAt(start);
  return (first === T && text.startsWith('TIMELINE,', start)) || (first === C && text.startsWith('CUZK_', start));
}

/** Moves on the cursors that are before `from`; answers the nearest. */
function seekAll(next: number[], text: string, from: number): number {
  let nearest = Infinity;
  for (let mark = 0; mark < MARKS.length; mark++) {
    let at = next[mark] as number;
    if (at < from || from === 0) {
      at = seek(text, MARKS[mark] as string, from);
      next[mark] = at;
    }
    if (at < nearest) nearest = at;
  }
  return nearest;
}

const P = 0x70;

/** `cuzk_pce…` and `cuzk_core::p…` (pipeline, prover, pinned pool): tracing targets that say nothing that is not said elsewhere. */
function isIdleTarget(text: string, at: number): boolean {
  if (text.charCodeAt(at + LOWER.length) === P) return text.startsWith('pce', at + LOWER.length);
  return text.charCodeAt(at + 11) === P && text.startsWith('::', at + 9);
}
