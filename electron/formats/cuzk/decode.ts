/**
 * One line's text into what it says: TIMELINE lines, CUZK_TIMING and CUZK_NTT_H lines, tracing lines. Strict: what is cut short is no
 * line. Owns the daemon's grammar; which line belongs to what is engine-run.ts's.
 */
import { readStamp } from './envelope.ts';

export const TIMELINE_EVENTS = ['SYNTH_START', 'SYNTH_END', 'GPU_QUEUE', 'GPU_PICKUP', 'GPU_START', 'GPU_END', 'CHAN_SEND'] as const;
export type TimelineEventName = (typeof TIMELINE_EVENTS)[number];

export interface TimelineItem {
  is: 'timeline';
  /** Since the engine's start, rounded down. */
  ms: number;
  event: TimelineEventName;
  job: string;
  /** 0 where the line names none: a proof of one circuit. */
  partition: number;
  /** False where the line names no partition. */
  isPartitioned: boolean;
  worker: number | null;
  kind: string | null;
  synthMs: number | null;
  gpuMs: number | null;
}
export interface UnknownItem {
  is: 'unknown';
  ms: number;
  event: string;
}
/** What a C++ line says, ms, by its own words. */
export interface TimingValues {
  pre_lock_cpu_ms?: number;
  mutex_wait_ms?: number;
  mutex_held_ms?: number;
  total_start_fn_ms?: number;
  ntt_msm_h_ms?: number;
  barrier_wait_ms?: number;
  batch_add_ms?: number;
  tail_msm_ms?: number;
  gpu_total_ms?: number;
  prep_msm_ms?: number;
  b_g2_msm_ms?: number;
}
export interface TimingItem {
  is: 'timing';
  values: TimingValues;
}
export interface TracingItem {
  is: 'tracing';
  /** µs since 1970 by the daemon's wall clock. */
  wallUs: number;
  level: string;
  /** Empty where it is not the daemon's. */
  target: string;
  /** The spans around it, with their fields. */
  span: string;
  message: string;
}
export type Item = TimelineItem | UnknownItem | TimingItem | TracingItem;

/** Where a line's parts begin: several where writers tore each other's lines. */
const MARK = /TIMELINE,|CUZK_(?:TIMING|NTT_H):|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z\s+(?:INFO|WARN|ERROR|DEBUG|TRACE)\s/g;
/** Longest id of a job. */
const MAX_JOB_CHARS = 1024;
/** The last partition, worker and duration that are believed. */
const MAX_PARTITION = 65_535;
const MAX_MS = 9_007_199_254;

/** A line of the daemon's without anything around it or in it: most are, and these are told from others at once. */
export function isPlain(text: string): boolean {
  if (text.indexOf('TIMELINE,', 1) >= 0 || text.indexOf('CUZK_', 1) >= 0) return false;
  const first = text.charCodeAt(0);
  if (first === T || first === C) return text.indexOf('Z ', 20) < 0 && text.indexOf('\0') < 0;
  // 2026-11-30T14:23:30.136570Z  INFO …: the level is padded to five.
  return first === TWO && LEVELS.has(text.slice(26, 34)) && text.indexOf('\0') < 0;
}

const T = 0x54;
const C = 0x43;
const TWO = 0x32;
const LEVELS = new Set(['Z  INFO ', 'Z  WARN ', 'Z ERROR ', 'Z DEBUG ', 'Z TRACE ']);

/** `text` cut at its marks: what is before the first, and a part from each mark to the next. */
export function splitAtMarks(text: string): { before: string; parts: string[] } {
  const starts: number[] = [];
  MARK.lastIndex = 0;
  for (let found = MARK.exec(text); found; found = MARK.exec(text)) starts.push(found.index);
  return { before: text.slice(0, starts[0] ?? text.length), parts: starts.map((start, index) => text.slice(start, starts[index + 1])) };
}

/** Null: it is cut short, or makes no sense. */
export function decodePart(text: string): Item | null {
  if (text.startsWith('TIMELINE,')) return decodeTimeline(text);
  if (text.startsWith('CUZK_')) return decodeTiming(text);
  return decodeTracing(text);
}

const HEAD = /^TIMELINE,(\d{1,13}),([A-Z][A-Z0-9_]*),/;
const KEYS = new Set(['partition', 'worker', 'kind', 'synth_ms', 'gpu_ms']);
const NAMES: ReadonlySet<string> = new Set(TIMELINE_EVENTS);

function decodeTimeline(text: string): TimelineItem | UnknownItem | null {
  const head = HEAD.exec(text);
  if (!head) return null;
  const ms = Number(head[1]);
  const event = head[2] as TimelineEventName;
  if (ms > MAX_MS) return null;
  if (!NAMES.has(event)) return { is: 'unknown', ms, event };
  const pieces = text.slice(head[0].length).split(',');
  let start = pieces.length;
  while (start > 1 && isPair(pieces[start - 1] as string)) start--;
  // An id may hold commas and equal signs: the detail begins with a key of the daemon's.
  while (start < pieces.length && !isKnown(pieces[start] as string)) start++;
  const job = pieces.slice(0, start).join(',');
  if (job === '' || job.length > MAX_JOB_CHARS) return null;
  const item: TimelineItem = {
    is: 'timeline',
    ms,
    event,
    job,
    partition: 0,
    isPartitioned: false,
    worker: null,
    kind: null,
    synthMs: null,
    gpuMs: null,
  };
  for (; start < pieces.length; start++) if (!takeDetail(item, pieces[start] as string)) return null;
  return isComplete(item, pieces) ? item : null;
}

function isPair(piece: string): boolean {
  return isKnown(piece) || /^[a-z_]+=/.test(piece);
}

function isKnown(piece: string): boolean {
  return piece === 'monolithic' || KEYS.has(piece.slice(0, Math.max(piece.indexOf('='), 0)));
}

function takeDetail(item: TimelineItem, piece: string): boolean {
  const at = piece.indexOf('=');
  const key = piece.slice(0, at);
  const value = piece.slice(at + 1);
  if (key === 'kind') {
    item.kind = value;
    return /^[\w-]{1,64}$/.test(value);
  }
  if (!KEYS.has(key)) return true;
  if (!/^\d{1,12}$/.test(value)) return false;
  const number = Number(value);
  if (key === 'partition') {
    item.partition = number;
    item.isPartitioned = true;
    return number <= MAX_PARTITION;
  }
  if (key === 'worker') item.worker = number;
  else if (key === 'synth_ms') item.synthMs = number;
  else item.gpuMs = number;
  return key === 'worker' ? number <= MAX_PARTITION : number <= MAX_MS;
}

function isComplete(item: TimelineItem, pieces: string[]): boolean {
  switch (item.event) {
    case 'SYNTH_START':
      return item.isPartitioned || item.kind !== null;
    case 'SYNTH_END':
      return item.synthMs !== null;
    case 'GPU_QUEUE':
    case 'CHAN_SEND':
      return item.isPartitioned || pieces.at(-1) === 'monolithic';
    case 'GPU_PICKUP':
    case 'GPU_START':
      return item.worker !== null;
    case 'GPU_END':
      return item.worker !== null && item.gpuMs !== null;
  }
}

/** The lines that say something about a lock or a stage; each key is one of the daemon's. */
const RELEASE = /^CUZK_TIMING: mutex_held_ms=(\d{1,10}) total_start_fn_ms=(\d{1,10})(?: [a-z0-9_]+=\d{1,10})*$/;
const GRANT = /^CUZK_TIMING: pre_lock_cpu_ms=(\d{1,10}) mutex_wait_ms=(\d{1,10})(?: [a-z0-9_]+=\d{1,10})*$/;
const STAGE_LINE =
  /^CUZK_TIMING: (?:gpu_tid=\d{1,4} )?(?:(ntt_msm_h_ms|barrier_wait_ms|batch_add_ms|tail_msm_ms|prep_msm_ms|b_g2_msm_ms)=(\d{1,10}))(?: gpu_total_ms=(\d{1,10})| num_circuits=\d{1,4})?$/;
/** Those that say nothing more: other durations, and what was set up. */
const PAIRS = /^CUZK_TIMING: (?!gpu_tid=\d+$)(?:[a-z][a-z0-9_]*=\d{1,10}(?:ms)?(?: |$))+$/;
const NTT = /^CUZK_NTT_H: (?:[a-z][a-z0-9_]*=\d{1,10}ms )+total=\d{1,10}ms$/;
const WORDS = /^CUZK_TIMING: (?:set pool release threshold to \S+ on gpu \d+|d_[a-z]_cache allocated \d+ MiB on gpu \d+)$/;
/** Keys that come in twos: a line with one alone is cut short. */
const CUT = /\b(?:mutex_held|total_start_fn|pre_lock_cpu|mutex_wait|tail_msm|gpu_total)_ms=/;
/** Of a line that says nothing about a lock or a stage. */
export const NO_VALUES: TimingValues = {};
const NOTHING: TimingItem = { is: 'timing', values: NO_VALUES };

function decodeTiming(text: string): TimingItem | null {
  if (text.startsWith('CUZK_N')) return NTT.test(text) ? NOTHING : null;
  const stage = STAGE_LINE.exec(text);
  if (stage) {
    const key = stage[1] as keyof TimingValues;
    if ((key === 'tail_msm_ms') !== (stage[3] !== undefined)) return null;
    const values: TimingValues = { [key]: Number(stage[2]) };
    if (stage[3] !== undefined) values.gpu_total_ms = Number(stage[3]);
    return { is: 'timing', values };
  }
  const grant = GRANT.exec(text);
  if (grant) return { is: 'timing', values: { pre_lock_cpu_ms: Number(grant[1]), mutex_wait_ms: Number(grant[2]) } };
  const release = RELEASE.exec(text);
  if (release) return { is: 'timing', values: { mutex_held_ms: Number(release[1]), total_start_fn_ms: Number(release[2]) } };
  return WORDS.test(text) || (PAIRS.test(text) && !CUT.test(text)) ? NOTHING : null;
}

const TRACING = /^(\S+Z)\s+([A-Z]+)\s+/;

function decodeTracing(text: string): TracingItem | null {
  const isPadded = LEVELS.has(text.slice(26, 34));
  const head = isPadded ? null : TRACING.exec(text);
  if (!isPadded && !head) return null;
  const wallUs = readStamp(isPadded ? text.slice(0, 27) : (head?.[1] as string));
  if (wallUs === null || !Number.isSafeInteger(wallUs)) return null;
  const rest = text.slice(isPadded ? 34 : (head?.[0].length as number));
  const level = isPadded ? text.slice(28, 33).trimStart() : (head?.[2] as string);
  const at = rest.startsWith('cuzk_') ? 0 : rest.indexOf(': cuzk_') + 2;
  const end = rest.indexOf(': ', at);
  if (at === 1 || end < 0) return { is: 'tracing', wallUs, level, target: '', span: '', message: '' };
  return { is: 'tracing', wallUs, level, target: rest.slice(at, end), span: rest.slice(0, at), message: rest.slice(end + 2) };
}

const FIELD = /(?:^|[ {])([a-z_]+)=/g;

/** The value of a field of a tracing line, or of a span; null if it has none. An id may hold spaces: a value ends where the next begins. */
export function fieldOf(text: string, name: string): string | null {
  FIELD.lastIndex = 0;
  for (let found = FIELD.exec(text); found; found = FIELD.exec(text)) {
    if (found[1] !== name) continue;
    const start = FIELD.lastIndex;
    if (text[start] === '"') {
      const quote = text.indexOf('"', start + 1);
      return text.slice(start + 1, quote < 0 ? undefined : quote);
    }
    const following = FIELD.exec(text);
    const value = text.slice(start, following?.index);
    const brace = text.lastIndexOf('}: ');
    return (!following && brace >= start ? text.slice(start, brace) : value).trimEnd();
  }
  return null;
}

/** A whole number in a field; `Some(3)` counts as 3. */
export function numberOf(text: string, name: string): number | null {
  const value = fieldOf(text, name);
  const found = value === null ? null : /^(?:Some\()?(\d{1,12})\)?$/.exec(value);
  return found ? Number(found[1]) : null;
}
