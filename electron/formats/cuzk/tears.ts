/**
 * Lines into items, torn ones mended. The daemon's threads, and C++ beside them, write to one descriptor in pieces:
 *
 *   TIMELINE,333204,GPU_END,CUZK_TIMING: async_dealloc_ms=0
 *   porep-1000-6,worker=0,partition=0,gpu_ms=19484
 *
 * What begins with a mark and is cut off by another waits for its other half, which comes within a few lines and has no mark of its own.
 */
import type { ImportProblem } from '../../contract/transfer.ts';
import { decodePart, isPlain, splitAtMarks, type Item } from './decode.ts';
import { unwrap } from './envelope.ts';
import type { FoundLine } from './scan.ts';

/** Lines within which the other half comes. */
const PATIENCE = 4;
const MAX_WAITING = 8;
const SHOWN_TEXT = 200;

export type Source = FoundLine;

export interface ItemSink {
  item(item: Item, source: Source): void;
  suppressed(count: number, unit: string, source: Source): void;
  /** The program's last words before it gave up. */
  failed(message: string, source: Source): void;
  problem(problem: ImportProblem): void;
}

interface Half {
  text: string;
  source: Source;
  /** What it says as it stands; null if it makes no sense alone. */
  item: Item | null;
  isTorn: boolean;
  age: number;
}

const SUPPRESSED = /^Suppressed (\d{1,12}) messages from (\S+)/;
const LAST_WORDS = /^Error: (gRPC server error|invalid listen address|failed to (?:load|read|parse) config|transport error).*/;

/** The same words for each kind of problem. */
export function problemOf(source: FoundLine, kind: ImportProblem['kind'], problem: string): ImportProblem {
  return { line: source.line, offset: source.offset, bytes: source.bytes, kind, problem, text: source.text.slice(0, SHOWN_TEXT) };
}

export class LineReader {
  readonly #sink: ItemSink;
  #waiting: Half[] = [];

  constructor(sink: ItemSink) {
    this.#sink = sink;
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  take(line: FoundLine): void {
    if (this.#waiting.length === 0 && isPlain(line.text)) {
      const item = decodePart(line.text);
      if (item) return this.#sink.item(item, line);
    }
    this.#takeApart(line);
  }

  end(): void {
    while (this.#waiting.length > 0) this.#giveUp();
  }

  #takeApart(source: Source): void {
    const { text, wallUs } = unwrap(source.text);
    source.wallUs = wallUs;
    const { before, parts } = splitAtMarks(text);
    if (this.#waiting.length > 0) this.#mend(before, parts.length > 0);
    if (parts.length === 0) this.#other(text, source);
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index] as string;
      const item = decodePart(part);
      const isLast = index === parts.length - 1;
      if (item && (isLast || item.is === 'tracing')) this.#sink.item(item, source);
      else this.#wait({ text: part, source, item, isTorn: !isLast || before.trim() !== '', age: 0 });
    }
    for (const half of this.#waiting) half.age += 1;
    while (this.#waiting.length > 0 && ((this.#waiting[0] as Half).age > PATIENCE || this.#waiting.length > MAX_WAITING)) this.#giveUp();
  }

  #wait(half: Half): void {
    this.#waiting.push(half);
  }

  /** `text`: the beginning of a line up to its first mark. An empty line is the end of the oldest that is whole. */
  #mend(text: string, isMarked: boolean): void {
    if (isMarked && text === '') return;
    for (let index = 0; index < this.#waiting.length; index++) {
      const half = this.#waiting[index] as Half;
      const item = text.trim() === '' ? half.item : decodePart(half.text + text);
      if (!item) continue;
      this.#waiting.splice(index, 1);
      this.#sink.item(item, half.source);
      return;
    }
  }

  #giveUp(): void {
    const half = this.#waiting.shift() as Half;
    if (half.item) this.#sink.item(half.item, half.source);
    else if (half.isTorn) this.#sink.problem(problemOf(half.source, 'torn', 'cut by another writer, and its other half was not found'));
    else
      this.#sink.problem(problemOf(half.source, 'unparsed', `not a whole ${half.text.startsWith('TIMELINE') ? 'TIMELINE' : 'CUZK'} line`));
  }

  #other(text: string, source: Source): void {
    const suppressed = SUPPRESSED.exec(text);
    if (suppressed) this.#sink.suppressed(Number(suppressed[1]), suppressed[2] as string, source);
    else if (LAST_WORDS.test(text)) this.#sink.failed(text.slice(0, SHOWN_TEXT), source);
  }
}
