/**
 * Reads a log of the cuzk daemon: bytes cut anywhere in, runs told to an {@link ImportSink} out (FORMAT.md, section 9). One engine start
 * is one run with one process. Owns where a run begins and what it is named after; the rest is told by the files beside.
 *
 *   … starting cuzk engine …      a run, its zero by the wall clock
 *   TIMELINE,12,…                 without that line: a run; its wall clock as soon as two lines about one thing tell it
 *   TIMELINE,9000,… TIMELINE,40,… the engine was started again in between
 */
import { Buffer } from 'node:buffer';
import type { ImportReader, ImportSink } from '../import-sink.ts';
import type { Item, TracingItem } from './decode.ts';
import { fieldOf } from './decode.ts';
import { EngineRun } from './engine-run.ts';
import { CuzkScanner, type FoundLine } from './scan.ts';
import { Settings } from './settings.ts';
import { LineReader, problemOf, type Source } from './tears.ts';
import { fnv128, uuidOf } from './uid.ts';
import { WallClock } from './wall-clock.ts';

/** A TIMELINE stamp that falls back by more than this is another engine's. */
const RESTART_MS = 1_000;
/** Lines that are kept while it is not known where a run's zero lies, and those among which a tracing line must be. */
const MAX_HELD = 512;
const WITHOUT_TRACING = 32;
/** Runs whose names are remembered: a log that holds one twice names the second anew. */
const MAX_NAMES = 10_000;

interface Held {
  item: Item;
  source: Source;
}

/** `options.name`: what is read, for the messages of whoever reads. */
export function createCuzkReader(sink: ImportSink, _options: { name: string }): ImportReader {
  return new CuzkReader(sink);
}

const LOOKS_LIKE = /TIMELINE,\d+,(?:SYNTH_|GPU_|CHAN_)|CUZK_(?:TIMING|NTT_H): |\bcuzk_(?:daemon|core|server)\b|cuzk-daemon/;

/** Whether the first bytes of an input are such a log's. A log may begin with much that is others'; then an operator says what it is. */
export function looksLikeCuzk(firstBytes: Uint8Array): boolean {
  return LOOKS_LIKE.test(Buffer.from(firstBytes.buffer, firstBytes.byteOffset, firstBytes.byteLength).toString('latin1'));
}

class CuzkReader implements ImportReader {
  readonly #sink: ImportSink;
  readonly #scanner: CuzkScanner;
  readonly #lines: LineReader;
  readonly #names = new Map<string, number>();
  #run: EngineRun | null = null;
  /** Since "cuzk-daemon starting": settings come before the engine's own first line. */
  #settings = new Settings();
  #held: Held[] = [];
  /** Its first line and wall clock, µs; null while the log has not said. */
  #start: { words: string; wallUs: number | null } | null = null;
  #lastMs = -1;
  /** Of the lines that are kept: the zero's wall clock where two of them told it, µs; whether any is a tracing line. */
  #anchorUs: number | null = null;
  #hasTracing = false;

  constructor(sink: ImportSink) {
    this.#sink = sink;
    this.#lines = new LineReader({
      item: (item, source) => this.#item(item, source),
      suppressed: (count, unit, source) => this.#suppressed(count, unit, source),
      failed: (message, source) => this.#failed(message, source),
      problem: (problem) => sink.problem(problem),
    });
    const lines = this.#lines;
    this.#scanner = new CuzkScanner({
      found: (line) => lines.take(line),
      bad: (problem, line) => this.#sink.problem(problemOf(line, 'unparsed', problem)),
      get wantsAll() {
        return lines.isWaiting;
      },
    });
  }

  get lines(): number {
    return this.#scanner.lines;
  }

  push(bytes: Uint8Array): void {
    this.#scanner.push(bytes);
    if (!this.#lines.isWaiting) this.#run?.tellHorizon();
  }

  end(): void {
    const tail = this.#scanner.takeTail();
    this.#lines.end();
    if (tail?.isOurs) this.#tail(tail.line);
    this.#close('the log ends', null);
  }

  /** The last line has no end: it may be cut anywhere, even where it still makes sense. */
  #tail(line: FoundLine): void {
    this.#sink.problem(problemOf(line, 'torn', 'the last line has no end, and may be cut short'));
  }

  #item(item: Item, source: Source): void {
    if (item.is === 'tracing') {
      if (item.target === 'cuzk_daemon' && item.message.startsWith('cuzk-daemon starting')) {
        this.#close('the daemon was started again', null);
        this.#settings = new Settings();
      }
      if (item.target === 'cuzk_core::engine' && item.message.startsWith('starting cuzk engine')) return this.#startEngine(item);
    }
    if (item.is === 'timeline' || item.is === 'unknown') {
      if (item.ms < this.#lastMs - RESTART_MS) {
        this.#close('the engine was started again', null);
        this.#settings = new Settings();
      }
      this.#lastMs = Math.max(this.#lastMs, item.ms);
    }
    if (this.#run) this.#run.take(item, source);
    else this.#hold(item, source);
  }

  #startEngine(item: TracingItem): void {
    this.#close('the engine was started again', null);
    this.#settings.take(item);
    const words = `${item.wallUs} ${item.target} ${item.message}`;
    this.#start = { words, wallUs: item.wallUs };
  }

  /** Kept until it is known what the run is: its zero, its devices, its settings. */
  #hold(item: Item, source: Source): void {
    const isSetting = item.is === 'tracing' && this.#settings.take(item);
    if (this.#start === null && (isSetting || (item.is === 'tracing' && !isWork(item)))) return;
    this.#held.push({ item, source });
    if (this.#start !== null) {
      const isUnderWay = item.is !== 'tracing' || (!isSetting && isWork(item));
      if (isUnderWay || this.#settings.isComplete || this.#held.length >= MAX_HELD) this.#open();
      return;
    }
    this.#anchorUs ??= this.#findAnchor();
    this.#hasTracing ||= item.is === 'tracing';
    const isTold = this.#anchorUs !== null && this.#settings.knowsDevices;
    if (isTold || this.#held.length >= MAX_HELD || (!this.#hasTracing && this.#held.length >= WITHOUT_TRACING)) this.#open();
  }

  /** The last two lines are about one thing, by both clocks: "SYNTH_END", "pushing to GPU queue". */
  #findAnchor(): number | null {
    const last = this.#held.at(-1)?.item;
    if (last?.is !== 'tracing' || last.target !== 'cuzk_core::engine') return null;
    const event = last.message.includes('to GPU queue')
      ? 'SYNTH_END'
      : last.message.startsWith('GPU_TIMING hot_path')
        ? 'GPU_PICKUP'
        : null;
    if (event === null) return null;
    const job = fieldOf(last.message, 'job_id') ?? fieldOf(last.span, 'job_id');
    const same = this.#held.slice(-5, -1).findLast(({ item }) => item.is === 'timeline' && item.event === event && item.job === job)?.item;
    return same?.is === 'timeline' ? last.wallUs - same.ms * 1_000 : null;
  }

  /** Tells what was kept. */
  #open(): void {
    const held = this.#held;
    const anchorUs = this.#anchorUs;
    this.#held = [];
    this.#anchorUs = null;
    this.#hasTracing = false;
    const first = held[0];
    const start = this.#start ?? { words: first ? wordsOf(first) : '', wallUs: anchorUs ?? loggersZero(held) ?? stdoutZero(held) };
    const isWhole = this.#start !== null;
    this.#start = null;
    const times = (this.#names.get(start.words) ?? 0) + 1;
    if (this.#names.size < MAX_NAMES) this.#names.set(start.words, times);
    const name = times === 1 ? start.words : `${start.words} (${times})`;
    const clock = new WallClock(start.wallUs);
    this.#run = new EngineRun(this.#sink, {
      uid: fnv128(`cuzk run ${name}`), process: uuidOf(`cuzk process ${name}`), clock, settings: this.#settings,
      fromNs: isWhole ? 0 : firstNs(held, start.wallUs),
    }); // prettier-ignore
    for (const { item, source } of held) this.#run.take(item, source);
  }

  #close(endedBy: string, failure: string | null): void {
    if (!this.#run && (this.#start !== null || this.#held.length > 0)) this.#open();
    this.#run?.end(endedBy, failure);
    this.#run = null;
    this.#lastMs = -1;
  }

  #suppressed(count: number, unit: string, source: Source): void {
    if (!/cuzk|curio/i.test(unit)) return;
    this.#sink.problem(problemOf(source, 'dropped', `the logger left out ${count} lines of ${unit} here`));
    if (!this.#run && this.#held.length > 0) this.#open();
    this.#run?.drop(count);
  }

  #failed(message: string, source: Source): void {
    this.#sink.problem(problemOf(source, 'note', message));
    // A configuration is read before any engine starts: what ran before was another process.
    const isOfNext = /config/.test(message);
    if (this.#run || this.#start !== null) this.#close('the daemon was started again', isOfNext ? null : message);
  }
}

/** Lines of work, from which on nothing more is heard of how the daemon is set up. */
function isWork({ target, message, level }: TracingItem): boolean {
  if (level === 'ERROR' || target === 'cuzk_core::scheduler' || target === 'cuzk_core::srs_manager' || target === 'cuzk_server::service')
    return true;
  return target === 'cuzk_core::engine' && /job_id=|GPU_TIMING|FIN_TIMING|shutting down/.test(message);
}

function wordsOf({ item }: Held): string {
  if (item.is === 'tracing') return `${item.wallUs} ${item.target} ${item.message}`;
  if (item.is === 'timeline') return `TIMELINE ${item.ms} ${item.event} ${item.job} ${item.partition} ${item.kind ?? ''}`;
  return JSON.stringify(item);
}

/** The zero by a logger's own stamps, which are as late as the logger was. */
function loggersZero(held: readonly Held[]): number | null {
  for (const { item, source } of held) if (item.is === 'timeline' && source.wallUs !== null) return source.wallUs - item.ms * 1_000;
  return null;
}

/** Without any TIMELINE line the first line is the zero. */
function stdoutZero(held: readonly Held[]): number | null {
  const hasTimeline = held.some(({ item }) => item.is === 'timeline');
  const first = held[0]?.item;
  return !hasTimeline && first?.is === 'tracing' ? first.wallUs : null;
}

/** Of a log that begins in mid-life: its first instant. */
function firstNs(held: readonly Held[], zeroUs: number | null): number {
  for (const { item } of held) {
    if (item.is === 'timeline' || item.is === 'unknown') return item.ms * 1_000_000;
    if (item.is === 'tracing' && zeroUs !== null) return Math.max(0, item.wallUs - zeroUs) * 1_000;
  }
  return 0;
}
