/** Pairing: every span has its own end, and a missing one stays missing. */
import { expect, test } from 'vitest';
import { SpanTracker, type Span } from '../../electron/analysis/spans.ts';
import type { EventName, EventOf, TimelineEvent } from '../../electron/contract/timeline-events.ts';
import { makeEvent, makeState } from '../support/journal.ts';
import { parseLanes } from '../support/lanes.ts';

const MS = 1_000_000;

function track(events: TimelineEvent[]) {
  const spans = new Map<number, Span>();
  let id = 0;
  const tracker = new SpanTracker(0, (span) => spans.set(span.id, span), () => id++); // prettier-ignore
  for (const event of events) tracker.take(event);
  const of = (kind: string) =>
    [...spans.values()]
      .filter((span) => span.kind === kind)
      .map((span) => `${span.proof}.${span.partition} ${span.startNs / MS}-${span.endNs === null ? span.state : span.endNs / MS}`);
  return { tracker, spans, of };
}

let seq = 0;
const at = <E extends EventName>(ms: number, e: E, fields: Partial<EventOf<E>> = {}) => makeEvent(e, ms * MS, seq++, fields);

test('a lane becomes its spans', () => {
  const { of } = track(parseLanes('p1.0 w0 ppwLKKLKff.').events);
  expect(of('job')).toEqual(['p1.0 0-10']);
  expect(of('prepare')).toEqual(['p1.0 0-2']);
  expect(of('waiting')).toEqual(['p1.0 2-3']);
  expect(of('lock')).toEqual(['p1.0 3-8']);
  expect(of('device')).toEqual(['p1.0 3-8']);
  expect(of('kernel')).toEqual(['p1.0 4-6', 'p1.0 7-8']);
  expect(of('finish')).toEqual(['p1.0 8-10']);
});

test('overlapping spans of one worker keep their own ends', () => {
  const p0 = { partition: 0 };
  const p1 = { partition: 1 };
  const { of } = track([
    at(0, 'synthesis_started', p0),
    at(3, 'synthesis_started', p1),
    at(5, 'synthesis_ended', p0),
    at(7, 'synthesis_ended', p1),
  ]);
  expect(of('synthesis')).toEqual(['p1.0 0-5', 'p1.1 3-7']);
});

test('one missing end leaves one span open and all others as they were', () => {
  const events: TimelineEvent[] = [];
  for (let n = 0; n < 20; n++) {
    events.push(at(n * 10, 'kernel_started', { partition: n }));
    if (n !== 7) events.push(at(n * 10 + 5, 'kernel_ended', { partition: n }));
  }
  const { of } = track(events);
  expect(of('kernel')).toHaveLength(20);
  expect(of('kernel').filter((span) => span.endsWith('open'))).toEqual(['p1.7 70-open']);
});

test('what a worker left open is given up once it is known to be elsewhere', () => {
  const { of, tracker } = track(parseLanes('p1.0 w0 ppLKK!\np1.1 w0 ......ppLKKff.\np1.0 w1 ....p!').events);
  expect(of('kernel')).toEqual(['p1.0 3-open', 'p1.1 9-11']);
  tracker.settle(5 * MS);
  expect(of('kernel')).toEqual(['p1.0 3-open', 'p1.1 9-11']);
  tracker.settle(6 * MS);
  expect(of('kernel')).toEqual(['p1.0 3-abandoned', 'p1.1 9-11']);
  expect(of('job')).toEqual(['p1.0 0-abandoned', 'p1.0 4-open', 'p1.1 6-13']);
});

test('an end that comes after the worker moved on is not its own', () => {
  const p0 = { partition: 0 };
  const { of, tracker } = track([at(0, 'picked_up', p0), at(5, 'picked_up', { partition: 1 }), at(9, 'put_down', p0)]);
  expect(of('job')).toEqual(['p1.0 0-abandoned', 'p1.1 5-open']);
  expect(tracker.unmatched).toBeGreaterThan(0);
});

test('a second start gives up the first; an end without start is only counted', () => {
  const { of, tracker } = track([at(0, 'prepare_started'), at(4, 'prepare_started'), at(6, 'prepare_ended'), at(7, 'prepare_ended')]);
  expect(of('prepare')).toEqual(['p1.0 0-abandoned', 'p1.0 4-6']);
  expect(tracker.unmatched).toBe(1);
});

test('an end before its start makes no negative duration', () => {
  const { of, tracker } = track([at(9, 'kernel_started'), at(4, 'kernel_ended')]);
  expect(of('kernel')).toEqual(['p1.0 9-abandoned']);
  expect(tracker.negative).toBe(1);
});

test('two rings may tell a queue’s end before its start', () => {
  const { of, tracker } = track([
    at(8, 'picked_up'),
    at(3, 'queued'),
    at(9, 'permit_granted', { partition: 4 }),
    at(2, 'permit_asked', { partition: 4 }),
  ]);
  expect(of('queue')).toEqual(['p1.0 3-8']);
  expect(of('permit')).toEqual(['p1.4 2-9']);
  expect(tracker.unmatched).toBe(0);
});

test('a dead worker, an ended partition and an ended process leave nothing open', () => {
  const dead = track([...parseLanes('p1.0 w0 ppLK!').events, at(9, 'worker_dead', { worker: 0 })]);
  dead.tracker.settle(9 * MS);
  expect(dead.of('kernel')).toEqual(['p1.0 3-abandoned']);

  const ended = track([at(0, 'synthesis_started'), at(1, 'permit_asked'), at(9, 'partition_ended', { outcome: 'failed' })]);
  ended.tracker.settle(9 * MS);
  expect([...ended.of('synthesis'), ...ended.of('permit')]).toEqual(['p1.0 0-abandoned', 'p1.0 1-abandoned']);

  const killed = track(parseLanes('p1.0 w0 ppLK!\np1.1 s0 SSS!').events);
  killed.tracker.endProcess();
  expect([...killed.tracker.openSpans()]).toEqual([]);
});

test('a snapshot after a loss ends what it contradicts, and only that', () => {
  const { of, tracker } = track(parseLanes('p1.0 w0 ppLKK!\np1.1 w1 ppp!').events);
  const worker = { device: 'cpu0', attempt: 1, since: 0, progress: 1, proof: 'p1' };
  tracker.takeSnapshot(
    makeState(8 * MS, 20, {
      workers: [
        { ...worker, worker: 0, is: 'finish', partition: 0 },
        { ...worker, worker: 1, is: 'prepare', partition: 1 },
      ],
    }),
  );
  expect(of('kernel')).toEqual(['p1.0 3-abandoned']);
  expect(of('device')).toEqual(['p1.0 2-abandoned']);
  expect(of('prepare')).toEqual(['p1.0 0-2', 'p1.1 0-open']);
  expect(of('job')).toEqual(['p1.0 0-open', 'p1.1 0-open']);
});
