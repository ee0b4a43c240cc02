/** The host over a scripted prover: runs, switches, crashes, holds. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readStat } from '../../electron/engines/supervision/proc.ts';
import { until } from '../support/host-process.ts';
import { closeAll, hostWith } from './host-fixture.ts';

afterEach(closeAll);

const pidOf = async (t: Awaited<ReturnType<typeof hostWith>>) => (await t.client.status({})).prover.pid;

describe('proving', () => {
  it('collects each proof durably, with its hash, and deletes journals when they are closed', async () => {
    const t = await hostWith({});
    const { proofs } = await t.prove({ count: 3 });
    await t.untilEnded(proofs);
    for (const proof of proofs) {
      const { summary } = await t.client.show_proof({ proof });
      const file = path.join(t.dataFolder, 'proofs', `${proof}.json`);
      expect(createHash('sha256').update(readFileSync(file)).digest('hex')).toBe(summary.sha256);
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
    expect(statSync(t.dataFolder).mode & 0o777).toBe(0o700);
    await t.close();
    expect(readdirSync(path.join(t.dataFolder, 'processes'))).toEqual([]);
  });

  it('keeps the idle prover, and gives it the next proof in the same run', async () => {
    const t = await hostWith({});
    await t.untilEnded((await t.prove()).proofs);
    const pid = await pidOf(t);
    await t.untilEnded((await t.prove()).proofs);
    expect(await pidOf(t)).toBe(pid);
    expect((await t.client.list_runs({})).runs.map((run) => [run.run, run.proofs.valid])).toEqual([['r1', 2]]);
  });

  it('feeds no more than twice the proofs in flight, at least four', async () => {
    const t = await hostWith({ partitionMs: 200 });
    await t.prove({ count: 20 });
    await until('fed', async () => (await t.client.status({})).queue.inProver === 4);
    expect((await t.client.status({})).queue.waiting).toBe(16);
    await t.close('now');
  });

  it('tells failed and invalid proofs apart and goes on', async () => {
    const t = await hostWith({ failProof: { proof: 'p1', code: 'synthesis_failed', message: 'no' }, invalidProof: 'p2' });
    const { proofs } = await t.prove({ count: 3 });
    await t.untilEnded(proofs);
    expect(await t.states()).toEqual({ p1: 'failed', p2: 'invalid', p3: 'valid' });
    expect((await t.client.show_proof({ proof: 'p1' })).summary.message).toMatch(/no/);
  });

  it('ends a proof that the prover refuses, with its words', async () => {
    const t = await hostWith({ refuse: { submit: { code: 'budget_too_small', message: 'a partition needs 9 GiB' } } });
    const { proofs } = await t.prove();
    await t.untilEnded(proofs);
    expect((await t.client.show_proof({ proof: 'p1' })).summary).toMatchObject({
      state: 'failed',
      message: expect.stringMatching(/9 GiB/) as string,
    });
  });

  it('loses no proof on a connection that broke while it was handed over', async () => {
    const t = await hostWith({ garbleAt: { cmd: 'submit', once: true } });
    const { proofs } = await t.prove({ count: 6 });
    await t.untilEnded(proofs);
    expect(new Set(Object.values(await t.states()))).toEqual(new Set(['valid']));
    const attempts = (await t.client.list_proofs({ state: 'any', limit: 10 })).proofs.map((proof) => proof.attempt);
    expect(attempts).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it('withdraws what waits at once and what is in the prover when it can', async () => {
    const t = await hostWith({ partitionMs: 100 });
    const { proofs } = await t.prove({ count: 8 });
    await until('fed', async () => (await t.client.status({})).queue.inProver === 4);
    const { states } = await t.client.withdraw({ proofs });
    expect(states.filter((entry) => entry.state === 'withdrawn').length).toBeGreaterThanOrEqual(7);
    await t.untilEnded(proofs);
    expect(Object.values(await t.states()).filter((state) => state === 'withdrawn').length).toBeGreaterThanOrEqual(7);
  });
});

describe('switching', () => {
  it('changes the scheduler under load in the same process, loses nothing and loads no params again', async () => {
    const t = await hostWith({ partitionMs: 30 });
    const first = (await t.prove({ count: 6 })).proofs;
    await until('started', async () => (await t.client.status({})).queue.inProver === 4);
    const pid = await pidOf(t);
    const answer = await t.client.switch_scheduler({ scheduler: { preset: 'batch' } });
    expect(answer).toMatchObject({ restarts: false });
    expect(answer.waitsForProofs).toBeGreaterThan(0);
    const second = (await t.prove({ count: 2 })).proofs;
    await t.untilEnded([...first, ...second]);
    expect(new Set(Object.values(await t.states()))).toEqual(new Set(['valid']));
    expect(await pidOf(t)).toBe(pid);
    const { runs } = await t.client.list_runs({});
    expect(runs.map((run) => [run.scheduler?.preset, run.state])).toEqual([
      ['batch', 'running'],
      ['interlock', 'finished'],
    ]);
    expect(runs.reduce((sum, run) => sum + run.proofs.valid, 0)).toBe(8);
    const loads = (await Promise.all(runs.map((run) => t.client.read_events({ run: run.run, limit: 5000 }))))
      .flatMap((page) => page.lines)
      .filter((line) => line.includes('"params_load_started"'));
    expect(loads).toHaveLength(1);
  });

  it.each([
    { ms: 600, events: 1e9 },
    { ms: 1e9, events: 150 },
  ])('cuts a long run at a proof boundary and continues it: %j', async (runLimits) => {
    const t = await hostWith({ partitionMs: 30 }, { runLimits });
    const { proofs } = await t.prove({ count: 16 });
    await t.untilEnded(proofs);
    const { runs } = await t.client.list_runs({});
    expect(runs.length).toBeGreaterThan(1);
    expect(new Set(runs.slice(1).map((run) => run.ended_by))).toEqual(new Set(['continued']));
    expect(runs.reduce((sum, run) => sum + run.proofs.valid, 0)).toBe(16);
  });

  it('refuses another scheduler while proofs are in work, unless asked to switch', async () => {
    const t = await hostWith({ partitionMs: 60 });
    const { proofs } = await t.prove({ count: 2 });
    await expect(t.prove({ scheduler: { preset: 'batch' } })).rejects.toMatchObject({ code: 'other_scheduler' });
    await expect(t.prove({ backend: 'emulated' })).rejects.toMatchObject({ code: 'other_scheduler' });
    const switched = await t.prove({ scheduler: { preset: 'batch' }, switch: true });
    expect(switched.scheduler?.preset).toBe('batch');
    await t.untilEnded([...proofs, ...switched.proofs]);
    expect((await t.client.show_run({ run: 'last' })).scheduler?.preset).toBe('batch');
  });

  it('never proves by one backend what was queued for another', async () => {
    const t = await hostWith({ partitionMs: 20 });
    const real = (await t.prove({ count: 7 })).proofs;
    const emulated = (await t.prove({ count: 2, backend: 'emulated', switch: true, priority: 4 })).proofs;
    await t.untilEnded([...real, ...emulated]);
    const { proofs } = await t.client.list_proofs({ state: 'any', limit: 100 });
    for (const proof of proofs) expect([proof.proof, proof.sha256 === null]).toEqual([proof.proof, emulated.includes(proof.proof)]);
    const { runs } = await t.client.list_runs({});
    expect(runs.map((run) => [run.backend, run.proofs.valid])).toEqual([
      ['emulated', 2],
      ['cpu', 7],
    ]);
  });

  it('restarts the prover where it cannot be configured', async () => {
    const t = await hostWith({});
    await t.untilEnded((await t.prove()).proofs);
    const pid = await pidOf(t);
    expect(await t.client.switch_scheduler({ scheduler: {}, backend: 'emulated' })).toMatchObject({ restarts: true });
    await t.untilEnded((await t.prove()).proofs);
    expect(await pidOf(t)).not.toBe(pid);
  });

  it('refuses what the machine has not', async () => {
    const t = await hostWith({});
    await expect(t.prove({ scheduler: { memory_budget_bytes: 2 ** 40 } })).rejects.toMatchObject({ code: 'invalid_scheduler' });
    await expect(t.prove({ backend: 'cuda' })).rejects.toMatchObject({ code: 'backend_unavailable' });
  });
});

describe('stopping', () => {
  it('drains: what was begun is finished, the rest stays in the queue and goes on after start', async () => {
    const t = await hostWith({ partitionMs: 60 });
    const { proofs } = await t.prove({ count: 6 });
    await until('one is at work', async () => (await t.client.status({})).queue.inProver === 4);
    await t.client.stop({ how: 'drain' });
    await until('drained', async () => (await t.client.status({})).prover.phase === 'absent');
    const held = await t.client.status({});
    expect(held.queue.held).toMatch(/operator/);
    expect(held.queue.waiting).toBeGreaterThanOrEqual(4);
    expect(Object.values(await t.states()).filter((state) => state === 'valid').length).toBeGreaterThanOrEqual(1);
    await until('closed', async () => (await t.client.show_run({ run: 'last' })).state === 'finished');
    await t.client.start({});
    await t.untilEnded(proofs);
    expect(new Set(Object.values(await t.states()))).toEqual(new Set(['valid']));
  });

  it('stops at once: the started proof goes back, unharmed', async () => {
    const t = await hostWith({ partitionMs: 300 });
    const { proofs } = await t.prove({ count: 2 });
    await until('started', async () => (await t.client.status({})).queue.inProver === 2);
    await t.client.stop({ how: 'now' });
    await until('stopped', async () => (await t.client.status({})).prover.phase === 'absent');
    expect(await t.states()).toEqual({ p1: 'waiting', p2: 'waiting' });
    await t.client.start({});
    await t.untilEnded(proofs);
  });
});

describe('crashes', () => {
  it('closes the run at its last event and proves the proof again as its next attempt', async () => {
    const t = await hostWith({ dieAt: { event: 'partition_ended', count: 5, signal: 'SIGKILL' } });
    const { proofs } = await t.prove({ count: 2 });
    await t.untilEnded(proofs);
    expect(await t.states()).toEqual({ p1: 'valid', p2: 'valid' });
    const { runs } = await t.client.list_runs({});
    expect(runs.map((run) => run.state)).toEqual(['running', 'interrupted']);
    const interrupted = await t.client.show_run({ run: 'r1' });
    expect(interrupted.ended_by).toMatch(/kernel out-of-memory likely/);
    expect((await t.client.show_proof({ proof: 'p2' })).summary.attempt).toBe(2);
    expect(t.notices.join()).toMatch(/killed by someone else .*run r1 was interrupted after 2 of 3 partitions of p2; p2 goes again/);
  });

  it('gives a proof up after its second prover was lost', async () => {
    const t = await hostWith({ dieAt: { event: 'partition_ended', count: 2, exit: 101 } });
    const { proofs } = await t.prove();
    await t.untilEnded(proofs);
    expect((await t.client.show_proof({ proof: 'p1' })).summary).toMatchObject({ state: 'failed', attempt: 2 });
    expect(t.notices.filter((notice) => notice.includes('code 101'))).toHaveLength(2);
  });

  it('keeps a result that was there before the crash', async () => {
    const t = await hostWith({ dieAt: { event: 'proof_ended', count: 1, signal: 'SIGKILL' } });
    const { proofs } = await t.prove();
    await t.untilEnded(proofs);
    expect((await t.client.show_proof({ proof: 'p1' })).summary).toMatchObject({ state: 'valid', attempt: 1 });
  });

  it('holds at once, with the reason, when the prover refuses to start', async () => {
    const t = await hostWith({ refuseStart: { exit: 3, stderr: 'params_unreadable: no right to read /params' } });
    await t.prove();
    await until('held', async () => (await t.client.status({})).queue.held !== null);
    const { queue } = await t.client.status({});
    expect(queue.held).toMatch(/refused to start.*no right to read/);
    expect((await t.client.list_runs({})).runs.map((run) => run.state)).toEqual(['failed']);
  });

  it('holds when there is no binary to run, naming the place', async () => {
    const t = await hostWith({}, { binary: '/nowhere/interlock-prover' });
    await t.prove();
    await until('held', async () => (await t.client.status({})).queue.held !== null);
    expect((await t.client.status({})).queue.held).toMatch(/nowhere.*does not exist/);
  });

  it('ends one that makes no progress, and its proof goes again', async () => {
    const watchdog = { periodMs: 100, floorMs: 800, withoutHistoryMs: 800 };
    const t = await hostWith({ spinAt: { event: 'kernel_started', count: 2 }, ignoreTerm: true, ignoreCommands: true }, { watchdog });
    await t.prove();
    await until('hung', () => t.notices.some((notice) => notice.includes('makes no progress')), 20_000);
    await until('again', async () => (await t.client.show_proof({ proof: 'p1' })).summary.attempt === 2, 20_000);
  });

  it('ends one that has gone silent', async () => {
    const watchdog = { periodMs: 100, floorMs: 800, withoutHistoryMs: 60_000 };
    const t = await hostWith({ silentAt: { event: 'kernel_started', count: 2 }, ignoreTerm: true }, { watchdog });
    await t.prove();
    await until('silent', () => t.notices.some((notice) => notice.includes('has not answered')), 20_000);
    await until('again', async () => (await t.client.show_proof({ proof: 'p1' })).summary.attempt === 2, 20_000);
  });
});

describe('closing', () => {
  it('leaves no process behind, whatever it takes', async () => {
    const t = await hostWith({ ignoreTerm: true, ignoreCommands: true, partitionMs: 200 });
    await t.prove({ count: 3 });
    await until('up', async () => (await pidOf(t)) !== null);
    const pid = (await pidOf(t)) ?? 0;
    await t.close('now');
    const state = readStat(pid)?.state;
    expect(state === undefined || state === 'Z').toBe(true);
  });

  it('takes no more calls that change something', async () => {
    const t = await hostWith({ partitionMs: 100 });
    await t.prove();
    const closing = t.close();
    await expect(t.prove()).rejects.toMatchObject({ code: 'busy' });
    await closing;
    expect(existsSync(path.join(t.dataFolder, 'history.sqlite'))).toBe(true);
  });
});
