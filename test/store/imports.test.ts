/** Imports into the history: what comes again, longer, shorter, cut, packed or hostile. */
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { TimelineEvent } from '../../electron/contract/timeline-events.ts';
import { PIECE_BYTES } from '../../electron/contract/transfer.ts';
import { ALONE_MS } from '../../electron/store/imports.ts';
import { openImports, makeRunFile, UID } from '../support/imports.ts';
import { makeEvent, makeRun, PROCESS_A, PROCESS_B, SCHEDULER } from '../support/journal.ts';

const whole = makeRun({ proofs: 3, partitions: 4 });
const file = makeRunFile({ events: whole.events, holds: [[5, 9], [20, null]], attempt: 'p2' }); // prettier-ignore

const LOG = 'f0000000-0000-4000-8000-000000000001';
const logEvents = (count: number): TimelineEvent[] => [
  makeEvent('run_started', 0, 1, { run: 'r', scheduler: null }),
  ...Array.from({ length: count }, (_, index) => makeEvent('queued', 10 + index, index + 2, { partition: index })),
];
const logText = (count: number, uid = LOG) => `uid ${uid}\n${logEvents(count).map((event) => `${JSON.stringify(event)}\n`).join('')}`; // prettier-ignore

test('a run file comes in whole, wherever it is cut', async () => {
  for (const step of [1e6, 1000, 37]) {
    const { importAll, stored, db, reads } = openImports();
    const report = await importAll(file, step, '/home/op/r7.interlock.ndjson');
    expect(report).toMatchObject({ run: 'r1', events: whole.events.length, unparsed: 0, problems: [], more_problems: 0 });
    expect(report.runs).toEqual([
      { run: 'r1', name: 'r7.interlock.ndjson', state: 'finished', events: whole.events.length, proofs: 3, again: false },
    ]);
    expect(stored('r1')).toEqual(whole.events);
    expect(db.prepare('SELECT imported_from, origin_run, importing, state, ended_by FROM run').get()).toEqual({
      imported_from: 'r7.interlock.ndjson', origin_run: 'r7', importing: null, state: 'finished', ended_by: 'drained',
    }); // prettier-ignore
    expect(db.prepare('SELECT path, deleted, finished, events, last_seq, peak_rss_bytes FROM journal').get()).toEqual({
      path: '', deleted: 1, finished: 1, events: whole.events.length, last_seq: whole.events.length - 1, peak_rss_bytes: 2000,
    }); // prettier-ignore
    expect(db.prepare('SELECT run, boot_id, from_ns, to_ns FROM hold').all()).toEqual([
      { run: 'r1', boot_id: null, from_ns: '5', to_ns: '9' },
      { run: 'r1', boot_id: null, from_ns: '20', to_ns: null },
    ]);
    const shown = reads().showRun('r1');
    expect(shown).toMatchObject({ imported_from: 'r7.interlock.ndjson', state: 'finished', uid: UID });
    expect(shown.proofs).toHaveLength(3);
  }
});

test('the same bytes again change nothing at all', async () => {
  for (const input of [file, logText(200)]) {
    const { importAll, dump } = openImports();
    const first = await importAll(input);
    const before = dump();
    const again = await importAll(input, 999);
    expect(again.runs).toEqual(first.runs.map((run) => ({ ...run, again: true })));
    expect(dump()).toEqual(before);
  }
});

test('packed input, in several members, unpacks to the same', async () => {
  const half = file.length >> 1;
  for (const pack of [gzipSync, zstdCompressSync]) {
    const packed = Buffer.concat([pack(Buffer.from(file.slice(0, half))), pack(Buffer.from(file.slice(half)))]);
    for (const step of [1e6, 501, 1]) {
      const { importAll, stored } = openImports();
      const report = await importAll(packed, step);
      expect(report).toMatchObject({ run: 'r1', bytes: file.length, problems: [] });
      expect(stored('r1')).toEqual(whole.events);
    }
  }
});

test('cut in the middle of the packing: what came before is kept, and that it was cut is said', async () => {
  const noise = Array.from({ length: 40_000 }, (_, index) => `${(index * 2654435761) % 4294967291} !\n`).join('');
  for (const pack of [gzipSync, zstdCompressSync]) {
    const packed = pack(Buffer.from(logText(300) + noise));
    const { importAll, stored } = openImports();
    const report = await importAll(packed.subarray(0, packed.length - 20));
    expect(report.problems[0]).toMatchObject({ kind: 'torn', problem: expect.stringMatching(/end in the middle/) });
    expect(report.runs[0]).toMatchObject({ run: 'r1', state: 'interrupted' });
    if (pack === gzipSync) expect(stored('r1').length).toBeGreaterThan(300);
  }
});

test('a bomb costs time, not memory', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 2 ** 20, `${'x'.repeat(1021)} !\n`), { level: 9 });
  const { importAll } = openImports();
  const before = process.memoryUsage().rss;
  const report = await importAll(bomb);
  expect(report).toMatchObject({ run: null, bytes: 64 * 2 ** 20, unparsed: 65_536 });
  expect([report.problems.length, report.more_problems]).toEqual([1001, 65_536 - 1000]);
  expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(300);
});

test('a piece that is too large is refused', async () => {
  const { begin, piece } = openImports();
  await expect(piece(begin(), Buffer.alloc(PIECE_BYTES + 1))).rejects.toMatchObject({ code: 'too_large' });
});

test('other packings, nothing and nonsense are named', async () => {
  const { importAll, db } = openImports();
  expect((await importAll('')).problems).toMatchObject([{ problem: 'The input is empty.' }]);
  expect((await importAll(Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 1, 2]))).problems[0]?.problem).toMatch(/xz; gzip and zstd.*xzcat/);
  const nonsense = await importAll('hello !\nworld !\n');
  expect(nonsense).toMatchObject({ run: null, runs: [], unparsed: 2, lines: 2 });
  expect(nonsense.problems[0]?.problem).toMatch(/TIMELINE/);
  expect(db.prepare('SELECT count(*) FROM run').pluck().get()).toBe(0);
});

test('a longer copy of a log takes the place of the made-up end; a shorter one changes nothing', async () => {
  const { importAll, stored, reads, dump } = openImports();
  const real = (count: number) => stored('r1').slice(0, count + 2);
  await importAll(logText(100));
  expect(stored('r1').map((event) => event.e).slice(-2)).toEqual(['run_ended', 'bye']); // prettier-ignore
  const longer = await importAll(logText(1000), 777);
  expect(longer.runs).toMatchObject([{ run: 'r1', again: true, state: 'interrupted' }]);
  expect(real(1000).slice(1)).toEqual(logEvents(1000));
  expect(stored('r1')).toHaveLength(1004);
  const before = dump();
  const wall = reads().showRun('r1').wall_ns;
  await importAll(logText(100));
  expect(dump()).toEqual(before);
  expect(reads().showRun('r1').wall_ns).toBe(wall);
});

test('an older copy of a run changes nothing; a newer one takes its place', async () => {
  const older = makeRunFile({ events: whole.events.slice(0, 200), lasts: true });
  const { importAll, dump, stored, db } = openImports();
  expect((await importAll(older)).runs).toMatchObject([{ state: 'interrupted' }]);
  expect((await importAll(file)).runs).toMatchObject([{ state: 'finished', again: true }]);
  expect(stored('r1')).toEqual(whole.events);
  expect(db.prepare('SELECT ended FROM process').pluck().get()).toBe('drained');
  const before = dump();
  await importAll(older);
  expect(dump()).toEqual(before);
});

test('a run of this host, and a process of it, are never touched', async () => {
  const { importAll, processes, db, stored, dump } = openImports();
  const own = processes.createRun({ scheduler: SCHEDULER, backend: 'cpu', engine: 'builtin', emulate: null });
  processes.addProcess({ process: PROCESS_A, pid: 1, startTicks: '1', folder: '/', journal: '/j', backend: 'cpu', run: own.run });
  const before = dump();
  const same = await importAll(makeRunFile({ uid: own.uid, events: whole.events }));
  expect(same.runs).toMatchObject([{ run: 'r1', again: true, state: 'running' }]);
  expect(dump()).toEqual(before);
  const foreign = await importAll(makeRunFile({ events: whole.events }));
  expect(foreign.problems).toMatchObject([{ kind: 'note', problem: expect.stringMatching(/ran on this host/) }]);
  expect(stored('r2')).toEqual([]);
  expect(db.prepare('SELECT count(*) FROM event').pluck().get()).toBe(0);
  expect(processes.openRuns().map((run) => run.run)).toEqual(['r1']);
});

test('proofs of other hosts and our own keep apart, though they have the same names', async () => {
  const { importAll, db, reads } = openImports();
  db.exec(`INSERT INTO proof_attempt (proof, attempt, run, outcome, message) VALUES ('p2', 1, 'r9', 'valid', 'ours')`);
  await importAll(file);
  expect(db.prepare(`SELECT run, outcome, message FROM proof_attempt WHERE proof = 'p2'`).all()).toEqual([
    { run: 'r9', outcome: 'valid', message: 'ours' },
  ]);
  expect(db.prepare('SELECT run, proof, message FROM imported_attempt').all()).toEqual([{ run: 'r1', proof: 'p2', message: 'it fell' }]);
  expect(
    reads()
      .showRun('r1')
      .proofs.every((proof) => proof.path === null),
  ).toBe(true);
});

test('imported processes are nobody that lives', async () => {
  const { importAll, begin, piece, processes, db } = openImports();
  await importAll(file);
  await piece(begin(), logText(20));
  expect(db.prepare('SELECT count(*) FROM process WHERE ended IS NULL').pluck().get()).toBe(1);
  expect([processes.liveProcesses(), processes.journalsLeft(), processes.openRuns()]).toEqual([[], [], []]);
});

test('two runs of one process, imported in any order, are told in their own', async () => {
  const a = makeRun({ proofs: 1, partitions: 1 });
  const b = makeRun({ proofs: 1, partitions: 1, process: PROCESS_B });
  const { importAll, reads } = openImports();
  const only = await importAll(makeRunFile({ uid: 'only-b', events: b.events }));
  expect(only.run).toBe('r1');
  const [head = '', ...parts] = makeRunFile({ events: a.events }).trimEnd().split('\n');
  const second = makeRunFile({ events: b.events }).trimEnd().split('\n').slice(1, -1);
  const both = [head, ...parts.slice(0, -1), ...second].join('\n');
  const report = await importAll(`${both}\n`);
  expect(report.runs).toMatchObject([{ run: 'r2', events: a.events.length + b.events.length }]);
  expect(
    reads()
      .showRun('r2')
      .processes.map(({ process }) => process),
  ).toEqual([PROCESS_A, PROCESS_B]);
});

test('left alone for ten minutes, an import is ended; an empty piece keeps it', async () => {
  const { begin, piece, clock, db, imports } = openImports();
  const id = begin();
  await piece(id, logText(50));
  const states = () => db.prepare('SELECT state, importing IS NULL AS over, ended_by FROM run').get();
  await clock.advance(ALONE_MS - 1);
  await piece(id, '');
  await clock.advance(ALONE_MS - 1);
  expect(states()).toMatchObject({ state: 'running', over: 0 });
  await clock.advance(1);
  await imports.end(id);
  expect(states()).toEqual({ state: 'interrupted', over: 1, ended_by: 'the log ends' });
  await expect(piece(id, 'x')).rejects.toMatchObject({ code: 'not_found' });
  // What it came to may still be asked for.
  expect(await imports.end(id)).toMatchObject({ run: 'r1' });
});

test('killed between two pieces: the next start closes the run, and the same bytes complete it', async () => {
  const text = logText(400);
  for (const cut of [0, 60, text.length >> 1, text.length]) {
    const { begin, piece, db, importAll, stored } = openImports();
    const id = begin();
    await piece(id, text.slice(0, cut));
    // Nothing is ended: the process is gone. A new one opens the same database.
    const next = openImports();
    next.db.close();
    const { Imports } = await import('../../electron/store/imports.ts');
    new Imports({
      clock: { nowNs: () => 0, wallMs: () => 5, after: () => ({ cancel: () => undefined }) },
      live: {} as never,
      readers: {} as never,
      transact: (work) => work(db, {} as never),
    });
    expect(db.prepare(`SELECT count(*) FROM run WHERE state = 'running' OR importing IS NOT NULL`).pluck().get()).toBe(0);
    const report = await importAll(text, 1234);
    expect(report.runs).toMatchObject([{ run: 'r1', again: cut >= 60 }]);
    expect(stored('r1').slice(1, -2)).toEqual(logEvents(400));
  }
});

test('a full disk ends the import, keeps what was durable, and the import can be made again', async () => {
  const { begin, piece, db, imports, fillDisk, importAll, stored } = openImports();
  const text = logText(300);
  const id = begin();
  await piece(id, text.slice(0, 2000));
  fillDisk(true);
  await expect(piece(id, text.slice(2000))).rejects.toThrow(/full/);
  fillDisk(false);
  await expect(piece(id, 'x')).rejects.toThrow(/full/);
  await expect(imports.end(id)).rejects.toThrow(/full/);
  expect(db.prepare('SELECT state, importing FROM run').get()).toEqual({ state: 'interrupted', importing: null });
  await importAll(text);
  expect(stored('r1').slice(1, -2)).toEqual(logEvents(300));
});

test('64 bits are the same digits on the way in and out', async () => {
  const events = [
    makeEvent('hello', 0, 0, { wall_ns: '9007199254740993', monotonic_ns: '18446744073709551615', start_ticks: '9007199254740993' }),
    makeEvent('run_started', 0, 1),
    makeEvent('proof_accepted', 2 ** 53 - 1, 2, { submitted_wall_ns: '1796043668729000001', deadline_wall_ns: '9007199254740993' }),
    makeEvent('permit_asked', 2 ** 53 - 2, 3, { bytes: 2 ** 53 - 1 }),
    makeEvent('clock_map', 5, 4, { device_ns: '-9007199254740993' }),
  ];
  const { importAll, stored } = openImports();
  await importAll(makeRunFile({ events }));
  expect(stored('r1')).toEqual(events);
});

test('names are text, whatever is in them', async () => {
  const { importAll, db } = openImports();
  for (const name of ['../../etc/passwd', "'; DROP TABLE run; --", '\u001b[31mred', '   '])
    await importAll(logText(1, `${db.prepare('SELECT count(*) FROM run').pluck().get()}-x`), 1e6, name);
  expect(db.prepare('SELECT imported_from FROM run ORDER BY id').pluck().all()).toEqual([
    'passwd',
    "'; DROP TABLE run; --",
    '\u001b[31mred',
    'unnamed',
  ]);
});

test('a followed log is live on screen, up to what it has told', async () => {
  const { begin, piece, live, imports } = openImports();
  const id = begin('cuzk.log', true);
  expect(live.takeMessages()).toEqual([{ kind: 'no_run' }]);
  const text = logText(40);
  await piece(id, text.slice(0, text.length - 400));
  const [first] = live.takeMessages();
  expect(first).toMatchObject({ kind: 'snapshot', live: { run: 'r1' } });
  const before = live.snapshot()?.horizonNs ?? 0;
  await piece(id, text.slice(text.length - 400));
  expect(live.snapshot('r1')?.horizonNs).toBe(49);
  expect(before).toBeLessThan(49);
  await imports.end(id);
  expect(live.snapshot()?.endedNs).toBe(50);
  // Not followed: the screen stays as it is.
  const other = openImports();
  await other.importAll(text);
  expect(other.live.snapshot()).toBeNull();
});
