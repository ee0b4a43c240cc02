/** One test a migration, and what holds for all. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { migrate, MIGRATIONS, readVersion, SCHEMA_VERSION } from '../../electron/store/migrations/index.ts';
import { tempFolder } from '../support/temp-folder.ts';

const tablesOf = (db: Database.Database) =>
  db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`).pluck().all();

function openAt(version: number): Database.Database {
  const db = new Database(path.join(tempFolder(), 'db'));
  db.pragma('foreign_keys = ON');
  migrate(db, version);
  expect(readVersion(db)).toBe(version);
  return db;
}

test('numbered by tens, ascending', () => {
  expect(MIGRATIONS.map((step) => step.version)).toEqual(MIGRATIONS.map((_, index) => (index + 1) * 10));
  expect(SCHEMA_VERSION).toBe(MIGRATIONS.length * 10);
});

const insertRun = `INSERT INTO run (run, uid, state, engine, backend, scheduler, created_wall_ms) VALUES ('r1', 'u', 'running', 'builtin', 'cpu', '{}', 1)`;
const insertProcess = `INSERT INTO process (process, pid, start_ticks, folder, backend, started_wall_ms) VALUES ('a', 1, '1', '/', 'cpu', 1)`;

test('10: runs, processes and journals, tied together', () => {
  const db = openAt(10);
  expect(tablesOf(db)).toEqual(['journal', 'meta', 'process', 'run', 'run_process']);
  db.exec(`${insertRun}; ${insertProcess}; INSERT INTO journal (process, path) VALUES (1, '/j')`);
  expect(db.prepare('SELECT committed_bytes, last_seq FROM journal').get()).toEqual({ committed_bytes: 0, last_seq: -1 });
  expect(() => db.exec(`INSERT INTO run_process (run, process, started_seq, started_t, seq_from) VALUES ('r2', 1, 0, 0, 0)`)).toThrow(
    /FOREIGN KEY/,
  );
  expect(() => db.exec(insertRun)).toThrow(/UNIQUE/);
});

test('20: the queue refuses what no proof can be', () => {
  const db = openAt(20);
  const insert = (state: string, priority: number) =>
    db.exec(
      `INSERT INTO proof (proof, state, priority, position, circuit, partitions, seed, submitted_wall_ns, created_wall_ms)
       VALUES ('p${priority}', '${state}', ${priority}, 1, 'c', 1, '', '9007199254740993', 1)`,
    );
  insert('waiting', 2);
  expect(() => insert('lost', 3)).toThrow(/CHECK/);
  expect(() => insert('waiting', 5)).toThrow(/CHECK/);
  expect(db.prepare('SELECT submitted_wall_ns FROM proof').pluck().get()).toBe('9007199254740993');
  const plan = db
    .prepare(`EXPLAIN QUERY PLAN SELECT * FROM proof WHERE state = 'waiting' ORDER BY returned DESC, priority DESC, position LIMIT 1`)
    .all();
  expect(JSON.stringify(plan)).toMatch(/proof_waiting/);
});

test('30: an event has one place, (process, seq), and is strict', () => {
  const db = openAt(30);
  db.exec('INSERT INTO event VALUES (1, 0, 9007199254740991, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL)');
  expect(() => db.exec('INSERT INTO event VALUES (1, 0, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL)')).toThrow(/UNIQUE/);
  expect(() => db.exec(`INSERT INTO event VALUES (1, 1, 'x', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`)).toThrow();
  expect(db.prepare('SELECT t FROM event').pluck().get()).toBe(9007199254740991);
});

test('40: facts name a process that is there', () => {
  const db = openAt(40);
  expect(() => db.exec(`INSERT INTO problem VALUES (1, 0, 'line', 5, 'not JSON')`)).toThrow(/FOREIGN KEY/);
  db.exec(`${insertProcess}; INSERT INTO problem VALUES (1, 0, 'line', 5, 'not JSON')`);
  expect(() =>
    db.exec(`INSERT INTO loss (process, kind, seq_from, seq_to, count, t_from, t_to) VALUES (1, 'other', 0, 0, 1, 0, 0)`),
  ).toThrow(/CHECK/);
});

test('50: an imported run says where it came from; a hold is told once', () => {
  const db = openAt(50);
  db.exec(
    `${insertRun}; ${insertProcess}; INSERT INTO run_process (run, process, started_seq, started_t, seq_from) VALUES ('r1', 1, 0, 0, 0)`,
  );
  expect(db.prepare('SELECT found, imported_from, origin_run, importing FROM run').get()).toEqual({
    found: '{}',
    imported_from: null,
    origin_run: null,
    importing: null,
  });
  expect(db.prepare('SELECT place FROM run_process').pluck().get()).toBe(0);
  const hold = (run: string, boot: string) =>
    db.exec(`INSERT INTO hold (run, boot_id, from_ns, reason) VALUES (${run}, ${boot}, '9007199254740993', 'paused')`);
  hold('NULL', `'b'`);
  hold('NULL', `'b'`);
  hold(`'r1'`, 'NULL');
  expect(() => hold(`'r1'`, 'NULL')).toThrow(/UNIQUE/);
  expect(() => hold(`'r2'`, 'NULL')).toThrow(/FOREIGN KEY/);
  expect(() => db.exec(`INSERT INTO imported_attempt (run, proof, attempt) VALUES ('r2', 'p1', 1)`)).toThrow(/FOREIGN KEY/);
  expect(db.prepare('SELECT from_ns FROM hold').pluck().all()).toEqual(Array.from({ length: 3 }, () => '9007199254740993'));
});

test('60: a block belongs to an experiment, and both have one of the known words', () => {
  const db = openAt(60);
  const experiment = (state: string) =>
    db.exec(
      `INSERT INTO experiment (experiment, state, a, b, before, rounds, proofs_per_block, warm_up_proofs, started_wall_ms)
       VALUES ('x1', '${state}', '{}', '{}', '{}', 5, 5, 2, 1)`,
    );
  const block = (side: string) =>
    db.exec(
      `INSERT INTO experiment_block (experiment, position, round, side, warm_up, first_proof, last_proof) VALUES (1, 0, 0, '${side}', 1, 1, 2)`,
    );
  expect(() => block('a')).toThrow(/FOREIGN KEY/);
  expect(() => experiment('paused')).toThrow(/CHECK/);
  experiment('running');
  expect(() => block('c')).toThrow(/CHECK/);
  block('a');
  expect(db.prepare('SELECT run, s_per_proof, proofs FROM experiment_block').get()).toEqual({ run: null, s_per_proof: null, proofs: 0 });
});

test('what an older schema holds is there after all later steps', () => {
  const db = openAt(10);
  db.exec(`${insertRun}; ${insertProcess}`);
  migrate(db);
  migrate(db);
  expect(readVersion(db)).toBe(SCHEMA_VERSION);
  expect(db.prepare('SELECT run FROM run').pluck().all()).toEqual(['r1']);
});

test('a step that fails leaves the old schema whole', () => {
  const db = openAt(10);
  const steps = [
    ...MIGRATIONS.slice(0, 1),
    { version: 20, name: 'broken', sql: 'CREATE TABLE half (a); INSERT INTO no_such_table VALUES (1)' },
  ];
  expect(() => migrate(db, 20, steps)).toThrow(/no_such_table/);
  expect([readVersion(db), tablesOf(db)]).toEqual([10, ['journal', 'meta', 'process', 'run', 'run_process']]);
});

describe('killed in the middle of a step', () => {
  const script = fileURLToPath(new URL('../support/slow-migration.ts', import.meta.url));

  test('the old schema is whole, and the step runs the next time', async () => {
    for (let tries = 0; tries < 4; tries++) {
      const file = path.join(tempFolder(), 'db');
      const child = spawn(process.execPath, [script, file], { stdio: ['ignore', 'pipe', 'inherit'] });
      await new Promise((resolve) => child.stdout.once('data', resolve));
      await new Promise((resolve) => setTimeout(resolve, 20 + tries * 40));
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('exit', resolve));
      const db = new Database(file);
      expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
      expect(readVersion(db)).toBe(10);
      expect(tablesOf(db)).toEqual(['journal', 'meta', 'process', 'run', 'run_process']);
      migrate(db);
      expect(readVersion(db)).toBe(SCHEMA_VERSION);
      db.close();
    }
  });
});
