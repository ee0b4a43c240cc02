/** What a followed import shows live is, at its end, what the history says of the run; and the run that was shown comes back after it. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { DeviceIdleLive } from '../../electron/contract/live.ts';
import type { DeviceIdle } from '../../electron/contract/idle.ts';
import { createCuzkReader } from '../../electron/formats/cuzk/reader.ts';
import { readGaps, readIdle } from '../../electron/store/idle-reads.ts';
import { makeRunFile, openImports } from '../support/imports.ts';
import { makeEvent, makeRun, PROCESS_B } from '../support/journal.ts';

const gw2a = readFileSync(new URL('../fixtures/cuzk/gw2a.log', import.meta.url));
const own = makeRunFile({ events: makeRun({ proofs: 6, partitions: 4 }).events, holds: [[30_000_000, 45_000_000]] });

const sumOf = (parts: Partial<Record<string, number>>) => Object.values(parts).reduce<number>((sum, ns) => sum + (ns ?? 0), 0);

function checkIdentity(device: DeviceIdleLive): void {
  const { kernel_ns, idle_ns, provisional, groups, unknown_ns, wall_ns } = device;
  expect((kernel_ns ?? 0) + sumOf(idle_ns) + sumOf(provisional) + sumOf(groups) + unknown_ns).toBe(wall_ns);
}

/** In the shape of the live figures. */
function asLive(device: DeviceIdle) {
  const named = (parts: Record<string, number>) => Object.fromEntries(Object.entries(parts).filter(([, ns]) => ns !== 0));
  return {
    device: device.device,
    wall_ns: device.wall_ns,
    kernel_ns: device.kernel_ns,
    idle: named(device.idle_ns),
    groups: named(Object.fromEntries(Object.entries(device.groups).map(([group, share]) => [group, share.ns]))),
    unknown_ns: device.unknown_ns,
  };
}

test.each([
  ['a log', gw2a, 4_000],
  ['a run file', Buffer.from(own), 900],
])('%s, followed: at each piece the parts add up and nothing final falls; at the end both say the same', async (_, bytes, step) => {
  const { begin, piece, imports, live, reads } = openImports({ log: createCuzkReader });
  const id = begin('x', true);
  let before = new Map<string, DeviceIdleLive>();
  for (let at = 0; at < bytes.length; at += step) {
    await piece(id, bytes.subarray(at, at + step));
    const idle = live.snapshot()?.figures.idle ?? [];
    for (const device of idle) {
      checkIdentity(device);
      for (const [cause, ns] of Object.entries(before.get(device.device)?.idle_ns ?? {})) {
        expect([cause, device.idle_ns[cause as keyof typeof device.idle_ns] ?? 0]).toEqual([
          cause,
          expect.toSatisfy((now: number) => now >= ns),
        ]);
      }
    }
    before = new Map(idle.map((device) => [device.device, device]));
  }
  await imports.end(id);
  const stored = readIdle(reads(), 'last');
  const shown = live.snapshot()?.figures;
  expect(shown?.idle.map(({ idle_ns, provisional, steady: _steady, ...rest }) => {
    expect(provisional).toEqual({});
    return { ...rest, idle: idle_ns };
  })).toEqual(stored.devices.map(asLive)); // prettier-ignore
  const report = reads().showRun('last');
  expect(shown?.run).toEqual(report.devices);
});

test('live meters of a log say null for what it does not tell', async () => {
  const { begin, piece, imports, live } = openImports({ log: createCuzkReader });
  const id = begin('x', true);
  await piece(id, gw2a);
  await imports.end(id);
  const figures = live.snapshot()?.figures;
  expect(figures?.run).toMatchObject([
    { device: 'gpu0', kernel_ns: null, kernel_sum_ns: null, copy_ns: null, job_span_ns: expect.any(Number) },
  ]);
  expect(figures?.idle[0]?.kernel_ns).toBeNull();
  expect(figures?.sparkline[0]?.kernel.every((value) => value === null)).toBe(true);
});

test('job spans of one worker that overlap all count: the report says what the idle account says', async () => {
  const { importAll, reads } = openImports({ log: createCuzkReader });
  await importAll(gw2a);
  const [windows] = reads().showRun('r1').devices;
  const [idle] = readIdle(reads(), 'r1').devices;
  expect([windows?.job_span_ns, windows?.job_span_sum_ns]).toEqual([idle?.windows.job.ns, idle?.windows.job.sum_ns]);
  expect(windows?.lock_held_ns).toBe(idle?.windows.lock.ns);
  expect(windows?.job_span_sum_ns).toBeGreaterThan(1.5 * (windows?.job_span_ns ?? 0));
});

test('our own run is shown again as soon as it goes on after a followed import', async () => {
  const { begin, piece, imports, live } = openImports({ log: createCuzkReader });
  const take = (events: Parameters<typeof live.take>[1]) =>
    live.take(PROCESS_B, events, { events: events as never, losses: [], unparsed: 0 });
  take([makeEvent('hello', 0, 0, { process: PROCESS_B }), makeEvent('run_started', 1, 1, { run: 'r9' })]);
  const id = begin('x', true);
  await piece(id, gw2a);
  take([makeEvent('queued', 2, 2)]);
  expect(live.snapshot()?.run).toBe('r1');
  await imports.end(id);
  expect(live.snapshot()?.run).toBe('r1');
  take([makeEvent('queued', 3, 3, { partition: 1 })]);
  expect(live.snapshot()?.run).toBe('r9');
  expect(live.takeMessages()).toMatchObject([{ kind: 'snapshot', live: { run: 'r9' } }]);
});

test('a run that is over is computed once, whatever else happens', async () => {
  const { importAll, reads, db } = openImports({ log: createCuzkReader });
  await importAll(gw2a);
  const runs = reads();
  const first = readIdle(runs, 'r1');
  db.exec(`INSERT INTO hold (boot_id, from_ns, reason) VALUES ('b', '1', 'held')`);
  await importAll(own);
  expect(readIdle(runs, 'r1')).toBe(first);
  expect(readIdle(runs, 'r2')).not.toBe(first);
  const gaps = readGaps(runs, { run: 'r1', min_ns: 0, limit: 3 });
  expect(gaps.gaps).toHaveLength(3);
});

test('a hold of the host shows as held, in a stored run and an imported one', async () => {
  const events = [
    makeEvent('hello', 0, 0), makeEvent('ready', 0, 1), makeEvent('run_started', 0, 2),
    makeEvent('run_ended', 100, 3), makeEvent('bye', 100, 4),
  ]; // prettier-ignore
  const { importAll, reads } = openImports();
  await importAll(makeRunFile({ events, holds: [[20, 50]] }));
  expect(readIdle(reads(), 'r1').devices[0]?.idle_ns).toMatchObject({ held: 30, no_work: 70 });
});
