/** `export` as a program: data alone on standard output, whole files or none, nothing overwritten, quiet when nobody reads any more. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openTarget } from '../../../electron/doors/cli/export-target.ts';
import { openStore } from '../../../electron/store/store.ts';
import { workerClock } from '../../../electron/store/worker-clock.ts';
import { CSV_FILES } from '../../../electron/formats/csv/columns.ts';
import { makeTempFolder } from '../../support/fake-prover.ts';
import { CLI, runCli, startHostProcess, testEnvironment } from '../../support/host-process.ts';
import { makeRun, PROCESS_A, SCHEDULER } from '../../support/journal.ts';
import { readStrictly } from '../../support/csv.ts';

let data = '';
beforeAll(async () => {
  data = makeTempFolder('export-data');
  const store = await openStore({ folder: data, clock: workerClock });
  const { run } = await store.createRun({ scheduler: SCHEDULER, backend: 'cpu', engine: 'builtin', emulate: null });
  const own = path.join(data, 'processes', PROCESS_A);
  mkdirSync(own, { recursive: true });
  const journal = path.join(own, 'journal.ndjson');
  writeFileSync(journal, makeRun({ proofs: 40, partitions: 10, run }).text);
  await store.addProcess({ process: PROCESS_A, pid: 1, startTicks: '1', folder: own, journal, backend: 'cpu', run });
  await store.follow(PROCESS_A);
  await store.finishFollowing(PROCESS_A);
  await store.closeProcess(PROCESS_A, { ended: 'drained', exit: 0, signal: null });
  await store.closeRun(run, { state: 'finished', endedBy: 'drained', atLastEvent: false });
  await store.close();
});

const run = (...args: string[]) => runCli(['export', ...args, '--data-dir', data]);
const target = (name: string) => path.join(makeTempFolder('export'), name);

describe('standard output', () => {
  it('carries the data alone; messages go to standard error', async () => {
    const csv = await run('last', '--format', 'csv', '-o', '-');
    expect(csv.code).toBe(0);
    expect(readStrictly(csv.stdout)[0]?.[0]).toBe('run');
    expect(csv.stderr).toMatch(/spans\.csv alone/);
    const file = await run('r1', '--format=ndjson', '-o', '-');
    expect([file.code, file.stderr]).toEqual([0, '']);
    expect(file.stdout).toMatch(/^\{"interlock_run":1,[\s\S]*"end":true[^\n]*\}\n$/);
  });

  it('may be closed by its reader: quiet, exit 0', async () => {
    const command = `"${process.execPath}" "${CLI}" export last --format ndjson -o - --data-dir "${data}" 2>err.txt | head -1; echo "codes \${PIPESTATUS[*]}"`;
    const folder = makeTempFolder('pipe');
    const text = execFileSync('bash', ['-c', command], { cwd: folder, env: testEnvironment() }).toString();
    expect(text).toMatch(/^\{"interlock_run"[^\n]*\ncodes 0 0\n$/);
    expect(readFileSync(path.join(folder, 'err.txt'), 'utf8')).toBe('');
  });
});

describe('a file or folder', () => {
  it('of every format is written whole, and is said', async () => {
    for (const format of ['ndjson', 'chrome', 'sqlite', 'html'] as const) {
      const file = target(`x.${format}`);
      const ran = await run('last', '--format', format, '-o', file, '--json');
      expect(ran.code, ran.stderr).toBe(0);
      const answer = JSON.parse(ran.stdout) as { bytes: number; file: string };
      expect(answer).toMatchObject({ file, format, files: [] });
      expect(readFileSync(file).length).toBe(answer.bytes);
      expect(readdirSync(path.dirname(file))).toEqual([path.basename(file)]);
    }
    const folder = target('tables');
    const ran = await run('last', '--format', 'csv', '-o', folder);
    expect([ran.code, ran.stdout]).toEqual([0, '']);
    expect(ran.stderr).toMatch(/tables written \(.*6 files\)/);
    expect(readdirSync(folder).sort()).toEqual([...CSV_FILES].sort());
  });

  it('is not overwritten without --force, and a folder with other things in it not even then', async () => {
    const file = target('mine.html');
    writeFileSync(file, 'mine');
    const refused = await run('last', '--format', 'html', '-o', file);
    expect([refused.code, readFileSync(file, 'utf8')]).toEqual([2, 'mine']);
    expect(refused.stderr).toMatch(/--force/);
    expect((await run('last', '--format', 'html', '-o', file, '--force')).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toMatch(/^<!doctype html>/);
    const folder = target('tables');
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'spans.csv'), 'old');
    expect((await run('last', '--format', 'csv', '-o', folder)).code).toBe(2);
    expect((await run('last', '--format', 'csv', '-o', folder, '--force')).code).toBe(0);
    expect(readFileSync(path.join(folder, 'spans.csv'), 'utf8')).toMatch(/^run,/);
    writeFileSync(path.join(folder, 'thesis.tex'), 'years of work');
    const other = await run('last', '--format', 'csv', '-o', folder, '--force');
    expect([other.code, readFileSync(path.join(folder, 'thesis.tex'), 'utf8')]).toEqual([2, 'years of work']);
    expect(readdirSync(path.dirname(folder))).toEqual(['tables']);
  });

  it('has a name of its own where none is given, in the current folder', async () => {
    const folder = makeTempFolder('cwd');
    const child = spawn(process.execPath, [CLI, 'export', 'last', '--format', 'html', '--data-dir', data], { cwd: folder, env: testEnvironment() }); // prettier-ignore
    let said = '';
    child.stderr.on('data', (text: Buffer) => (said += text.toString()));
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
    expect(readdirSync(folder)).toEqual(['interlock-r1.html']);
    expect(said).toContain(path.join(folder, 'interlock-r1.html'));
  });

  it('is the same through a running host', { timeout: 60_000 }, async () => {
    const alone = await run('last', '--format', 'ndjson', '-o', '-');
    const host = await startHostProcess(data);
    try {
      const beside = await run('last', '--format', 'ndjson', '-o', '-');
      expect(beside.code).toBe(0);
      expect(beside.stdout).toBe(alone.stdout);
    } finally {
      await host.kill('SIGTERM');
    }
  });
});

describe('usage', () => {
  const table: [string[], RegExp][] = [
    [['last'], /--format csv\|ndjson/],
    [['last', '--format', 'cvs'], /did you mean csv/],
    [['../x', '--format', 'csv'], /no id of a run/],
    [['last', '--format', 'ndjson', '-o', '-', '--json'], /both want standard output/],
  ];
  it.each(table)('%j ends with 2 and says why', async (args, message) => {
    const ran = await run(...args);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringMatching(message)]);
  });
  it('names a run that is not there', async () => {
    const ran = await run('r99', '--format', 'csv', '-o', target('x'));
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringMatching(/no run r99/)]);
  });
});

describe('a target', () => {
  const plan = (name: string, more = {}) => ({ path: target(name), name: 'n', files: [''], force: false, ...more });

  it('that is given up leaves nothing, whatever was written', async () => {
    for (const files of [[''], ['a.csv', 'b.csv']]) {
      const wanted = plan('x', { files });
      const open = await openTarget(wanted);
      await open.write(0, Buffer.from('half'));
      await open.abandon();
      expect(readdirSync(path.dirname(wanted.path))).toEqual([]);
    }
  });

  it('that somebody else made meanwhile is not overwritten', async () => {
    for (const files of [[''], ['a.csv', 'b.csv']]) {
      const wanted = plan('x', { files });
      const open = await openTarget(wanted);
      await open.write(0, Buffer.from('ours'));
      if (files.length === 1) writeFileSync(wanted.path, 'theirs');
      else {
        mkdirSync(wanted.path);
        writeFileSync(path.join(wanted.path, 'a.csv'), 'theirs');
      }
      await expect(open.finish()).rejects.toMatchObject({ code: 'usage' });
      await open.abandon();
      expect(readdirSync(path.dirname(wanted.path))).toEqual(['x']);
      expect(readFileSync(files.length === 1 ? wanted.path : path.join(wanted.path, 'a.csv'), 'utf8')).toBe('theirs');
    }
  });

  it('behind a link is replaced where it lies; a name that leads out of the folder is refused', async () => {
    const wanted = plan('link', { force: true });
    const real = path.join(path.dirname(wanted.path), 'real');
    writeFileSync(real, 'old');
    symlinkSync(real, wanted.path);
    const open = await openTarget(wanted);
    await open.write(0, Buffer.from('new'));
    await open.finish();
    expect([readFileSync(real, 'utf8'), readdirSync(path.dirname(real)).sort()]).toEqual(['new', ['link', 'real']]);
    const hostile = plan('out', { files: ['../../evil', 'b'] });
    const folder = await openTarget(hostile);
    await expect(folder.write(0, Buffer.from('x'))).rejects.toMatchObject({ code: 'bad_request' });
    await folder.abandon();
    expect(readdirSync(path.dirname(hostile.path))).toEqual([]);
  });

  it('that is a device is written as it is', async () => {
    const open = await openTarget(plan('x', { path: '/dev/null', force: true }));
    await open.write(0, Buffer.from('x'));
    await open.finish();
  });
});
