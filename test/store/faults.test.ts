/** The store under faults: killed again and again, a full disk, a disk that answers with errors, a reader that never ends. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import type { TimelineEvent } from '../../electron/contract/timeline-events.ts';
import { Ingest } from '../../electron/store/ingest.ts';
import { journalFiles } from '../../electron/store/journal-files.ts';
import { LiveFeed } from '../../electron/store/live-feed.ts';
import { openWriter } from '../../electron/store/open.ts';
import { workerClock } from '../../electron/store/worker-clock.ts';
import { makeRun, PROCESS_A } from '../support/journal.ts';
import { beginProcess, openTestStore, SPEC } from '../support/open-store.ts';
import { tempFolder } from '../support/temp-folder.ts';

const CHILD = fileURLToPath(new URL('../support/store-child.ts', import.meta.url));
const KILLS = Number(process.env.INTERLOCK_KILLS ?? 50);

interface Said {
  opened?: boolean;
  lastSeq?: number;
  proofs?: string[];
  finished?: string;
  answer?: { accepted: boolean };
  failing?: string | null;
  error?: string;
  notices?: string[];
}

/** Whole lines only: the last one may be cut by the kill. */
const parseSaid = (text: string): Said[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Said);

/** What must hold after any end of a host: everything it was told is durable is there, once. */
function checkHistory(folder: string, said: Said[], events: TimelineEvent[]): { stored: number } {
  const db = new Database(path.join(folder, 'history.sqlite'));
  try {
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    const stored = db.prepare('SELECT count(*) FROM event').pluck().get() as number;
    const journal = db.prepare('SELECT last_seq AS lastSeq, events, committed_bytes AS bytes FROM journal').get() as
      { lastSeq: number; events: number } | undefined;
    const told = Math.max(-1, ...said.map((line) => line.lastSeq ?? -1));
    expect(journal?.lastSeq ?? -1).toBeGreaterThanOrEqual(told);
    if (journal) expect([stored, journal.events]).toEqual([journal.lastSeq + 1, journal.lastSeq + 1]);
    expect(db.prepare('SELECT count(*) FROM problem').pluck().get()).toBe(0);
    const last = db.prepare('SELECT t FROM event ORDER BY seq DESC LIMIT 1').pluck().get() as number | undefined;
    if (last !== undefined) expect(last).toBe(events[stored - 1]?.t);
    const proofs = new Map(
      (db.prepare('SELECT proof, state FROM proof').all() as { proof: string; state: string }[]).map((row) => [row.proof, row.state]),
    );
    for (const line of said) for (const proof of line.proofs ?? []) expect(proofs.has(proof), proof).toBe(true);
    for (const line of said) if (line.finished && line.answer?.accepted) expect(proofs.get(line.finished)).toBe('valid');
    return { stored };
  } finally {
    db.close();
  }
}

test(`killed ${KILLS} times under load: nothing that was told is lost or doubled`, { timeout: 300_000 }, async () => {
  const folder = tempFolder();
  const data = path.join(folder, 'data');
  const journal = path.join(folder, 'journal.ndjson');
  const lines = makeRun({ proofs: 400, partitions: 10 });
  const step = Math.ceil(lines.text.length / KILLS);
  let said: Said[] = [];
  let midCommit = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    appendFileSync(journal, lines.text.slice(kill * step, (kill + 1) * step));
    const child = spawn(process.execPath, [CHILD, data, journal], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    // After so many things said, whatever the machine's speed, and a little later.
    const wanted = (kill * 7) % 13;
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.split('\n').length > wanted) resolve();
      });
      child.once('exit', () => resolve());
    });
    await new Promise((resolve) => setTimeout(resolve, (kill * 5) % 17));
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
    const life = parseSaid(text);
    expect(life.filter((line) => (line.notices ?? []).length > 0)).toEqual([]);
    said = [...said, ...life];
    if (existsSync(path.join(data, 'history.sqlite-wal')) && statSync(path.join(data, 'history.sqlite-wal')).size > 0) midCommit += 1;
    checkHistory(data, said, lines.events);
  }
  // The kills did hit hosts at work.
  expect(midCommit).toBeGreaterThan(KILLS / 2);
  expect(said.filter((line) => line.finished).length).toBeGreaterThan(KILLS / 2);
  const store = await openTestStore(data);
  await store.follow(PROCESS_A);
  await store.finishFollowing(PROCESS_A);
  await store.close();
  expect(checkHistory(data, said, lines.events).stored).toBe(lines.events.length);
});

/** A small file system of its own, or null where mounting is not permitted. */
function mountTmpfs(size: string): string | null {
  const folder = tempFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', folder], { stdio: 'ignore' });
  } catch {
    return null;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
  return folder;
}

test(
  'a disk that fills up in mid-run: nothing is told that is not durable, and all arrives once there is room',
  { timeout: 60_000 },
  async ({ skip }) => {
    const disk = mountTmpfs('6m');
    if (disk === null) return skip('mount is not permitted here');
    const elsewhere = tempFolder();
    const data = path.join(disk, 'data');
    const store = await openTestStore(data);
    const { journal } = await beginProcess(store, elsewhere);
    const heard: TimelineEvent[] = [];
    const failing: (string | null)[] = [];
    store.onCommitted((batch) => heard.push(...batch.events));
    store.onFailing((now) => failing.push(now?.code ?? null));
    await store.follow(PROCESS_A);
    const lines = makeRun({ proofs: 120, partitions: 10 });
    const half = lines.text.length >> 1;
    writeFileSync(journal, lines.text.slice(0, half));
    await expect.poll(() => heard.length).toBeGreaterThan(100);
    const filler = path.join(disk, 'filler');
    fillUp(filler);
    appendFileSync(journal, lines.text.slice(half));
    await expect.poll(() => failing.at(-1), { timeout: 10_000 }).toBe('disk_full');
    expect(await store.ingestStatus()).toMatchObject({ failing: { code: 'disk_full' } });
    await expect(store.addProofs([SPEC])).rejects.toMatchObject({ code: 'disk_full' });
    const told = heard.length;
    expect(told).toBeLessThan(lines.events.length);
    rmSync(filler);
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(lines.events.length);
    expect(failing.at(-1)).toBeNull();
    expect(heard).toEqual(lines.events);
    expect(await store.addProofs([SPEC])).toHaveLength(1);
    await store.finishFollowing(PROCESS_A);
    await store.close();
    checkHistory(data, [{ lastSeq: lines.events.length - 1 }], lines.events);
  },
);

function fillUp(file: string): void {
  const descriptor = openSync(file, 'w');
  for (const size of [65536, 4096, 256, 1]) {
    for (let wrote = size; wrote === size;) {
      try {
        wrote = writeSync(descriptor, Buffer.alloc(size));
      } catch {
        wrote = 0;
      }
    }
  }
  closeSync(descriptor);
}

const canTrace = spawnSync('strace', ['-f', '-e', 'trace=none', 'true'], { stdio: 'ignore' }).status === 0;

test.skipIf(!canTrace).each([2, 9, 15, 24, 40])(
  'the %dth fsync fails: what it was for is told only after a fresh connection has it',
  { timeout: 60_000 },
  async (nth) => {
    // Counted in each thread by itself: 2 is the lock's, the others are the writer's.
    const folder = tempFolder();
    const data = path.join(folder, 'data');
    mkdirSync(data, { mode: 0o700 });
    const journal = path.join(folder, 'journal.ndjson');
    const out = path.join(folder, 'said');
    const trace = path.join(folder, 'trace');
    const lines = makeRun({ proofs: 60, partitions: 10 });
    writeFileSync(journal, lines.text);
    const child = spawn(
      'strace',
      [
        '-f',
        '-qq',
        '-o',
        trace,
        '-e',
        'trace=fsync',
        '-e',
        `inject=fsync:error=EIO:when=${nth}`,
        process.execPath,
        CHILD,
        data,
        journal,
        out,
      ],
      {
        stdio: 'ignore',
        detached: true,
      },
    );
    const said = () => (existsSync(out) ? parseSaid(readFileSync(out, 'utf8')) : []);
    const refused = () => child.exitCode !== null;
    await expect.poll(() => refused() || said().some((line) => line.lastSeq === lines.events.length - 1), { timeout: 40_000 }).toBe(true);
    await expect.poll(() => readFileSync(trace, 'utf8').includes('(INJECTED)'), { timeout: 20_000 }).toBe(true);
    const before = said().length;
    await expect
      .poll(
        () =>
          refused() ||
          said()
            .slice(before)
            .filter((line) => line.finished).length > 3,
        { timeout: 20_000 },
      )
      .toBe(true);
    if (refused()) {
      // It met the error while it was opening: it said so and went, and the next one opens.
      expect(said()).toEqual([]);
      await (await openTestStore(data)).close();
    } else {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
      await new Promise((resolve) => child.once('close', resolve));
      checkHistory(data, said(), lines.events);
      const failed = said().filter((line) => (line.failing ?? null) !== null || line.error);
      expect(failed.length).toBeGreaterThan(nth > 10 ? 0 : -1);
    }
  },
);

test(
  'a reader that never ends is told of before the WAL passes its bound; without it the WAL is folded in',
  { timeout: 120_000 },
  async () => {
    const folder = tempFolder();
    const opened = openWriter({ folder, wallMs: 0 });
    if (!opened.db) throw new Error('not opened');
    const wal = path.join(folder, 'history.sqlite-wal');
    const journal = path.join(folder, 'journal.ndjson');
    writeFileSync(journal, makeRun({ proofs: 500, partitions: 10 }).text);
    const stuck = new Database(path.join(folder, 'history.sqlite'), { readonly: true });
    let largest = 0;
    let endedAt = 0;
    const ingest: Ingest = new Ingest({
      folder,
      db: opened.db,
      clock: workerClock,
      files: journalFiles,
      live: new LiveFeed(workerClock),
      walTellBytes: 4 * 2 ** 20,
      sink: {
        committed: () => (largest = Math.max(largest, statSync(wal).size)),
        state: () => undefined,
        notice: () => undefined,
        failing: () => undefined,
        walLarge(bytes) {
          // The store's door ends its reading thread here.
          if (endedAt === 0) stuck.close();
          endedAt ||= bytes;
        },
      },
    });
    ingest.processes.addProcess({ process: PROCESS_A, pid: 1, startTicks: '1', folder, journal, backend: 'cpu', run: null });
    stuck.exec('BEGIN');
    stuck.prepare('SELECT count(*) FROM process').get();
    ingest.follow(PROCESS_A);
    await ingest.finishFollowing(PROCESS_A);
    expect(endedAt).toBeGreaterThan(4 * 2 ** 20);
    // It was folded in behind the reader's back as soon as that was gone, and did not grow on.
    expect(largest).toBeLessThan(endedAt + 6 * 2 ** 20);
    // In the next idle moment.
    await expect.poll(() => statSync(wal).size, { timeout: 5_000 }).toBe(0);
    ingest.close();
    opened.db.close();
  },
);
