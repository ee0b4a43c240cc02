/** Real processes of the scripted prover: every way to start, end, hang and lie. */
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { createBuiltinEngine } from '../../electron/engines/builtin/engine.ts';
import type { Engine, ProverProcess, StartOptions } from '../../electron/engines/engine.ts';
import { groupMembers, readStat } from '../../electron/engines/supervision/proc.ts';
import { systemClock } from '../../electron/host/clock.ts';
import { makeFakeProver, makeTempFolder, type Scenario } from '../support/fake-prover.ts';

const ladder = { stopMs: 700, termMs: 700, killMs: 3_000 };
const started: ProverProcess[] = [];

afterEach(async () => {
  for (const process of started.splice(0)) {
    if (readStat(process.identity.pid)?.startTicks === process.identity.startTicks) await process.end('hung', 0);
  }
});

function engineOf(scenario: Scenario, more: { startMs?: number; candidates?: string[] } = {}): Engine {
  return createBuiltinEngine({
    clock: systemClock,
    candidates: more.candidates ?? [makeFakeProver(scenario)],
    environment: process.env,
    ladder,
    startMs: more.startMs ?? 20_000,
  });
}

function options(): StartOptions {
  const uuid = randomUUID();
  const folder = path.join(makeTempFolder('process'), uuid);
  mkdirSync(folder, { mode: 0o700 });
  return { process: uuid, folder, paramsFolder: folder, backend: 'cpu', emulate: null, graceS: 30 };
}

async function start(scenario: Scenario): Promise<ProverProcess> {
  const process = await engineOf(scenario).start(options());
  started.push(process);
  return process;
}

const rungs = (steps: { rung: string; result: string }[]) => steps.map((step) => `${step.rung} ${step.result}`);
const startFailure = (scenario: Scenario, more = {}) =>
  engineOf(scenario, more)
    .start(options())
    .then(
      () => ({ code: 'started', message: '' }),
      (error: { code: string; message: string }) => error,
    );

describe('starting', () => {
  it('answers on its command socket, is its own group, and drains as asked', async () => {
    const process = await start({});
    expect(process.attached).toMatchObject({ process: process.identity.process, pid: process.identity.pid, proofs: [] });
    expect(readStat(process.identity.pid)?.group).toBe(process.identity.pid);
    expect(rungs(await process.end('drain', 5e9))).toEqual(['drain ended']);
    expect(await process.ended).toMatchObject({ reason: 'finished', exit: 0 });
  });

  it('tells why a binary is not run', async () => {
    expect(await startFailure({}, { candidates: ['/nowhere/prover'] })).toMatchObject({ code: 'prover_missing' });
  });

  it('tells a script without an interpreter from a missing file, and leaks nothing', async () => {
    const folder = makeTempFolder('bad');
    const file = path.join(folder, 'interlock-prover');
    writeFileSync(file, '#!/nowhere/interpreter\n', { mode: 0o755 });
    await startFailure({}, { candidates: [file] });
    const before = readFds();
    for (let again = 0; again < 20; again++) await startFailure({}, { candidates: [file] });
    const failure = await startFailure({}, { candidates: [file] });
    expect(failure).toMatchObject({ code: 'prover_missing' });
    expect(failure.message).toMatch(/interpreter.*ENOENT/);
    await expect.poll(readFds).toBeLessThanOrEqual(before + 4);
  });

  it.each([1, 2, 3, 101])('carries what it said when it ends with code %i before it answers', async (exit) => {
    const failure = await startFailure({ refuseStart: { exit, stderr: 'params_missing: no such file' } });
    expect(failure).toMatchObject({ code: 'prover_refused', detail: { exit, prover_code: 'params_missing' } });
  });

  it('gives up on one that lives but never answers, and ends it', async () => {
    const failure = await startFailure({ startMs: 600_000 }, { startMs: 500 });
    expect(failure.code).toBe('prover_lost');
  });
});

describe('ending', () => {
  it('kills one that ignores commands and TERM at the third step, each step recorded', async () => {
    const process = await start({ ignoreCommands: true, ignoreTerm: true });
    expect(rungs(await process.end('now', 0))).toEqual(['stop timed_out', 'term timed_out', 'kill ended']);
    expect(await process.ended).toMatchObject({ reason: 'killed_by_us', signal: 'SIGKILL' });
  });

  it('does not wait for a grandchild that keeps its output, and leaves nobody of the group', async () => {
    const process = await start({ grandchild: true });
    const from = performance.now();
    await process.drain();
    const end = await process.ended;
    expect(performance.now() - from).toBeLessThan(20_000);
    expect(end).toMatchObject({ exit: 0, outputHeld: true });
    await expect.poll(() => groupMembers(process.identity.pid)).toEqual([]);
  });

  it('names a kill by somebody else', async () => {
    const victim = await start({});
    process.kill(victim.identity.pid, 'SIGKILL');
    expect(await victim.ended).toMatchObject({
      reason: 'killed',
      message: expect.stringMatching(/someone else \(kernel out-of-memory likely\)/) as string,
    });
  });

  it.each(['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGTERM'] as const)('tells an end by %s', async (signal) => {
    const victim = await start({ ignoreTerm: false });
    process.kill(victim.identity.pid, signal);
    const end = await victim.ended;
    if (signal === 'SIGTERM') expect(end).toMatchObject({ exit: 0 });
    else expect(end).toMatchObject({ reason: 'crashed', signal });
  });

  it('drains by its lifeline when it is let go', async () => {
    const process = await start({});
    const { pid, startTicks } = process.identity;
    process.release();
    await expect.poll(() => alive(pid, startTicks), { timeout: 10_000 }).toBe(false);
    expect(readFileSync(path.join(process.identity.folder, 'journal.ndjson'), 'utf8')).toMatch(/"e":"bye","reason":"lifeline"/);
  });
});

describe('what it writes', () => {
  it('is always read: 64 MB of stderr do not block it', async () => {
    const process = await start({ floodBytes: 64e6 });
    await expect.poll(() => existsSync(path.join(process.identity.folder, 'flooded')), { timeout: 20_000 }).toBe(true);
    await expect.poll(() => process.stderr().bytes).toBeGreaterThanOrEqual(64e6);
    expect(process.stderr().text.length).toBeLessThanOrEqual(64 * 1024);
  });

  it('loses the connection when it is rubbish, but not the process', async () => {
    const process = await start({ garbleAt: { cmd: 'state' } });
    await expect(process.readState()).rejects.toThrow(/broke the protocol/);
    await expect(process.readState()).rejects.toThrow();
    expect(readStat(process.identity.pid)).not.toBeNull();
  });

  it('may be rubbish once: another connection is made, and told', async () => {
    const process = await start({ garbleAt: { cmd: 'state', once: true } });
    const relinked = new Promise((resolve) => process.onRelinked(resolve));
    await expect(process.readState()).rejects.toThrow();
    expect(await relinked).toMatchObject({ process: process.identity.process });
    expect((await process.readState()).phase).toBe('ready');
  });

  it('is not waited for beyond the deadline when it is silent', async () => {
    const process = await start({ silentAt: { event: 'host_attached', count: 1 } });
    await expect(process.readState(300)).rejects.toThrow(/no answer/);
  });
});

describe('adoption', () => {
  it('takes over a living process and cancels its drain; one that is gone, or another under its pid, is not taken', async () => {
    const engine = engineOf({ partitionMs: 50 });
    const first = await engine.start(options());
    started.push(first);
    await first.run('r1', {} as never, null);
    await first.submit({
      proof: 'p1', attempt: 1, circuit: 'squarings-100', partitions: 20, priority: 2, submitted_wall_ns: '1', deadline_wall_ns: null, seed: '00',
    }); // prettier-ignore
    await expect.poll(async () => (await first.readState()).proofs[0]?.done).toBeGreaterThan(0);
    first.release();
    const again = await engine.adopt(first.identity, 5_000);
    expect(again).not.toBeNull();
    expect(again?.attached).toMatchObject({ run: 'r1', proofs: [{ proof: 'p1', attempt: 1 }] });
    expect(await engine.adopt({ ...first.identity, startTicks: '1' }, 500)).toBeNull();
    expect(await engine.adopt({ ...first.identity, bootId: 'another' }, 500)).toBeNull();
    expect(rungs((await again?.end('now', 0)) ?? [])).toEqual(['stop ended']);
    expect(await engine.adopt(first.identity, 500)).toBeNull();
  });
});

function alive(pid: number, startTicks: string): boolean {
  const stat = readStat(pid);
  return stat !== null && stat.startTicks === startTicks && stat.state !== 'Z';
}

function readFds(): number {
  return readdirSync('/proc/self/fd').length;
}
