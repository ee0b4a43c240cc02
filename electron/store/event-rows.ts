/**
 * How an event lies in its row: a few small integers, so that a row is about 30 bytes.
 *
 *   subject    id of (proof, attempt)          a   stream | bytes
 *   device     word                            b   word: kernel | waited_for | wait | outcome
 *   worker     worker | synthesiser            detail   JSON of all other fields, null where there are none
 *
 * The layout follows from the contract's table and is part of the stored data: test/store/event-rows.test.ts holds it as a literal; a
 * change there needs a migration.
 */
import { EVENTS, type EventName, type FieldKind, type TimelineEvent } from '../contract/timeline-events.ts';

export interface Layout {
  subject: boolean;
  partition: boolean;
  device: boolean;
  worker: 'worker' | 'synthesiser' | null;
  a: 'stream' | 'bytes' | null;
  b: 'kernel' | 'waited_for' | 'wait' | 'outcome' | null;
  detail: string[];
}

/** Column order of the event table. `e`, `device` and `b` are words, `subject` the id of an attempt. */
export type EventRow = [
  seq: number, t: number, e: number, subject: number | null, partition: number | null, device: number | null,
  worker: number | null, a: number | null, b: number | null, detail: string | null,
]; // prettier-ignore

const A = ['stream', 'bytes'] as const;
const B = ['kernel', 'waited_for', 'wait', 'outcome'] as const;

function layOut(fields: Record<string, FieldKind>): Layout {
  const left = new Set(Object.keys(fields));
  const take = (name: string) => left.delete(name);
  const subject = left.has('proof') && left.has('attempt') && take('proof') && take('attempt');
  const worker = take('worker') ? 'worker' : take('synthesiser') ? 'synthesiser' : null;
  return {
    subject,
    partition: take('partition'),
    device: take('device'),
    worker,
    a: A.find((name) => subject && take(name)) ?? null,
    b: B.find((name) => take(name)) ?? null,
    detail: [...left],
  };
}

export const LAYOUTS = Object.fromEntries(Object.entries(EVENTS).map(([name, fields]) => [name, layOut(fields)])) as Record<
  EventName,
  Layout
>;

/** Ids of words and attempts; a writer makes missing ones, a reader only knows them. */
export interface Dictionary {
  wordId(word: string): number;
  attemptId(proof: string, attempt: number): number;
}
export interface ReverseDictionary {
  word(id: number): string;
  attempt(id: number): { proof: string; attempt: number };
}

type Loose = Record<string, string | number | null> & { e: EventName; seq: number; t: number };

export function packEvent(event: TimelineEvent, ids: Dictionary): EventRow {
  const loose = event as unknown as Loose;
  const layout = LAYOUTS[event.e];
  let detail: string | null = null;
  if (layout.detail.length > 0) {
    const rest: Record<string, unknown> = {};
    for (const field of layout.detail) rest[field] = loose[field];
    detail = JSON.stringify(rest);
  }
  return [
    event.seq,
    event.t,
    ids.wordId(event.e),
    layout.subject ? ids.attemptId(loose.proof as string, loose.attempt as number) : null,
    layout.partition ? (loose.partition as number) : null,
    layout.device ? ids.wordId(loose.device as string) : null,
    layout.worker === null ? null : (loose[layout.worker] as number),
    layout.a === null ? null : (loose[layout.a] as number | null),
    layout.b === null ? null : ids.wordId(loose[layout.b] as string),
    detail,
  ];
}

export function unpackEvent(row: EventRow, ids: ReverseDictionary): TimelineEvent {
  const [seq, t, e, subject, partition, device, worker, a, b, detail] = row;
  const name = ids.word(e) as EventName;
  const layout = LAYOUTS[name];
  const event: Record<string, unknown> = { seq, t, e: name };
  if (layout.subject) {
    const { proof, attempt } = ids.attempt(subject as number);
    event.proof = proof;
    event.attempt = attempt;
  }
  if (layout.partition) event.partition = partition;
  if (layout.device) event.device = ids.word(device as number);
  if (layout.worker !== null) event[layout.worker] = worker;
  if (layout.a !== null) event[layout.a] = a;
  if (layout.b !== null) event[layout.b] = ids.word(b as number);
  if (detail !== null) {
    const rest = JSON.parse(detail) as Record<string, unknown>;
    for (const field of layout.detail) event[field] = rest[field];
  }
  return event as unknown as TimelineEvent;
}
