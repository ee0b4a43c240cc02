/** The store as the host sees it, with real files and threads. */
import { appendFileSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { LiveMessage } from '../../electron/contract/live.ts';
import type { TimelineEvent } from '../../electron/contract/timeline-events.ts';
import { openStore, openStoreReadOnly } from '../../electron/store/store.ts';
import { workerClock } from '../../electron/store/worker-clock.ts';
import { makeRun, PROCESS_A, PROCESS_B } from '../support/journal.ts';
import { beginProcess, openTestStore, SPEC } from '../support/open-store.ts';
import { tempFolder } from '../support/temp-folder.ts';

test('a journal written while it is followed arrives whole, in order, after it is durable', async () => {
  const folder = tempFolder();
  const store = await openTestStore(folder);
  const { run, journal } = await beginProcess(store, folder);
  const heard: TimelineEvent[] = [];
  const live: LiveMessage[] = [];
  store.onCommitted((batch) => heard.push(...batch.events));
  store.onLive((message) => live.push(message));
  await store.follow(PROCESS_A);
  const lines = makeRun({ proofs: 3, partitions: 2 });
  for (let at = 0; at < lines.text.length; at += 1_000) appendFileSync(journal, lines.text.slice(at, at + 1_000));
  await store.finishFollowing(PROCESS_A);
  expect(heard).toEqual(lines.events);
  await store.closeProcess(PROCESS_A, { ended: 'drained', exit: 0, signal: null });
  expect(await store.journalDone(PROCESS_A)).toMatchObject({ done: false, reason: 'run r1 is open' });
  await store.closeRun(run, { state: 'finished', endedBy: 'drained', atLastEvent: false });
  expect(await store.journalDone(PROCESS_A)).toEqual({ done: true, reason: null, events: lines.events.length, lost: 0, unparsed: 0 });

  const report = await store.showRun('last');
  expect(report).toMatchObject({ run: 'r1', state: 'finished', events: { count: lines.events.length, lost: 0, unparsed: 0 } });
  expect(report.devices[0]).toMatchObject({ device: 'cpu0', kernel_ns: 6 * 100e6, kernel_sum_ns: 6 * 100e6, lock_held_ns: 6 * 100e6 });
  expect(report.proofs.map((proof) => [proof.id, proof.outcome, proof.partitions.length])).toEqual([
    ['p1', 'valid', 2],
    ['p2', 'valid', 2],
    ['p3', 'valid', 2],
  ]);
  const snapshot = await store.liveSnapshot();
  expect(snapshot?.figures.run).toEqual(report.devices);
  expect(snapshot?.endedNs).toBe(report.wall_ns);
  const { runs } = await store.listRuns({ limit: 10 });
  expect(runs).toMatchObject([{ run: 'r1', proofs: { valid: 3, running: 0 } }]);
  expect((await store.listRuns({ limit: 10 })).runs).toEqual(runs);
});

test('events are read back in pages, with the run clock beside the process clock', async () => {
  const folder = tempFolder();
  const store = await openTestStore(folder);
  const { journal } = await beginProcess(store, folder);
  const lines = makeRun({ proofs: 2, partitions: 2 });
  writeFileSync(journal, lines.text);
  await store.follow(PROCESS_A);
  await store.finishFollowing(PROCESS_A);
  const got: Record<string, unknown>[] = [];
  for (let after: string | undefined; ;) {
    const page = await store.readEvents({ run: 'r1', after, limit: 7 });
    expect(page.lines.length).toBeLessThanOrEqual(7);
    got.push(...page.lines.map((line) => JSON.parse(line) as Record<string, unknown>));
    if (page.next === null) break;
    after = page.next;
  }
  const start = lines.events.find((event) => event.e === 'run_started')?.t ?? 0;
  expect(got).toEqual(lines.events.map((event) => ({ ...event, process: PROCESS_A, run_t: event.t - start })));
  await expect(store.readEvents({ run: 'r1', after: 'nonsense', limit: 1 })).rejects.toMatchObject({ code: 'usage' });
  await expect(store.showRun('r77')).rejects.toMatchObject({ code: 'not_found' });
});

test('a reopened store goes on from the last committed byte and shows the run live again', async () => {
  const folder = tempFolder();
  const first = await openStore({ folder, clock: workerClock });
  const { journal } = await beginProcess(first, folder);
  const lines = makeRun({ proofs: 4, partitions: 2 });
  const half = lines.text.length >> 1;
  writeFileSync(journal, lines.text.slice(0, half));
  await first.follow(PROCESS_A);
  await expect.poll(async () => (await first.ingestStatus()).following[0]?.lastSeq).toBeGreaterThan(50);
  await first.close();

  const store = await openTestStore(folder);
  const [record] = await store.liveProcesses();
  expect(record?.committedBytes).toBeGreaterThan(0);
  expect((await store.openRuns())[0]).toMatchObject({ run: 'r1', processes: [PROCESS_A] });
  await store.follow(PROCESS_A);
  expect((await store.liveSnapshot('r1'))?.proofs.length).toBeGreaterThan(0);
  appendFileSync(journal, lines.text.slice(half));
  await store.finishFollowing(PROCESS_A);
  const report = await store.showRun('r1');
  expect(report.events.count).toBe(lines.events.length);
  expect((await store.liveSnapshot('r1'))?.figures.run).toEqual(report.devices);
});

test('a run that a second process goes on with has one axis', async () => {
  const folder = tempFolder();
  const store = await openTestStore(folder);
  const { journal } = await beginProcess(store, folder);
  writeFileSync(journal, makeRun({ proofs: 1, partitions: 2, open: true }).text);
  await store.follow(PROCESS_A);
  await store.finishFollowing(PROCESS_A);
  await store.closeProcess(PROCESS_A, { ended: 'killed by signal 9, not by us', exit: null, signal: 'SIGKILL' });
  const second = await beginProcess(store, folder, PROCESS_B, 'r1');
  const lines = makeRun({ process: PROCESS_B, proofs: 1, partitions: 2, firstProof: 2 });
  Object.assign(lines.lines[0] ?? {}, { monotonic_ns: '15000000000' });
  writeFileSync(second.journal, lines.text);
  await store.follow(PROCESS_B);
  await store.finishFollowing(PROCESS_B);
  const report = await store.showRun('r1');
  // The second process's origin is 10 s after the first's, and the run began 10 ms into the first.
  const end = lines.events.find((event) => event.e === 'run_ended')?.t ?? 0;
  expect(report.wall_ns).toBe(10e9 + end - 10e6);
  expect(report.processes).toHaveLength(2);
  expect(report.devices[0]?.kernel_ns).toBe(4 * 100e6);
  expect((await store.liveSnapshot())?.figures.run).toEqual(report.devices);
});

test('a torn tail, a bad line and a hole are facts, not events', async () => {
  const folder = tempFolder();
  const store = await openTestStore(folder);
  const { journal } = await beginProcess(store, folder);
  const lines = makeRun({ proofs: 2, partitions: 1 }).text.split('\n');
  lines[5] = '{"seq":5,"t":1,"e":"no_such_event"}';
  lines[9] = '\u0000\u0001';
  writeFileSync(journal, `${lines.join('\n')}{"seq":999,"t"`);
  await store.follow(PROCESS_A);
  await store.finishFollowing(PROCESS_A);
  await store.closeProcess(PROCESS_A, { ended: 'drained', exit: 0, signal: null });
  await store.closeRun('r1', { state: 'finished', endedBy: 'drained', atLastEvent: false });
  expect(await store.journalDone(PROCESS_A)).toMatchObject({ done: true, lost: 2, unparsed: 2 });
  expect((await store.showRun('r1')).events).toMatchObject({ lost: 2, unparsed: 2 });
});

test('a journal of a newer format, or of another process, is left alone', async () => {
  const folder = tempFolder();
  const store = await openTestStore(folder);
  const { journal } = await beginProcess(store, folder);
  writeFileSync(journal, makeRun({ proofs: 1, partitions: 1 }).text.replace('"format":1', '"format":3'));
  await store.follow(PROCESS_A);
  await store.finishFollowing(PROCESS_A);
  expect(store.notices).toMatchObject([{ code: 'journal_too_new', severity: 'error' }]);
  expect((await store.readEvents({ run: 'r1', limit: 10 })).lines).toEqual([]);
  const second = await beginProcess(store, folder, PROCESS_B, 'r1');
  writeFileSync(second.journal, makeRun({ proofs: 1, partitions: 1 }).text);
  await store.follow(PROCESS_B);
  await store.finishFollowing(PROCESS_B);
  expect(store.notices).toHaveLength(2);
});

test('only the wanted events cross the thread boundary', async () => {
  const folder = tempFolder();
  const store = await openTestStore(folder);
  const { journal } = await beginProcess(store, folder);
  const heard: string[] = [];
  const stop = store.onCommitted((batch) => heard.push(...batch.events.map((event) => event.e)), ['proof_ended', 'bye']);
  writeFileSync(journal, makeRun({ proofs: 2, partitions: 1 }).text);
  await store.follow(PROCESS_A);
  await store.finishFollowing(PROCESS_A);
  expect(heard).toEqual(['proof_ended', 'proof_ended', 'bye']);
  stop();
});

test('closing empties the WAL, modes are private, a backup opens', async () => {
  const folder = tempFolder();
  const store = await openStore({ folder, clock: workerClock });
  await store.addProofs([SPEC]);
  expect(statSync(path.join(folder, 'history.sqlite')).mode & 0o777).toBe(0o600);
  expect(statSync(path.join(folder, 'history.sqlite-wal')).mode & 0o777).toBe(0o600);
  expect(statSync(path.join(folder, 'host.lock')).mode & 0o777).toBe(0o600);
  const copy = path.join(folder, 'copy');
  await store.backup(path.join(folder, 'copy.sqlite'));
  await expect(store.backup(path.join(folder, 'copy.sqlite'))).rejects.toThrow();
  await store.close();
  expect(readdirSync(folder).sort()).toEqual(['copy.sqlite', 'history.sqlite', 'host.lock']);
  expect(existsSync(copy)).toBe(false);
  await expect(store.addProofs([SPEC])).rejects.toMatchObject({ code: 'interrupted' });
});

test('a second host is refused by name; a reader beside it works', async () => {
  const folder = tempFolder();
  const store = await openTestStore(folder);
  await store.addProofs([SPEC, SPEC]);
  await expect(openStore({ folder, clock: workerClock })).rejects.toMatchObject({ code: 'host_running', detail: { pid: process.pid } });
  const reader = await openStoreReadOnly({ folder, clock: workerClock });
  expect(await reader.listProofs({ state: 'any', limit: 5 })).toHaveLength(2);
  await expect(reader.addProofs([SPEC])).rejects.toMatchObject({ code: 'read_only' });
  await reader.close();
});
