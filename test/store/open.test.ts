/** Opening by rule. For each guard: the fault, and what is done about it. */
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
  closeSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lockFolder, readHolder } from '../../electron/store/lock.ts';
import { SCHEMA_VERSION } from '../../electron/store/migrations/index.ts';
import { openReader, openWriter, setMeta, type Opened } from '../../electron/store/open.ts';
import { openStore } from '../../electron/store/store.ts';
import { workerClock } from '../../electron/store/worker-clock.ts';
import { SPEC } from '../support/open-store.ts';
import { tempFolder } from '../support/temp-folder.ts';

const WALL_MS = Date.UTC(2026, 10, 30, 12, 0, 0);
const open = (folder: string, more: object = {}): Opened => {
  const opened = openWriter({ folder, wallMs: WALL_MS, ...more });
  onTestFinished(() => void opened.db?.close());
  return opened;
};
const database = (folder: string) => path.join(folder, 'history.sqlite');

/** A closed history with some pages in it. */
function makeHistory(folder: string): void {
  const { db } = openWriter({ folder, wallMs: WALL_MS });
  if (!db) throw new Error('not opened');
  const insert = db.prepare('INSERT INTO word (word) VALUES (?)');
  db.exec('BEGIN');
  for (let n = 0; n < 2_000; n++) insert.run(`word number ${n}`);
  db.exec('COMMIT');
  setMeta(db, 'clean_shutdown', '1');
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}

test('every connection is set as the rules say, read back after a write', () => {
  const folder = path.join(tempFolder(), 'new', 'data');
  const { db, readOnly, notices } = open(folder);
  expect([readOnly, notices]).toEqual([null, []]);
  const pragma = (name: string) => db?.pragma(name, { simple: true });
  expect({
    journal_mode: pragma('journal_mode'), synchronous: pragma('synchronous'), trusted_schema: pragma('trusted_schema'),
    cell_size_check: pragma('cell_size_check'), mmap_size: pragma('mmap_size'), foreign_keys: pragma('foreign_keys'),
    journal_size_limit: pragma('journal_size_limit'), busy_timeout: pragma('busy_timeout'), user_version: pragma('user_version'),
  }).toEqual({
    journal_mode: 'wal', synchronous: 2, trusted_schema: 0, cell_size_check: 1, mmap_size: 0, foreign_keys: 1,
    journal_size_limit: 64 * 2 ** 20, busy_timeout: 2000, user_version: SCHEMA_VERSION,
  }); // prettier-ignore
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(database(folder)).mode & 0o777).toBe(0o600);
});

test('a connection that falls to NORMAL is refused', () => {
  expect(() => open(tempFolder(), { synchronous: 'NORMAL' })).toThrow(/not survive a power cut/);
});

test('a reader cannot write', () => {
  const folder = tempFolder();
  makeHistory(folder);
  const db = openReader(folder);
  onTestFinished(() => void db?.close());
  expect(db?.prepare('SELECT count(*) FROM word').pluck().get()).toBe(2_000);
  expect(() => db?.exec('DELETE FROM word')).toThrow(/readonly|query_only/);
  expect(openReader(tempFolder())).toBeNull();
});

test('a history of a newer program is shown and stays byte for byte as it was', async () => {
  const folder = tempFolder();
  makeHistory(folder);
  const newer = new Database(database(folder));
  newer.pragma(`user_version = ${SCHEMA_VERSION + 10}`);
  newer.close();
  const before = readFileSync(database(folder));
  const store = await openStore({ folder, clock: workerClock });
  expect(store.access.readOnly).toMatchObject({ code: 'newer_data' });
  await expect(store.addProofs([SPEC])).rejects.toMatchObject({ code: 'newer_data' });
  expect(await store.listRuns({ limit: 5 })).toEqual({ runs: [], more: false });
  await store.close();
  expect(readFileSync(database(folder)).equals(before)).toBe(true);
  expect(readdirSync(folder).filter((name) => name.startsWith('damaged'))).toEqual([]);
});

test('a newer version that stands in the WAL alone is seen', () => {
  const folder = tempFolder();
  makeHistory(folder);
  const newer = new Database(database(folder));
  newer.pragma('journal_mode = WAL');
  newer.pragma(`user_version = ${SCHEMA_VERSION + 10}`);
  const copy = tempFolder();
  for (const suffix of ['', '-wal']) copyFileSync(database(folder) + suffix, database(copy) + suffix);
  newer.close();
  const before = readFileSync(database(copy));
  expect(open(copy).readOnly).toMatchObject({ code: 'newer_data' });
  expect(readFileSync(database(copy)).equals(before)).toBe(true);
});

describe('a damaged history is kept under a dated name and a new one begins', () => {
  const damages: Record<string, (file: string) => void> = {
    'text instead of a database': (file) => writeFileSync(file, 'this is not a database, it is a letter to my aunt. '.repeat(30)),
    'a page in the middle overwritten': (file) => overwrite(file, 4096 * 3, Buffer.alloc(4096, 0x5a)),
    'cut short': (file) => truncateSync(file, 4096 * 5),
    'a few bytes': (file) => writeFileSync(file, 'SQL'),
  };
  test.each(Object.entries(damages))('%s', (_, damage) => {
    const folder = tempFolder();
    makeHistory(folder);
    writeFileSync(`${database(folder)}-wal`, 'a WAL that goes with it');
    damage(database(folder));
    const damaged = readFileSync(database(folder));
    const { db, readOnly, notices } = open(folder);
    expect(readOnly).toBeNull();
    expect(notices).toMatchObject([{ code: 'corrupt_data', severity: 'error' }]);
    expect(notices[0]?.message).toContain('damaged-2026-11-30T12-00-00Z.sqlite');
    expect(db?.prepare('SELECT count(*) FROM word').pluck().get()).toBe(0);
    expect(readFileSync(path.join(folder, 'damaged-2026-11-30T12-00-00Z.sqlite')).equals(damaged)).toBe(true);
    expect(readFileSync(path.join(folder, 'damaged-2026-11-30T12-00-00Z.sqlite-wal'), 'utf8')).toBe('a WAL that goes with it');
    db?.close();
    // The next damage gets a name of its own.
    overwrite(database(folder), 0, Buffer.from('no'));
    open(folder);
    expect(readdirSync(folder)).toContain('damaged-2026-11-30T12-00-00Z-2.sqlite');
  });

  function overwrite(file: string, at: number, bytes: Buffer): void {
    const descriptor = openSync(file, 'r+');
    writeSync(descriptor, bytes, 0, bytes.length, at);
    closeSync(descriptor);
  }
});

test('a database that the background check marked is put aside at the next opening', () => {
  const folder = tempFolder();
  makeHistory(folder);
  writeFileSync(path.join(folder, 'history.sqlite.damaged'), 'page 7 is odd');
  const { notices } = open(folder);
  expect(notices[0]?.message).toContain('page 7 is odd');
  expect(readdirSync(folder).filter((name) => name.startsWith('damaged')).length).toBe(2);
});

test('network file systems are refused, with the reason', async () => {
  for (const [type, name] of [
    [0x6969, 'NFS'],
    [0xff534d42, 'CIFS'],
    [-11317950, 'CIFS'],
    [0x65735546, 'FUSE'],
  ] as const) {
    // prettier-ignore
    await expect(openStore({ folder: tempFolder(), clock: workerClock, fileSystemType: type })).rejects.toMatchObject({
      code: 'folder_unusable',
      message: expect.stringContaining(name) as string,
    });
  }
});

test('a folder that is a file, or cannot be made, is told', async () => {
  const file = path.join(tempFolder(), 'file');
  writeFileSync(file, '');
  await expect(openStore({ folder: file, clock: workerClock })).rejects.toMatchObject({ code: 'folder_unusable' });
  await expect(openStore({ folder: '/proc/none/here', clock: workerClock })).rejects.toMatchObject({ code: 'folder_unusable' });
});

test('our folder is closed to others; a foreign one is left alone and told', () => {
  const ours = tempFolder();
  makeHistory(ours);
  chmodSync(ours, 0o755);
  expect(open(ours).notices).toEqual([]);
  expect(statSync(ours).mode & 0o777).toBe(0o700);
  const foreign = tempFolder();
  mkdirSync(path.join(foreign, 'thesis'));
  chmodSync(foreign, 0o755);
  expect(open(foreign).notices).toMatchObject([{ severity: 'warning' }]);
  expect(statSync(foreign).mode & 0o777).toBe(0o755);
});

describe('the folder’s lock', () => {
  const script = fileURLToPath(new URL('../support/hold-lock.ts', import.meta.url));
  const start = (folder: string) => {
    const child = spawn(process.execPath, [script, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
    const said = new Promise<string>((resolve) => child.stdout.once('data', (data: Buffer) => resolve(data.toString().trim())));
    const exited = new Promise((resolve) => child.once('exit', resolve));
    return { child, said, exited };
  };

  test('names its holder, and a kill -9 frees it at once', async () => {
    const folder = tempFolder();
    const first = start(folder);
    expect(await first.said).toBe('held');
    expect(() => lockFolder(folder, WALL_MS)).toThrow(new RegExp(`pid ${first.child.pid} on`));
    expect(readHolder(folder)).toMatchObject({ pid: first.child.pid });
    first.child.kill('SIGKILL');
    await first.exited;
    lockFolder(folder, WALL_MS).release();
    // A file that names a living pid, but that nobody holds, blocks nobody.
    lockFolder(folder, WALL_MS).release();
    expect(existsSync(path.join(folder, 'host.lock'))).toBe(true);
  });

  test('of twelve that start at once, one holds it', async () => {
    const folder = tempFolder();
    const all = Array.from({ length: 12 }, () => start(folder));
    const said = await Promise.all(all.map((each) => each.said));
    expect(said.filter((word) => word === 'held')).toHaveLength(1);
    expect(said.filter((word) => word === 'host_running')).toHaveLength(11);
    for (const { child } of all) child.kill('SIGKILL');
    await Promise.all(all.map((each) => each.exited));
  });
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

test('a file system that cannot be written: shown, not changed', async ({ skip }) => {
  const folder = mountTmpfs('20m');
  if (folder === null) return skip('mount is not permitted here');
  const data = path.join(folder, 'data');
  const first = await openStore({ folder: data, clock: workerClock });
  await first.addProofs([SPEC]);
  await first.close();
  execFileSync('mount', ['-o', 'remount,ro', folder]);
  const store = await openStore({ folder: data, clock: workerClock });
  expect(store.access.readOnly).toMatchObject({ code: 'read_only' });
  expect(await store.listProofs({ state: 'any', limit: 5 })).toHaveLength(1);
  await expect(store.addProofs([SPEC])).rejects.toMatchObject({ code: 'read_only' });
  await store.close();
});

test('a full disk at the start: shown, not changed, and no damage claimed', async ({ skip }) => {
  const folder = mountTmpfs('2m');
  if (folder === null) return skip('mount is not permitted here');
  const data = path.join(folder, 'data');
  mkdirSync(data);
  makeHistory(data);
  fillUp(folder);
  const store = await openStore({ folder: data, clock: workerClock });
  expect(store.access.readOnly).toMatchObject({ code: 'disk_full' });
  await expect(store.addProofs([SPEC])).rejects.toMatchObject({ code: 'disk_full' });
  await store.close();
  expect(readdirSync(data).filter((name) => name.startsWith('damaged'))).toEqual([]);
});

function fillUp(folder: string): void {
  const descriptor = openSync(path.join(folder, 'filler'), 'w');
  try {
    for (const size of [65536, 4096, 1]) {
      for (;;) {
        try {
          if (writeSync(descriptor, Buffer.alloc(size)) < size) break;
        } catch {
          break;
        }
      }
    }
  } finally {
    closeSync(descriptor);
  }
}
