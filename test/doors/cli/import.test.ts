/** `import`, `idle` and `gaps` as a program: files, pipes, files that grow, a host that is killed, and what is printed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { IdleReport } from '../../../electron/contract/idle.ts';
import type { ImportReport } from '../../../electron/contract/transfer.ts';
import { makeFakeProver, makeTempFolder } from '../../support/fake-prover.ts';
import { CLI, ROOT, runCli, startHostProcess, testEnvironment, until } from '../../support/host-process.ts';

const LOG = path.join(ROOT, 'test/fixtures/cuzk/gw2a.log');
const text = readFileSync(LOG, 'utf8');
const lines = text.split(/(?<=\n)/);

function startCli(args: string[]): {
  child: ChildProcess;
  stdout: () => string;
  stderr: () => string;
  ended: Promise<number | string | null>;
} {
  const child = spawn(process.execPath, [CLI, ...args], { env: testEnvironment(), stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (stdout += part));
  child.stderr.setEncoding('utf8').on('data', (part: string) => (stderr += part));
  child.stdin.on('error', () => undefined);
  const ended = new Promise<number | string | null>((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)));
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}

async function importFile(data: string, file: string, more: string[] = []): Promise<ImportReport> {
  const ran = await runCli(['import', file, '--json', '--data-dir', data, ...more]);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  return JSON.parse(ran.stdout) as ImportReport;
}

const eventsOf = async (data: string, run: string) => (await runCli(['events', run, '--data-dir', data])).stdout;

describe('import', () => {
  it('names a path that cannot be read, before anything is made', async () => {
    const data = path.join(makeTempFolder('import'), 'data');
    const folder = makeTempFolder('a folder');
    for (const [file, said] of [
      ['/no/such.log', /\/no\/such\.log is not there/],
      [folder, /is a folder/],
    ] as const) {
      const ran = await runCli(['import', file, '--data-dir', data]);
      expect([ran.code, ran.stdout]).toEqual([2, '']);
      expect(ran.stderr).toMatch(said);
    }
    expect((await runCli(['runs', '--data-dir', data])).stdout).toBe('');
  });

  it('takes a log from a file, packed from a pipe, and knows it again', async () => {
    const data = makeTempFolder('import');
    const first = await importFile(data, LOG);
    expect(first).toMatchObject({ schema: 1, run: 'r1', unparsed: 0, bytes: Buffer.byteLength(text), problems: [] });
    const piped = startCli(['import', '-', '--json', '--data-dir', data]);
    piped.child.stdin?.end(gzipSync(text));
    expect(await piped.ended).toBe(0);
    expect(JSON.parse(piped.stdout())).toMatchObject({ run: 'r1', runs: [{ name: 'standard input', again: true }], events: first.events });
    const shown = JSON.parse((await runCli(['runs', '--json', '--data-dir', data])).stdout) as { runs: { imported_from: string }[] };
    expect(shown.runs.map((run) => run.imported_from)).toEqual(['gw2a.log']);
  });

  it('says what it looked for where there is no run, with exit 1', async () => {
    const data = makeTempFolder('import');
    const file = path.join(data, 'other.log');
    writeFileSync(file, 'nginx: hello\n');
    const ran = await runCli(['import', file, '--data-dir', data]);
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/No run was found.*TIMELINE/);
  });

  it('killed with SIGKILL in the middle, it leaves a closed run that the same file completes', async () => {
    const data = makeTempFolder('import');
    const half = lines.slice(0, lines.length >> 1).join('');
    const killed = startCli(['import', '-', '--data-dir', data]);
    killed.child.stdin?.write(half);
    const stored = async () => (await runCli(['events', 'last', '--data-dir', data])).stdout.length;
    await until('something is stored', async () => (await stored()) > 1000);
    killed.child.kill('SIGKILL');
    expect(await killed.ended).toBe('SIGKILL');
    // Whoever opens the history next closes it.
    writeFileSync(path.join(data, 'empty.log'), '');
    await runCli(['import', path.join(data, 'empty.log'), '--data-dir', data]);
    const runs = JSON.parse((await runCli(['runs', '--json', '--data-dir', data])).stdout) as {
      runs: { state: string; ended_by: string }[];
    };
    expect(runs.runs).toMatchObject([{ state: 'interrupted', ended_by: 'the import was cut off' }]);
    expect((await importFile(data, LOG)).runs).toMatchObject([{ run: 'r1', again: true, state: 'finished' }]);
    const fresh = makeTempFolder('import');
    await importFile(fresh, LOG);
    expect(await eventsOf(data, 'r1')).toBe(await eventsOf(fresh, 'r1'));
  });

  it('goes through a running host, and starts no prover', async () => {
    const data = makeTempFolder('import');
    const host = await startHostProcess(data, { INTERLOCK_PROVER: makeFakeProver({}) });
    try {
      expect(await importFile(data, LOG)).toMatchObject({ run: 'r1' });
      expect((await host.client.list_runs({})).runs).toMatchObject([{ run: 'r1', engine: 'cuzk', state: 'finished' }]);
      expect((await host.client.status({})).run).toBeNull();
    } finally {
      await host.kill('SIGTERM');
    }
  });
});

describe('import --follow', () => {
  it('goes on with a file that grows, is rotated and is cut; an interrupt ends it with the report', async () => {
    const data = makeTempFolder('follow');
    const folder = path.join(data, 'logs');
    mkdirSync(folder);
    const file = path.join(folder, 'cuzk.log');
    const at = [0, 60, 200, 340, 420].map((index) => lines.slice(0, index).join('').length);
    writeFileSync(file, text.slice(0, at[1]));
    const host = await startHostProcess(data, { INTERLOCK_PROVER: makeFakeProver({}) });
    const live: string[] = [];
    const endLive = host.client.live((message) => void (message.kind === 'snapshot' && live.push(message.live.run)), () => undefined); // prettier-ignore
    try {
      const following = startCli(['import', '--follow', file, '--json', '--data-dir', data]);
      const wall = async () => (await host.client.list_runs({})).runs[0]?.wall_ns ?? -1;
      await until('the run is there', async () => (await wall()) >= 0);
      let before = await wall();
      appendFileSync(file, text.slice(at[1], at[2]));
      await until('what was appended', async () => (await wall()) > before);
      before = await wall();
      // Rotated: the rest of the old file, then the new one.
      appendFileSync(file, text.slice(at[2], at[3]));
      renameSync(file, `${file}.1`);
      writeFileSync(file, text.slice(at[3], at[4]));
      await until('the new file', () => Promise.resolve(/another file now/.test(following.stderr())));
      await until('its lines', async () => (await wall()) > before);
      before = await wall();
      truncateSync(file, 0);
      await until('the cut', () => Promise.resolve(/was cut/.test(following.stderr())));
      appendFileSync(file, text.slice(at[4]));
      await until('the lines after the cut', async () => (await wall()) > before);
      expect(live).toContain('r1');
      following.child.kill('SIGINT');
      expect(await following.ended).toBe(0);
      const whole = makeTempFolder('follow');
      await importFile(whole, LOG);
      expect(JSON.parse(following.stdout())).toMatchObject({ run: 'r1', bytes: Buffer.byteLength(text) });
      expect(await eventsOf(data, 'r1')).toBe(await eventsOf(whole, 'r1'));
    } finally {
      endLive();
      await host.kill('SIGTERM');
    }
  });
});

describe('idle and gaps', () => {
  it('begin with what the figure of a log measured, and print figures that add up', async () => {
    const data = makeTempFolder('idle');
    await importFile(data, LOG);
    const told = (await runCli(['idle', 'r1', '--data-dir', data])).stdout;
    expect(told.split('\n')[0]).toMatch(/^gpu0: the "GPU efficiency" of this log, [\d.]+ %, measured job spans/);
    expect(told).toMatch(/It did not measure how long the device computed/);
    expect(told).toMatch(/kernel running +not recorded/);
    const report = JSON.parse((await runCli(['idle', 'last', '--json', '--data-dir', data])).stdout) as IdleReport;
    for (const device of report.devices) {
      const causes = Object.values(device.idle_ns).reduce((sum, ns) => sum + ns, 0);
      const groups = Object.values(device.groups).reduce((sum, group) => sum + group.ns, 0);
      expect((device.kernel_ns ?? 0) + causes + groups + device.unknown_ns).toBe(device.wall_ns);
    }
    const gaps = JSON.parse((await runCli(['gaps', 'r1', '--json', '--min', '1ms', '--data-dir', data])).stdout) as { length_ns: number }[];
    expect(gaps.length).toBeGreaterThan(1);
    expect(gaps.every((gap, index) => gap.length_ns >= 1e6 && gap.length_ns <= (gaps[index - 1]?.length_ns ?? Infinity))).toBe(true);
    expect((await runCli(['gaps', 'r1', '--min', '1h', '--data-dir', data])).stderr).toMatch(/must be a duration/);
    expect((await runCli(['idle', 'r9', '--data-dir', data])).code).toBe(1);
  });
});
