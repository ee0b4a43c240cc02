/**
 * Logs that cannot tell: groups in place of causes, windows that are not recorded, jobs of one worker that overlap.
 *
 *   A.0 w0   ╶ before (g3) ╴▓ lock (g1) ▓╶ after ╴      - job span without the lock, # lock placed, = job span whose window is not placed
 */
import { expect, test } from 'vitest';
import { IdleAnalysis } from '../../../electron/analysis/idle/idle-analysis.ts';
import type { IdleReport } from '../../../electron/contract/idle.ts';
import type { EventName, TimelineEvent } from '../../../electron/contract/timeline-events.ts';
import { MS, shares, sumOf } from '../../support/idle-report.ts';
import { makeEvent } from '../../support/journal.ts';

interface LogLane {
  worker: number;
  partition: number;
  cells: string;
  queuedAt?: number;
}

function logReport(lanes: LogLane[], more: [t: number, e: EventName, fields?: object][] = []): IdleReport {
  const raw: { t: number; e: EventName; fields: object }[] = more.map(([t, e, fields = {}]) => ({ t, e, fields }));
  for (const { worker, partition, cells, queuedAt } of lanes) {
    const key = { proof: 'p1', attempt: 1, partition, device: 'cpu0', worker };
    const at = (t: number, e: EventName, fields: object = key) => raw.push({ t, e, fields });
    const from = cells.search(/[-#=]/);
    if (queuedAt !== undefined) at(queuedAt, 'queued', { proof: 'p1', attempt: 1, partition });
    at(from, 'picked_up');
    at(from, 'call_started');
    if (cells.includes('#')) {
      at(cells.indexOf('#'), 'lock_granted');
      at(cells.lastIndexOf('#') + 1, 'lock_released');
      at(cells.lastIndexOf('#') + 1, 'measured', { ...key, durations: { lock_error: 35 } });
    }
    if (!cells.endsWith('!')) at(cells.length, 'put_down');
  }
  const events = raw.map(({ t, e, fields }, index): TimelineEvent => makeEvent(e, t * MS, index + 1, fields as object));
  const analysis = new IdleAnalysis();
  analysis.beginProcess(makeEvent('hello', 0, 0, { engine: 'cuzk' }), 0, false);
  for (const event of events) analysis.take(event);
  const report = analysis.build({ run: 'r1', state: 'finished', engine: 'cuzk', scheduler: null, proofsInFlight: null }, null);
  for (const device of report.devices) expect(sumOf(device)).toBe(device.wall_ns);
  return report;
}

test('around a placed lock: before it, inside it; after it only while something is ready', () => {
  const report = logReport([
    { worker: 0, partition: 0, cells: '--####----' },
    { worker: 0, partition: 1, cells: '..........-##', queuedAt: 8 },
  ]);
  const [device] = report.devices;
  // 6-8 nothing is ready; 8-10 p1.1 is.
  expect(shares(device)).toEqual({ outside_lock: 5, lock_or_kernel: 6, between_work: 2 });
  expect(device?.windows).toMatchObject({
    kernel: { ns: null, recorded: false },
    copy: { ns: null, recorded: false },
    lock: { ns: 6 * MS, recorded: true, error_ns: 140 },
    job: { ns: 13 * MS, recorded: true },
  });
  expect(device?.groups.lock_or_kernel?.may_be).toEqual(['kernel', 'in_lock']);
});

test('a job whose lock window could not be placed says only that the worker had it', () => {
  const [device] = logReport([
    { worker: 0, partition: 0, cells: '=====' },
    { worker: 0, partition: 1, cells: '.....-##-' },
  ]).devices;
  expect(shares(device)).toEqual({ inside_job: 5, outside_lock: 1, lock_or_kernel: 2, between_work: 1 });
  // Some windows only: their union would say less than was held.
  expect(device?.windows.lock).toMatchObject({ ns: null, recorded: false });
});

test('spans of one worker overlap, and each lock window lies in its own', () => {
  const [device] = logReport([
    { worker: 0, partition: 0, cells: '-###----' },
    { worker: 0, partition: 1, cells: '....-###--', queuedAt: 3 },
  ]).devices;
  expect(shares(device)).toEqual({ outside_lock: 2, lock_or_kernel: 6, between_work: 2 });
  expect(device).toMatchObject({ legacy_efficiency: 1, legacy_sum: 14 / 10 });
});

test('a job that the daemon lost is in no sum; its time is unknown until the worker does something else', () => {
  const report = logReport(
    [
      { worker: 0, partition: 0, cells: '---!' },
      { worker: 0, partition: 1, cells: '......-##' },
    ],
    [[4, 'partition_ended', { proof: 'p1', attempt: 1, partition: 0, outcome: 'failed' }]],
  );
  expect(shares(report.devices[0])).toEqual({ unknown: 6, outside_lock: 1, lock_or_kernel: 2 });
  expect(report.devices[0]?.windows.job).toMatchObject({ ns: 3 * MS });
  expect(report.partial).toBe(true);
});

test('with lines of acceptance the log says when there was nothing to do; without, it may have been that too', () => {
  const lanes = [{ worker: 0, partition: 0, cells: '.....-##' }];
  const [without] = logReport(lanes).devices;
  expect(without?.groups.between_work).toEqual({
    ns: 5 * MS,
    may_be: ['held', 'no_work', 'permit', 'first_synthesis', 'starved', 'cross_sector'],
  });
  const [with_] = logReport(lanes, [[2, 'proof_accepted', { proof: 'p1', attempt: 1 }]]).devices;
  expect(shares(with_)).toEqual({ no_work: 2, between_work: 3, outside_lock: 1, lock_or_kernel: 2 });
  expect(with_?.groups.between_work?.may_be).toEqual(['permit', 'first_synthesis', 'starved', 'cross_sector']);
});

test('what is queued while nobody has it is dispatch; params that load are warm-up', () => {
  const [device] = logReport(
    [{ worker: 0, partition: 0, cells: '......-##', queuedAt: 2 }],
    [
      [0, 'proof_accepted', { proof: 'p1', attempt: 1, circuit: 'c' }],
      [0, 'params_load_started', { circuit: 'c' }],
      [4, 'params_load_ended', { circuit: 'c' }],
    ],
  ).devices;
  expect(shares(device)).toEqual({ warm_up: 4, dispatch: 2, outside_lock: 1, lock_or_kernel: 2 });
});
