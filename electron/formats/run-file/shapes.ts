/** The lines of a run file that are no events, field by field in the order in which they are written (FORMAT.md, section 10). */
import * as v from 'valibot';
import { BACKENDS } from '../../contract/scheduler.ts';
import type { EventOf, StateLine } from '../../contract/timeline-events.ts';
import type { AttemptFacts, ImportedLoss, ImportedProcess, ImportedProcessEnd, ImportedRun } from '../import-sink.ts';
import type { RunState } from '../../contract/run-report.ts';

export const RUN_FILE_VERSION = 1;

/** The run as the first line has it. */
export interface RunFileHead extends Omit<ImportedRun, 'originRun'> {
  run: string;
  state: RunState;
  endedBy: string | null;
}
export type RunFileProcess = ImportedProcess & ImportedProcessEnd;
export type RunFileLoss = ImportedLoss;
export type RunFileAttempt = AttemptFacts;
export interface RunFileProblem {
  offset: number;
  bytes: number;
  kind: string;
  problem: string;
}

const id = v.pipe(v.string(), v.regex(/^[A-Za-z0-9._-]{1,64}$/, 'is no id'));
const uint = v.pipe(v.number(), v.safeInteger('is not an integer below 2^53'), v.minValue(0, 'is negative'));
const int = v.pipe(v.number(), v.safeInteger('is not an integer below 2^53'));
const decimal = v.pipe(v.string(), v.regex(/^(0|-?[1-9]\d{0,39})$/, 'is no decimal integer'));
const text = v.pipe(v.string(), v.maxLength(16_384, 'is too long'));
const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'is no SHA-256'));
// A path would let one machine's file point into another's folders.
const fileName = v.pipe(v.string(), v.maxLength(255, 'is too long'), v.regex(/^(?!\.{1,2}$)[^/\\\0]+$/, 'is no file name'));

export const HeadSchema = v.strictObject({
  interlock_run: uint,
  run: id,
  uid: id,
  state: v.picklist(['running', 'finished', 'failed', 'interrupted']),
  ended_by: v.nullable(text),
  engine: id,
  backend: v.picklist(BACKENDS),
  emulate: v.nullable(text),
  scheduler: v.nullable(v.record(v.string(), v.unknown())),
  found: v.record(v.pipe(v.string(), v.maxLength(256)), text),
  started_wall_ns: decimal,
});
export const ProcessSchema = v.strictObject({
  process: id,
  pid: uint,
  start_ticks: decimal,
  seq_from: uint,
  seq_to: v.nullable(uint),
  started_seq: uint,
  started_t: uint,
  ended_t: v.nullable(uint),
  reason: v.nullable(text),
  ended: v.nullable(text),
  exit: v.nullable(int),
  signal: v.nullable(text),
  horizon: v.nullable(uint),
  peak_rss_bytes: v.nullable(uint),
  unparsed: uint,
});
export const LossSchema = v.strictObject({
  loss: v.picklist(['ring', 'hole']),
  seq_from: uint,
  seq_to: uint,
  ring: v.nullable(text),
  count: uint,
  filled: uint,
  t_from: uint,
  t_to: uint,
  healed_t: v.nullable(uint),
  state: v.nullable(v.record(v.string(), v.unknown())),
});
export const ProblemSchema = v.strictObject({ problem: text, offset: uint, bytes: uint, kind: text });
export const HoldSchema = v.strictObject({ hold_from_ns: int, hold_to_ns: v.nullable(int) });
export const AttemptSchema = v.strictObject({
  attempt_of: id,
  attempt: uint,
  outcome: v.nullable(text),
  sha256: v.nullable(sha256),
  file: v.nullable(fileName),
  code: v.nullable(text),
  message: v.nullable(text),
});
export const EndSchema = v.strictObject({ end: v.literal(true), events: uint, lines: uint, sha256 });

export type HeadLine = v.InferOutput<typeof HeadSchema>;
export type ProcessLine = v.InferOutput<typeof ProcessSchema>;
export type LossLine = v.InferOutput<typeof LossSchema>;
export type EndLine = v.InferOutput<typeof EndSchema>;

export function headLine(head: RunFileHead): HeadLine {
  return {
    interlock_run: RUN_FILE_VERSION,
    run: head.run,
    uid: head.uid,
    state: head.state,
    ended_by: head.endedBy,
    engine: head.engine,
    backend: head.backend,
    emulate: head.emulate,
    scheduler: head.scheduler as HeadLine['scheduler'],
    found: head.found,
    started_wall_ns: head.startedWallNs,
  };
}

export function processLine(process: RunFileProcess): ProcessLine {
  const { hello } = process;
  return {
    process: hello.process,
    pid: hello.pid,
    start_ticks: hello.start_ticks,
    seq_from: process.seqFrom,
    seq_to: process.seqTo,
    started_seq: process.startedSeq,
    started_t: process.startedT,
    ended_t: process.endedT,
    reason: process.reason,
    ended: process.ended,
    exit: process.exit,
    signal: process.signal,
    horizon: process.horizon,
    peak_rss_bytes: process.peakRssBytes,
    unparsed: process.unparsed,
  };
}

export function processOf(line: ProcessLine, hello: EventOf<'hello'>): ImportedProcess {
  return { hello, seqFrom: line.seq_from, startedSeq: line.started_seq, startedT: line.started_t };
}

export function processEndOf(line: ProcessLine): ImportedProcessEnd {
  return {
    seqTo: line.seq_to,
    endedT: line.ended_t,
    reason: line.reason,
    ended: line.ended,
    exit: line.exit,
    signal: line.signal,
    horizon: line.horizon,
    peakRssBytes: line.peak_rss_bytes,
    unparsed: line.unparsed,
  };
}

export function lossOf(line: LossLine, state: StateLine | null): ImportedLoss {
  return {
    kind: line.loss,
    seqFrom: line.seq_from,
    seqTo: line.seq_to,
    ring: line.ring,
    count: line.count,
    filled: line.filled,
    tFrom: line.t_from,
    tTo: line.t_to,
    healedT: line.healed_t,
    state,
  };
}
