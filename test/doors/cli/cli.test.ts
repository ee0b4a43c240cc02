/** The command line as a program: exit codes, streams, refusals. Real prover where it is built. */
import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFakeProver, makeTempFolder } from '../../support/fake-prover.ts';
import { CLI, processesOf, ROOT, runCli, startHostProcess, testEnvironment, until } from '../../support/host-process.ts';

const PROVER = path.join(ROOT, 'native/target/release/interlock-prover');
const SMALL = ['--circuit', 'squarings', '--constraints', '300', '--partitions', '2'];
const fake = (scenario = {}) => ({ INTERLOCK_PROVER: makeFakeProver(scenario) });

describe('usage', () => {
  const table: [string[], RegExp][] = [
    [['prove', '--memory-budgt', '8GiB'], /Unknown flag --memory-budgt; did you mean --memory-budget\?/],
    [['prove', '--memory-budget', '256G'], /256G is not a size/],
    [['prove', '--memory-budget=auto '], /is not a size/],
    [['prove', '--gpu-workers', '99'], /not between 1 and 4/],
    [['prove', '--scheduler', 'interlok'], /did you mean interlock\?/],
    [['prove', '--partitions', '0'], /whole number from 1 to 1024/],
    [['prove', '--partitions'], /needs a value/],
    [['prove', 'extra'], /Too many arguments/],
    [['prove', '--json=yes'], /takes no value/],
    [['prov'], /did you mean prove\?/],
    [['show'], /needs RUN/],
    [['config', 'list'], /knows only show/],
    [['runs', '--limit', '-1'], /whole number/],
  ];
  it.each(table)('%j ends with 2 and says why', async (args, message) => {
    const data = makeTempFolder('usage');
    const ran = await runCli([...args, '--data-dir', data]);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toMatch(message);
    expect(readdirSync(data)).toEqual([]);
  });

  it('refuses an unknown key of the configuration by file, line and nearest key', async () => {
    const file = path.join(makeTempFolder('config'), 'config.toml');
    writeFileSync(file, '# mine\nbackend = "cpu"\n\n[scheduler]\ngpu_worker = 2\n', { mode: 0o600 });
    const ran = await runCli(['config', 'show', '--config', file]);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(/config\.toml:5: the key scheduler\.gpu_worker is unknown; did you mean scheduler\.gpu_workers\?/);
  });

  it('names the source of each value: flag before environment before file before default', async () => {
    const file = path.join(makeTempFolder('config'), 'config.toml');
    writeFileSync(file, 'backend = "emulated"\nport = 9001\n[scheduler]\ngpu_workers = 3\norder = "deadline"\n', { mode: 0o600 });
    const env = { INTERLOCK_BACKEND: 'cpu', INTERLOCK_SCHEDULER_GPU_WORKERS: '4' };
    const ran = await runCli(['config', 'show', '--json', '--config', file, '--gpu-workers', '1'], { env });
    const values = Object.fromEntries((JSON.parse(ran.stdout) as { values: { key: string }[] }).values.map((value) => [value.key, value]));
    expect(values['scheduler.gpu_workers']).toMatchObject({ value: '1', source: 'flag', from: '--gpu-workers' });
    expect(values.backend).toMatchObject({ value: 'cpu', source: 'environment', from: 'INTERLOCK_BACKEND' });
    expect(values['scheduler.order']).toMatchObject({ value: 'deadline', source: 'file', from: `${file}:5` });
    expect(values['scheduler.dispatch']).toMatchObject({ source: 'default' });
  });

  it('prints help and version on standard output with 0', async () => {
    for (const args of [['--help'], ['help'], ['prove', '--help'], ['--version'], ['version', '--json']]) {
      const ran = await runCli(args);
      expect([ran.code, ran.stderr]).toEqual([0, '']);
      expect(ran.stdout.length).toBeGreaterThan(5);
    }
  });
});

describe('prove', () => {
  it('keeps standard output for data: one JSON value, and messages on standard error', async () => {
    const data = makeTempFolder('prove');
    const ran = await runCli(['prove', ...SMALL, '--count=3', '--json', '--data-dir', data], { env: fake() });
    expect(ran.code).toBe(0);
    const answer = JSON.parse(ran.stdout) as { run: string; proofs: { state: string }[]; report: { schema: number } };
    expect(answer.proofs.map((proof) => proof.state)).toEqual(['valid', 'valid', 'valid']);
    const shown = await runCli(['show', answer.run, '--json', '--data-dir', data]);
    expect(JSON.parse(shown.stdout)).toMatchObject({ schema: 2, run: answer.run, state: 'finished' });
    const events = await runCli(['events', 'last', '--data-dir', data]);
    const seqs = events.stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { seq: number }).seq);
    expect(seqs.length).toBeGreaterThan(100);
    expect(new Set(seqs).size).toBe(seqs.length);
  });

  it('ends with 4 for an invalid proof and with 1 for a failed one', async () => {
    const invalid = await runCli(['prove', ...SMALL, '--data-dir', makeTempFolder('prove')], { env: fake({ invalidProof: 'p1' }) });
    expect(invalid.code).toBe(4);
    const failProof = { proof: 'p1', code: 'synthesis_failed', message: 'bad\u001b[31m witness' };
    const failed = await runCli(['prove', ...SMALL, '--data-dir', makeTempFolder('prove')], { env: fake({ failProof }) });
    expect(failed.code).toBe(1);
    expect(failed.stderr + failed.stdout).not.toContain('\u001b');
  });

  it('ends with 3 where nothing could begin', async () => {
    const data = makeTempFolder('prove');
    const missing = await runCli(['prove', ...SMALL, '--data-dir', data], { env: { INTERLOCK_PROVER: '/nowhere/prover' } });
    expect(missing.code).toBe(3);
    expect(missing.stderr).toMatch(/nowhere\/prover: it does not exist/);
    const tooMuch = await runCli(['prove', ...SMALL, '--memory-budget', '1TiB', '--data-dir', makeTempFolder('prove')], { env: fake() });
    expect(tooMuch.code).toBe(3);
    expect(tooMuch.stderr).toMatch(/1\.0 TiB, but this machine may use only/);
    const cuda = await runCli(['prove', ...SMALL, '--backend', 'cuda', '--data-dir', makeTempFolder('prove')], { env: fake() });
    expect(cuda.code).toBe(3);
  });

  it('withdraws what has not started at the first interrupt and ends with 130', async () => {
    const data = makeTempFolder('prove');
    const ran = await runCli(['prove', ...SMALL, '--count', '8', '--data-dir', data], {
      env: fake({ partitionMs: 300 }),
      onSpawn: (child) => {
        child.stderr?.on('data', (text: string) => {
          if (text.includes('queued')) setTimeout(() => child.kill('SIGINT'), 700);
        });
      },
    });
    expect(ran.code).toBe(130);
    expect(processesOf(data)).toEqual([]);
    const states = await proofStates(data);
    expect(states.filter((state) => state === 'withdrawn').length).toBeGreaterThanOrEqual(6);
    expect(states.filter((state) => state === 'waiting' || state === 'running')).toEqual([]);
    // What had begun was finished.
    expect(states).toContain('valid');
  });

  it('interrupted beside a running host takes its waiting proofs back and leaves the host at work', async () => {
    const data = makeTempFolder('prove');
    const host = await startHostProcess(data, fake({ partitionMs: 400 }));
    try {
      const ran = await runCli(['prove', ...SMALL, '--count', '8', '--data-dir', data], {
        onSpawn: (child) => {
          child.stderr?.on('data', (text: string) => {
            if (text.includes('queued')) setTimeout(() => child.kill('SIGINT'), 1_000);
          });
        },
      });
      expect(ran.code).toBe(130);
      const states = async () => (await host.client.list_proofs({ state: 'any', limit: 20 })).proofs.map((proof) => proof.state);
      await until('all ended', async () => (await states()).every((state) => state === 'valid' || state === 'withdrawn'));
      expect((await states()).filter((state) => state === 'withdrawn').length).toBeGreaterThanOrEqual(6);
      expect((await host.client.status({})).prover.phase).toBe('ready');
    } finally {
      await host.kill('SIGTERM');
    }
  });

  it('ends at once at the second interrupt and leaves nobody behind', async () => {
    const data = makeTempFolder('prove');
    const ran = await runCli(['prove', ...SMALL, '--partitions', '100', '--data-dir', data], {
      env: fake({ partitionMs: 500 }),
      onSpawn: (child) => {
        child.stderr?.on('data', (text: string) => {
          if (!text.includes('queued')) return;
          setTimeout(() => child.kill('SIGINT'), 800);
          setTimeout(() => child.kill('SIGINT'), 1_300);
        });
      },
    });
    expect(ran.code).toBe(130);
    await until('nobody is left', () => processesOf(data).length === 0);
  });

  it('asks a running host, and is refused with 3 and --switch while another scheduler is at work', async () => {
    const data = makeTempFolder('prove');
    const host = await startHostProcess(data, fake({ partitionMs: 100 }));
    try {
      const first = runCli(['prove', ...SMALL, '--count', '5', '--data-dir', data, '--json']);
      await until('at work', async () => (await host.client.status({})).queue.inProver > 0);
      const other = await runCli(['prove', ...SMALL, '--scheduler', 'batch', '--data-dir', data]);
      expect(other.code).toBe(3);
      expect(other.stderr).toMatch(/--switch/);
      const switched = await runCli(['prove', ...SMALL, '--scheduler', 'batch', '--switch', '--json', '--data-dir', data]);
      expect(switched.code).toBe(0);
      expect(JSON.parse(switched.stdout)).toMatchObject({ report: { scheduler: { preset: 'batch' } } });
      expect((await first).code).toBe(0);
    } finally {
      await host.kill('SIGTERM');
    }
  });
});

async function proofStates(data: string): Promise<string[]> {
  const { openHistory } = await import('../../../electron/host/history.ts');
  const { systemClock } = await import('../../../electron/host/clock.ts');
  const history = await openHistory({ dataFolder: data, clock: systemClock });
  const { proofs } = await history.handlers.list_proofs({ state: 'any', limit: 100 });
  await history.close();
  return proofs.map((proof) => proof.state);
}

describe('proof and events', () => {
  it('saves a proof whole or not at all, never over a file without --force', async () => {
    const data = makeTempFolder('proof');
    await runCli(['prove', ...SMALL, '--data-dir', data], { env: fake() });
    const target = path.join(data, 'saved.json');
    const printed = await runCli(['proof', 'p1', '-o', '-', '--data-dir', data]);
    expect((await runCli(['proof', 'p1', '-o', target, '--data-dir', data])).code).toBe(0);
    expect(readFileSync(target, 'utf8')).toBe(printed.stdout);
    writeFileSync(target, 'mine');
    const again = await runCli(['proof', 'p1', '-o', target, '--data-dir', data]);
    expect([again.code, readFileSync(target, 'utf8')]).toEqual([2, 'mine']);
    expect((await runCli(['proof', 'p1', '-o', target, '--force', '--data-dir', data])).code).toBe(0);
    expect(readFileSync(target, 'utf8')).toBe(printed.stdout);
    const nowhere = await runCli(['proof', 'p1', '-o', path.join(data, 'no', 'folder.json'), '--data-dir', data]);
    expect(nowhere.code).toBe(3);
    expect(readdirSync(data).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect((await runCli(['proof', 'p99', '--data-dir', data])).code).toBe(1);
  });

  it('ends quietly when its reader goes away', async () => {
    const data = makeTempFolder('pipe');
    await runCli(['prove', ...SMALL, '--count', '30', '--data-dir', data], { env: fake({ partitionMs: 1 }) });
    const shell = spawn('bash', ['-o', 'pipefail', '-c', `"${process.execPath}" "${CLI}" events last --data-dir "${data}" | head -1`], {
      env: testEnvironment(),
    });
    let stderr = '';
    shell.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const code = await new Promise((resolve) => shell.once('close', resolve));
    expect([code, stderr]).toEqual([0, '']);
  });

  it('says so when there is no history', async () => {
    const ran = await runCli(['runs', '--data-dir', path.join(makeTempFolder('none'), 'absent')]);
    expect(ran.code).not.toBe(0);
    expect(ran.stderr.length).toBeGreaterThan(10);
    expect(ran.stdout).toBe('');
  });
});

describe.skipIf(!existsSync(PROVER))('with the real prover (needs the built prover)', () => {
  it('proves, shows, verifies; a changed proof is invalid', async () => {
    const data = makeTempFolder('real');
    const ran = await runCli(['prove', ...SMALL, '--count', '2', '--data-dir', data, '--json']);
    expect(ran.code).toBe(0);
    const file = path.join(data, 'proofs', 'p1.json');
    expect((await runCli(['verify', file, '--data-dir', data])).code).toBe(0);
    const changed = path.join(data, 'changed.json');
    writeFileSync(
      changed,
      readFileSync(file, 'utf8').replace(/"public_inputs":\["../, (text) => `${text.slice(0, -2)}${text.endsWith('00') ? '01' : '00'}`),
    );
    expect((await runCli(['verify', changed, '--data-dir', data])).code).toBe(4);
    const report = JSON.parse((await runCli(['show', 'last', '--json', '--data-dir', data])).stdout) as {
      devices: { kernel_ns: number; lock_held_ns: number; job_span_ns: number; wall_ns: number }[];
      proofs: { outcome: string }[];
    };
    expect(report.proofs.map((proof) => proof.outcome)).toEqual(['valid', 'valid']);
    for (const device of report.devices) {
      expect(device.kernel_ns).toBeGreaterThan(0);
      expect(device.kernel_ns).toBeLessThanOrEqual(device.lock_held_ns);
      expect(device.lock_held_ns).toBeLessThanOrEqual(device.job_span_ns);
      expect(device.job_span_ns).toBeLessThanOrEqual(device.wall_ns);
    }
  });

  it('refuses bad params with 3, names the file and leaves it as it is', async () => {
    const data = makeTempFolder('params');
    const params = path.join(data, 'params');
    expect((await runCli(['prove', ...SMALL, '--data-dir', data])).code).toBe(0);
    expect((await runCli(['prove', '--circuit', 'squarings', '--constraints', '500', '--partitions', '1', '--data-dir', data])).code).toBe(
      0,
    );
    const file = path.join(params, 'squarings-300.params');
    const whole = readFileSync(file);
    const refusedWith = async (code: string) => {
      const before = statSync(file);
      const ran = await runCli(['prove', ...SMALL, '--json', '--data-dir', data]);
      expect(ran.stderr).toContain('squarings-300.params');
      const { report } = JSON.parse(ran.stdout) as { report: { proofs: { error: { code: string } }[] } };
      expect([ran.code, report.proofs[0]?.error.code]).toEqual([3, code]);
      const after = statSync(file);
      expect([after.ino, after.size, after.mtimeMs]).toEqual([before.ino, before.size, before.mtimeMs]);
    };
    truncateSync(file, 1000);
    await refusedWith('params_truncated');
    copyFileSync(path.join(params, 'squarings-500.params'), file);
    await refusedWith('params_wrong_circuit');
    writeFileSync(file, whole);
    if (process.getuid?.() !== 0) {
      chmodSync(file, 0);
      await refusedWith('params_unreadable');
    }
  });

  it('refuses a budget too small for one partition with 3', async () => {
    const args = [
      'prove',
      '--circuit',
      'sha256',
      '--constraints',
      '2000000',
      '--memory-budget',
      '64MiB',
      '--data-dir',
      makeTempFolder('budget'),
    ];
    const ran = await runCli(args);
    expect(ran.code).toBe(3);
    expect(ran.stderr).toMatch(/memory_budget_bytes is 67108864/);
  });
});

describe('serve', () => {
  it('a second one says that the first runs and ends with 0; a kill -9 leaves nothing that blocks the next', async () => {
    const data = makeTempFolder('serve');
    const host = await startHostProcess(data, fake());
    const second = await runCli(['serve', '--no-web', '--data-dir', data], { env: fake() });
    expect(second.code).toBe(0);
    expect(second.stderr).toMatch(/running already/);
    await host.kill('SIGKILL');
    const third = await startHostProcess(data, fake());
    expect((await third.client.list_runs({})).runs).toEqual([]);
    await third.kill('SIGTERM');
    expect(await third.ended).toBe(0);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('drains at %s', async (signal) => {
    const data = makeTempFolder('serve');
    const host = await startHostProcess(data, fake({ partitionMs: 100 }));
    await host.client.prove({ circuit: 'squarings', constraints: 100, partitions: 5, count: 3 });
    await until('at work', async () => (await host.client.status({})).queue.inProver === 3);
    await host.kill(signal);
    expect(await host.ended).toBe(0);
    expect(processesOf(data)).toEqual([]);
    const states = await proofStates(data);
    expect(states).toContain('valid');
    expect(states).not.toContain('running');
  });

  it('ends at once at the second signal', async () => {
    const data = makeTempFolder('serve');
    const host = await startHostProcess(data, fake({ partitionMs: 2_000 }));
    await host.client.prove({ circuit: 'squarings', constraints: 100, partitions: 100 });
    await until('at work', async () => (await host.client.status({})).queue.inProver === 1);
    host.child.kill('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 500));
    await host.kill('SIGTERM');
    expect(await host.ended).toBe(0);
    expect(processesOf(data)).toEqual([]);
    expect(await proofStates(data)).toEqual(['waiting']);
  });

  it('twenty at once: one runs', async () => {
    const data = makeTempFolder('serve');
    const env = fake();
    const children = Array.from({ length: 20 }, () =>
      spawn(process.execPath, [CLI, 'serve', '--no-web', '--data-dir', data], { env: testEnvironment(env), stdio: 'ignore' }),
    );
    const ended = new Map<number | undefined, number | null>();
    for (const child of children) child.once('exit', (code) => ended.set(child.pid, code));
    await until('19 have ended', () => ended.size === 19, 90_000);
    expect([...ended.values()].filter((code) => code === 0)).toHaveLength(19);
    for (const child of children) if (!ended.has(child.pid)) child.kill('SIGTERM');
    await until('all have ended', () => ended.size === 20);
  }, 120_000);

  it('refuses a data folder that cannot be used, with the reason', async () => {
    const parent = makeTempFolder('bad');
    const file = path.join(parent, 'file');
    writeFileSync(file, '');
    const others = path.join(parent, 'others');
    mkdirSync(others);
    chmodSync(others, 0o777);
    for (const [folder, why] of [
      [file, /no folder/],
      [path.join(file, 'below'), /no folder/],
      [others, /others may write/],
    ] as const) {
      const ran = await runCli(['serve', '--no-web', '--data-dir', folder], { env: fake() });
      expect(ran.code).toBe(3);
      expect(ran.stderr).toMatch(why);
    }
  });

  it('says which port is taken', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const ran = await runCli(['serve', '--port', String(port), '--data-dir', makeTempFolder('port')], { env: fake() });
    server.close();
    expect(ran.code).toBe(3);
    expect(ran.stderr).toMatch(new RegExp(`${port}`));
  });
});
