/** What goes wrong, as pictures: missing ends, losses, restarts, clocks, several devices. Ticks are milliseconds. */
import { expect, test } from 'vitest';
import { IdleAnalysis } from '../../../electron/analysis/idle/idle-analysis.ts';
import type { TimelineEvent } from '../../../electron/contract/timeline-events.ts';
import { parseRun, tellRun } from '../../support/idle-lanes.ts';
import { idle, MS, reportOf, shares, stateWith } from '../../support/idle-report.ts';
import { makeEvent, SCHEDULER } from '../../support/journal.ts';

test('a stage whose end never came: unknown until the worker is seen again', () => {
  const picture = `
    A       a
    A.0 w0  ppLLL!
    A.1 w0  ........pKf`;
  expect(idle(picture)).toEqual({ preamble: 3, unknown: 6, kernel: 1, no_work: 1 });
});

test('a kernel whose end never came: unknown until the worker says something else', () => {
  const picture = `
    A       a
    A.0 w0  pKK~LLff
    A.1 w0  ........pK`;
  const [device] = reportOf(picture).devices;
  expect(shares(device)).toMatchObject({ preamble: 2, kernel: 1 });
  expect(device?.unknown_ns).toBeGreaterThan(0);
});

test('a process that dies in the middle of a stage: unknown since the stage began, then down', () => {
  expect(idle('A a\nA.0 w0 ppLKKKKK\nprocess r=====!  r==e')).toEqual({ preamble: 2, unknown: 4, down: 3, no_work: 3 });
});

test('T3: one missing end of twenty leaves the others and their sums as they were', () => {
  const lanes = Array.from({ length: 20 }, (_, n) => `A.${n} w0 ${'.'.repeat(n * 4)}pKK${n === 7 ? '!' : '.'}`);
  const [device] = reportOf(`A a\n${lanes.join('\n')}`).devices;
  expect(device?.windows).toMatchObject({ kernel: { ns: 38 * MS }, job: { ns: 57 * MS }, lock: { ns: 38 * MS } });
  expect(device?.unknown_ns).toBe(3 * MS);
});

test('events are missing: unknown from the loss to the snapshot, whatever the others say', () => {
  const picture = `
    A       a
    A.0 w0  ppKKKKKKff
    lost    ...===
    process r=========e`;
  const state = stateWith({ worker: 0, is: 'device', proof: 'A', partition: 0 }, { lock: [{ device: 'cpu0', holder: 0 }] });
  const report = reportOf(picture, { state });
  expect(shares(report.devices[0])).toEqual({ preamble: 2, kernel: 3, unknown: 3, no_work: 2 });
  expect(report.partial).toBe(true);
});

test('the snapshot puts right what the loss left: a worker is elsewhere, its lock is free, nothing loads', () => {
  const picture = `
    A       a
    load a  .l!
    A.0 w0  ppKK!
    lost    ....==
    process r=========e`;
  const state = stateWith({ worker: 0, is: 'free', proof: null, partition: null });
  expect(idle(picture, { state })).toEqual({ preamble: 2, unknown: 4, no_work: 4 });
});

test('a loss that no snapshot ends: unknown to the end of the process', () => {
  const run = parseRun('A a\nA.0 w0 ppKKff\nlost ...===\nprocess r=====!  r==e');
  const [first] = run.processes;
  for (const loss of first?.losses ?? []) Object.assign(loss, { healedT: null, state: null });
  const analysis = new IdleAnalysis();
  tellRun(run, analysis);
  const report = analysis.build({ run: 'r1', state: 'finished', engine: 'builtin', scheduler: run.scheduler, proofsInFlight: 1 }, null);
  expect(shares(report.devices[0])).toEqual({ preamble: 2, kernel: 1, unknown: 3, down: 3, no_work: 3 });
});

test('two processes: what waits, loads and works begins anew with each', () => {
  const picture = `
    A       a........a
    A.0 s0  SSqqqqq
    A.0 w0  ..pK
    A.1 s0  .SSSSS!
    A.1 s1  .........SSq
    A.1 w0  ...........pK
    process r=====!  r====e`;
  expect(idle(picture)).toEqual({ first_synthesis: 4, preamble: 2, kernel: 2, starved: 2, down: 3, no_work: 1 });
});

test('two attempts of one partition are two partitions of one proof', () => {
  const run = parseRun('A a\nA.0 w0 KK\nA.1 s0 .SSSq\nA.1 w0 .....K');
  const again = run.processes[0]?.events.map((event) => ('partition' in event && event.partition === 1 ? { ...event, attempt: 2 } : event));
  const analysis = new IdleAnalysis();
  tellRun({ ...run, processes: run.processes.map((process) => ({ ...process, events: again as TimelineEvent[] })) }, analysis);
  const report = analysis.build({ run: 'r1', state: 'finished', engine: 'builtin', scheduler: run.scheduler, proofsInFlight: 1 }, null);
  // Attempt 2 was never accepted: nothing is claimed about what it waited for.
  expect(shares(report.devices[0])).toEqual({ kernel: 3, no_work: 2, dispatch: 1 });
});

test('kernels of two streams and two workers are one union; their sum stands beside', () => {
  const [device] = reportOf('A a\nA.0 w0 KKKK\nA.1 w1 ..KKKK', { workers: 2 }).devices;
  expect(device?.windows.kernel).toMatchObject({ ns: 6 * MS, sum_ns: 8 * MS });
  expect(device).toMatchObject({ legacy_efficiency: 1, legacy_sum: 8 / 6 });
});

test('T1: 0-5 and 3-7 on one worker of a log stay 0-5 and 3-7', () => {
  const lines: [number, 'picked_up' | 'call_started' | 'put_down', number][] = [
    [0, 'picked_up', 0], [0, 'call_started', 0], [3, 'picked_up', 1], [3, 'call_started', 1], [5, 'put_down', 0], [7, 'put_down', 1],
  ]; // prettier-ignore
  const analysis = new IdleAnalysis();
  analysis.beginProcess(makeEvent('hello', 0, 0, { engine: 'cuzk' }), 0, true);
  lines.forEach(([t, e, partition], index) => analysis.take(makeEvent(e, t * MS, index + 1, { partition })));
  const report = analysis.build({ run: 'r1', state: 'finished', engine: 'cuzk', scheduler: null, proofsInFlight: null }, null);
  const [device] = report.devices;
  expect(device?.windows.job).toEqual({ ns: 7 * MS, sum_ns: 9 * MS, recorded: true, error_ns: 0 });
  expect(device?.windows.kernel).toEqual({ ns: null, sum_ns: null, recorded: false, error_ns: 0 });
  expect(device).toMatchObject({ legacy_efficiency: 1, legacy_sum: 9 / 7, kernel_ns: null });
  expect(device?.groups).toMatchObject({ inside_job: { ns: 7 * MS } });
});

test('T8: the wall clock steps back by 90 s: no number changes, and the run says so', () => {
  const plain = parseRun('A a\nA.0 w0 ppKKff');
  const stepped = parseRun('A a\nA.0 w0 ppKKff');
  stepped.processes[0]?.events.push(makeEvent('clock_step', 3 * MS, 99, { wall_ns: '1', step_ns: '-90000000000' }));
  const [a, b] = [plain, stepped].map((run) => {
    const analysis = new IdleAnalysis();
    tellRun(run, analysis);
    return analysis.build({ run: 'r1', state: 'finished', engine: 'builtin', scheduler: SCHEDULER, proofsInFlight: 1 }, null);
  });
  expect(b?.devices).toEqual(a?.devices);
  expect(b?.notes.join()).toContain('clock stepped −90 s');
});

test('a process after a reboot is placed by the wall clock, never before the end of the one before', () => {
  const run = parseRun('A a\nA.0 w0 ppKKff\nprocess r=====!  r=======e');
  const [first, second] = run.processes;
  if (!first || !second) throw new Error('two processes');
  // The wall clock was set back by an hour: by it, the second begins at 0.
  second.hello = { ...second.hello, boot_id: 'boot-2', wall_ns: String(BigInt(first.hello.wall_ns) - 3_600_000_000_000n) };
  second.events[0] = second.hello;
  second.losses.push({ tFrom: 0, tTo: 2 * MS, count: 1, healedT: 3 * MS, state: null });
  const analysis = new IdleAnalysis();
  tellRun(run, analysis);
  const report = analysis.build({ run: 'r1', state: 'finished', engine: 'builtin', scheduler: SCHEDULER, proofsInFlight: 1 }, null);
  // The first one counts up to its end at 6; of the second, what it did until then is not counted, missing events among it.
  expect(shares(report.devices[0])).toEqual({ preamble: 2, kernel: 2, unknown: 2, no_work: 2 });
  expect(report.notes.join()).toContain('clock break: process 2');
});

test('a kernel that ends before it began: unknown, and said', () => {
  const run = parseRun('A a\nA.0 w0 ppLLKKLLff');
  const events = run.processes[0]?.events ?? [];
  const at = (e: string) => events.findIndex((event) => event.e === e);
  const [start, end] = [at('kernel_started'), at('kernel_ended')];
  const [from, to] = [events[start]?.t ?? 0, events[end]?.t ?? 0];
  events[start] = { ...(events[start] as TimelineEvent), t: to };
  events[end] = { ...(events[end] as TimelineEvent), t: from };
  const analysis = new IdleAnalysis();
  tellRun(run, analysis);
  const report = analysis.build({ run: 'r1', state: 'finished', engine: 'builtin', scheduler: SCHEDULER, proofsInFlight: 1 }, null);
  expect(report.devices[0]).toMatchObject({ kernel_ns: 0, windows: { kernel: { ns: 0 } } });
  expect(report.devices[0]?.unknown_ns).toBeGreaterThan(0);
  expect(report.notes.join()).toContain('1 kernel ends before the start');
});

test('kernels of what came to nothing are wasted', () => {
  const report = reportOf('A a....x\nA.0 w0 KK\nB a.......v\nB.0 w0 ...KKKK');
  expect(report.devices[0]?.wasted_kernel_ns).toBe(2 * MS);
});

test('a dead worker says nothing any more: a new one takes its slot', () => {
  const run = parseRun('A a\nA.0 w0 pX\nA.1 w1 ...pK\nprocess r====e');
  run.processes[0]?.events.splice(-1, 0, makeEvent('lock_asked', 2 * MS, 50, { proof: 'A', partition: 0, worker: 0 }));
  const analysis = new IdleAnalysis();
  tellRun(run, analysis);
  const report = analysis.build({ run: 'r1', state: 'finished', engine: 'builtin', scheduler: run.scheduler, proofsInFlight: 1 }, null);
  expect(shares(report.devices[0])).toEqual({ unknown: 1, fault: 2, preamble: 1, kernel: 1 });
  expect(report.devices[0]?.workers).toBe(1);
});

test('the steady stretch ends with the last valid proof', () => {
  const [device] = reportOf('A a.v\nA.0 w0 KK\nB a...v\nB.0 w0 ..KK\nC a.....v\nC.0 w0 ....KK\nprocess r=========e').devices;
  expect(device?.steady).toMatchObject({
    from_ns: 2 * MS,
    to_ns: 6 * MS,
    proofs: 2,
    per_proof: { kernel_ns: 2 * MS, idle_ns: { no_work: 0 } },
  });
});
