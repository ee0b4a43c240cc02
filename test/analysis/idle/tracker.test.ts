/** After each line the live account says what the batch says of the same lines at the same horizon; and what it calls final never falls. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IdleAnalysis } from '../../../electron/analysis/idle/idle-analysis.ts';
import { IdleTracker, type DeviceFigures } from '../../../electron/analysis/idle/idle-tracker.ts';
import { EVENTS, type EventName, type StateLine, type TimelineEvent } from '../../../electron/contract/timeline-events.ts';
import type { IdleParts } from '../../../electron/contract/idle.ts';
import { makeEvent, makeState, SCHEDULER } from '../../support/journal.ts';

const DEVICES = ['gpu0', 'gpu1'];
const HOST_KINDS: EventName[] = [
  'ready', 'params_load_started', 'params_load_ended', 'proof_accepted', 'proof_accepted', 'permit_asked', 'permit_granted', 'synthesis_started',
  'synthesis_ended', 'queued', 'queued', 'partition_ended', 'stage_failed', 'proof_ended', 'proof_returned',
]; // prettier-ignore
const WORKER_KINDS: EventName[] = [
  'picked_up', 'picked_up', 'lock_asked', 'lock_granted', 'lock_released', 'prepare_started', 'prepare_ended', 'device_started', 'device_ended',
  'kernel_started', 'kernel_started', 'kernel_ended', 'kernel_ended', 'copy_started', 'copy_ended', 'wait_started', 'wait_ended',
  'finish_started', 'put_down', 'put_down', 'worker_dead', 'call_started',
]; // prettier-ignore
const LOG_KINDS: EventName[] = ['picked_up', 'call_started', 'lock_granted', 'lock_released', 'put_down', 'put_down'];

interface Step {
  does: 'event' | 'loss' | 'state' | 'hold' | 'restart';
  /** ns since the step before, on the time line; lines of the file come up to `late` later. */
  dt: number;
  late: number;
  host: number;
  work: number;
  isWork: boolean;
  proof: string;
  partition: number;
  worker: number;
  device: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  does: fc.oneof(
    { weight: 30, arbitrary: fc.constant('event' as const) },
    { weight: 2, arbitrary: fc.constantFrom('loss' as const, 'state' as const, 'hold' as const) },
    { weight: 1, arbitrary: fc.constantFrom('restart' as const) },
  ),
  dt: fc.nat(4),
  late: fc.nat(6),
  host: fc.nat(HOST_KINDS.length - 1),
  work: fc.nat(1000),
  isWork: fc.boolean(),
  proof: fc.constantFrom('A', 'B'),
  partition: fc.nat(1),
  worker: fc.nat(2),
  device: fc.nat(1),
});

/** What the file tells, in its order. */
type Line =
  | { is: 'begin'; startNs: number; fromStart: boolean }
  | { is: 'event'; event: TimelineEvent }
  | { is: 'loss'; tFrom: number }
  | { is: 'state'; state: StateLine }
  | { is: 'hold'; fromNs: number; toNs: number | null }
  | { is: 'end'; endT: number };
/** `markNs`: after this line everything before it is told. */
type Told = Line & { markNs: number };

function makeLines(steps: Step[], isLog: boolean, fromStart: boolean): Told[] {
  const told: Told[] = [];
  let startNs = 0;
  let nowNs = 0;
  let seq = 0;
  let waiting: { at: number; event: TimelineEvent }[] = [];
  let markNs = 0;
  let heldFrom: number | null = null;
  const tell = (line: Line) => told.push({ ...line, markNs });
  const flush = (upToNs: number) => {
    waiting.sort((a, b) => a.at - b.at);
    while (waiting.length > 0 && (waiting[0] as { at: number }).at <= upToNs) {
      const { event } = waiting.shift() as { event: TimelineEvent };
      markNs = Math.max(markNs, Math.min(nowNs, ...waiting.map((one) => one.event.t + startNs)));
      tell({ is: 'event', event: { ...event, seq: seq++ } });
    }
  };
  const begin = (whole: boolean) => {
    seq = 1;
    tell({ is: 'begin', startNs, fromStart: whole });
  };
  begin(fromStart);
  for (const one of steps) {
    nowNs += one.dt;
    if (one.does === 'restart') {
      flush(Number.POSITIVE_INFINITY);
      markNs = nowNs;
      tell({ is: 'end', endT: nowNs - startNs });
      nowNs += one.dt;
      startNs = nowNs;
      begin(true);
    } else if (one.does === 'loss') {
      flush(nowNs);
      tell({ is: 'loss', tFrom: Math.max(0, markNs - startNs) });
    } else if (one.does === 'hold') {
      flush(nowNs);
      tell(heldFrom === null ? { is: 'hold', fromNs: nowNs, toNs: null } : { is: 'hold', fromNs: heldFrom, toNs: nowNs });
      heldFrom = heldFrom === null ? nowNs : null;
    } else if (one.does === 'state') {
      flush(Number.POSITIVE_INFINITY);
      markNs = nowNs;
      tell({ is: 'state', state: makeSnapshot(one, nowNs - startNs, seq - 1) });
    } else {
      waiting.push({ at: nowNs + one.late, event: eventOf(one, nowNs - startNs, isLog) });
      flush(nowNs);
    }
  }
  flush(Number.POSITIVE_INFINITY);
  return told;
}

function makeSnapshot(one: Step, t: number, upto: number): StateLine {
  const states = ['free', 'waiting', 'prepare', 'device', 'finish', 'dead'] as const;
  const is = states[one.work % states.length] as (typeof states)[number];
  const busy = is !== 'free' && is !== 'dead';
  const device = DEVICES[one.device] as string;
  return makeState(t, upto, {
    queued: one.partition,
    withheld: one.host % 2,
    workers: [
      { worker: one.worker, device, is, proof: busy ? one.proof : null, attempt: busy ? 1 : null, partition: busy ? one.partition : null, since: null, progress: 0 },
    ],
    lock: [{ device, holder: is === 'device' ? one.worker : null }],
    params: [{ circuit: 'a', is: one.host % 3 === 0 ? 'loading' : 'resident' }],
  }); // prettier-ignore
}

function eventOf(one: Step, t: number, isLog: boolean): TimelineEvent {
  const key = { proof: one.proof, attempt: 1, partition: one.partition };
  if (!one.isWork) {
    const e = HOST_KINDS[one.host] as EventName;
    const waited = one.work % 2 === 0 ? 'bytes' : 'count';
    return eventWith(e, t, { ...key, circuit: one.proof.toLowerCase(), waited_for: waited, priority: 1 + (one.work % 4) });
  }
  const kinds = isLog ? LOG_KINDS : WORKER_KINDS;
  const e = kinds[one.work % kinds.length] as EventName;
  // Workers of one device have numbers of their own.
  const worker = one.worker * 2 + one.device;
  return eventWith(e, t, { ...key, device: DEVICES[one.device], worker, wait: one.host % 2 ? 'barrier' : 'alloc' });
}

/** Only the fields that the event has. */
function eventWith(e: EventName, t: number, fields: Record<string, unknown>): TimelineEvent {
  const own = Object.fromEntries(Object.entries(fields).filter(([name]) => name in EVENTS[e]));
  return makeEvent(e, t, 0, own as object);
}

const HELLO = { devices: DEVICES.map((device) => ({ device, kind: 'emulated', name: device, workers_max: 2, clock: 'host' })) };
const helloAt = (startNs: number) => makeEvent('hello', 0, 0, { ...HELLO, monotonic_ns: String(5_000_000_000 + startNs) });

function batchOf(lines: Told[], engine: string, scheduler: typeof SCHEDULER, horizonNs: number) {
  const analysis = new IdleAnalysis();
  lines.forEach((line, index) => {
    if (line.is === 'begin') analysis.beginProcess(helloAt(line.startNs), 0, line.fromStart);
    else if (line.is === 'event') analysis.take(line.event);
    else if (line.is === 'end') analysis.endProcess(line.endT);
    else if (line.is === 'hold' && (line.toNs !== null || !isEndedLater(lines, index, line.fromNs)))
      analysis.takeHold(line.fromNs, line.toNs);
    else if (line.is === 'loss') {
      const later = lines.slice(index).find(({ is }) => is === 'state' || is === 'end');
      const state = later?.is === 'state' ? later.state : null;
      analysis.takeLoss({ tFrom: line.tFrom, tTo: line.tFrom, count: 1, healedT: state?.t ?? null, state });
    }
  });
  return analysis.build({ run: 'r1', state: 'running', engine, scheduler, proofsInFlight: 1 }, horizonNs);
}

function isEndedLater(lines: Told[], index: number, fromNs: number): boolean {
  return lines.slice(index + 1).some((line) => line.is === 'hold' && line.fromNs === fromNs);
}

function checkFinal(before: DeviceFigures[], now: DeviceFigures[]): void {
  for (const device of before) {
    const later = now.find((one) => one.device === device.device) as DeviceFigures;
    for (const [name, ns] of numbersOf(device.final)) expect(numbersOf(later.final).get(name) ?? 0, name).toBeGreaterThanOrEqual(ns);
  }
}

function numbersOf(parts: IdleParts): Map<string, number> {
  return new Map([
    ['kernel', parts.kernel_ns],
    ['unknown', parts.unknown_ns],
    ...Object.entries(parts.idle_ns),
    ...Object.entries(parts.groups),
  ]);
}

function checkLines(lines: Told[], engine: string, scope: 'job' | 'kernels'): void {
  const scheduler = { ...SCHEDULER, lock_scope: scope, gpu_workers: 2 };
  const tracker = new IdleTracker({ engine, scheduler, proofsInFlight: 1 });
  let before: DeviceFigures[] = [];
  lines.forEach((line, index) => {
    if (line.is === 'begin') tracker.beginProcess(helloAt(line.startNs), 0, line.fromStart);
    else if (line.is === 'event') tracker.take(line.event);
    else if (line.is === 'state') tracker.takeState(line.state);
    else if (line.is === 'end') tracker.endProcess(line.endT);
    else if (line.is === 'hold') tracker.takeHold(line.fromNs, line.toNs);
    else tracker.takeLoss({ tFrom: line.tFrom, tTo: line.tFrom, count: 1, healedT: null, state: null });
    const figures = tracker.figures(line.markNs);
    const report = batchOf(lines.slice(0, index + 1), engine, scheduler, line.markNs);
    expect(figures.wall_ns).toBe(report.wall_ns);
    for (const device of report.devices) {
      const live = figures.devices.find((one) => one.device === device.device) as DeviceFigures;
      const groups = Object.fromEntries(Object.entries(device.groups).map(([name, group]) => [name, group.ns]));
      expect(live.all).toEqual({ kernel_ns: device.kernel_ns ?? 0, idle_ns: device.idle_ns, groups, unknown_ns: device.unknown_ns });
      expect(live.provisional).toEqual(device.provisional);
      expect(live.details).toEqual(device.details);
      expect(live.steady).toEqual(device.steady);
      let sum = 0;
      for (const ns of numbersOf(live.all).values()) sum += ns;
      expect(sum).toBe(device.wall_ns);
    }
    checkFinal(before, figures.devices);
    before = figures.devices;
  });
}

const runs = fc.array(step, { minLength: 5, maxLength: 60 });

test('any lines, any order that the marks allow: scope kernels', () => {
  fc.assert(
    fc.property(runs, fc.boolean(), (steps, whole) => checkLines(makeLines(steps, false, whole), 'builtin', 'kernels')),
    { numRuns: 60 },
  );
});

test('any lines, any order that the marks allow: scope job', () => {
  fc.assert(
    fc.property(runs, fc.boolean(), (steps, whole) => checkLines(makeLines(steps, false, whole), 'builtin', 'job')),
    { numRuns: 40 },
  );
});

test('the same of a log that cannot tell, where job spans of one worker overlap', () => {
  fc.assert(
    fc.property(runs, fc.boolean(), (steps, whole) => checkLines(makeLines(steps, true, whole), 'cuzk', 'kernels')),
    { numRuns: 60 },
  );
});

test('a loss that is told late: what is not final yet becomes unknown, what is stays', () => {
  const tracker = new IdleTracker({ engine: 'builtin', scheduler: SCHEDULER, proofsInFlight: 1 });
  tracker.beginProcess(helloAt(0), 0, true);
  const key = { proof: 'A', attempt: 1, partition: 0, device: 'gpu0', worker: 0 };
  tracker.take(eventWith('picked_up', 2, key));
  tracker.take(eventWith('put_down', 5, key));
  const before = tracker.figures(10).devices[0] as DeviceFigures;
  expect(before.final.idle_ns).toMatchObject({ warm_up: 2, preamble: 3 });
  tracker.takeLoss({ tFrom: 3, tTo: 8, count: 1, healedT: null, state: null });
  tracker.takeState(makeState(12, 2));
  const after = tracker.figures(12).devices[0] as DeviceFigures;
  checkFinal([before], [after]);
  // 3 to 5 was counted as preamble by then.
  expect(after.all).toMatchObject({ unknown_ns: 7, idle_ns: { warm_up: 2, preamble: 3 } });
});

test('a lost job of a log is settled by the next thing its worker does: what came before it is final', () => {
  const tracker = new IdleTracker({ engine: 'cuzk', scheduler: null, proofsInFlight: 1 });
  tracker.beginProcess(helloAt(0), 0, false);
  const job = (partition: number) => ({ proof: 'A', attempt: 1, partition, device: 'gpu0', worker: 0 });
  tracker.take(eventWith('picked_up', 0, job(0)));
  tracker.take(eventWith('partition_ended', 3, { ...job(0), outcome: 'failed' }));
  const before = tracker.figures(4).devices[0] as DeviceFigures;
  expect(before).toMatchObject({ all: { unknown_ns: 4 }, final: { unknown_ns: 0 } });
  tracker.take(eventWith('picked_up', 5, job(1)));
  const after = tracker.figures(10).devices[0] as DeviceFigures;
  expect(after).toMatchObject({ all: { unknown_ns: 5, groups: { inside_job: 5 } }, final: { unknown_ns: 5, groups: {} } });
});
