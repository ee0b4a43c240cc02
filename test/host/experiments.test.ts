/** Experiments over the host's own queue: turns, verdicts, and what is left when one is stopped, killed or disturbed. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ExperimentReport } from '../../electron/contract/what-if.ts';
import { makeFakeProver, makeTempFolder } from '../support/fake-prover.ts';
import { ROOT, startHostProcess, until } from '../support/host-process.ts';
import { closeAll, hostWith, type TestHost } from './host-fixture.ts';

const PROVER = path.join(ROOT, 'native/target/release/interlock-prover');
const SMALL = { circuit: 'squarings', constraints: 100, partitions: 2, rounds: 2, proofs_per_block: 2 } as const;
const A = { preset: 'per-partition', proofs_in_flight: 1 } as const;
const B = { preset: 'interlock', proofs_in_flight: 1 } as const;

afterEach(closeAll);

async function untilOver(t: Pick<TestHost, 'client'>, experiment: string, ms = 60_000): Promise<ExperimentReport> {
  let report = await t.client.show_experiment({ experiment });
  await until(`${experiment} is over`, async () => (report = await t.client.show_experiment({ experiment })).state !== 'running', ms);
  return report;
}
const activeOf = async (t: Pick<TestHost, 'client'>) => (await t.client.resolve_scheduler({ scheduler: {} })).waitsForProofs;
const events = async (t: TestHost, runs: string[]) =>
  (await Promise.all(runs.map((run) => t.client.read_events({ run, limit: 5000 })))).flatMap((page) => page.lines);

describe('over a scripted prover', () => {
  it('takes turns in one process, each block after a change of its own, and goes back to the scheduler of before', async () => {
    const t = await hostWith({ partitionMs: 5 });
    await t.untilEnded((await t.prove({ scheduler: { preset: 'batch' } })).proofs);
    const { pid } = (await t.client.status({})).prover;
    const begun = await t.client.start_experiment({ ...SMALL, a: A, b: B });
    expect(begun).toMatchObject({ experiment: 'x1', state: 'running', verdict: 'too_few', warm_up_proofs: 1, blocks: [] });
    const report = await untilOver(t, 'x1');
    expect(report).toMatchObject({ state: 'done', message: null });
    expect(report.blocks.map(({ round, side, warm_up, proofs }) => [round, side, warm_up, proofs])).toEqual([
      [0, 'a', true, 0],
      [1, 'a', false, 2],
      [1, 'b', false, 2],
      [2, 'b', false, 2],
      [2, 'a', false, 2],
    ]);
    expect(report.blocks.map((block) => block.s_per_proof === null)).toEqual([true, false, false, false, false]);
    const { runs } = await t.client.list_runs({});
    const presetOf = (run: string | null) => runs.find((summary) => summary.run === run)?.scheduler?.preset;
    expect(report.blocks.map((block) => presetOf(block.run))).toEqual(['per-partition', 'per-partition', 'interlock', 'interlock', 'per-partition']); // prettier-ignore
    await until('back', async () => (await t.client.status({})).run?.scheduler.preset === 'batch');
    expect((await t.client.status({})).prover.pid).toBe(pid);
    const lines = await events(t, runs.map((run) => run.run)); // prettier-ignore
    expect(lines.filter((line) => line.includes('"params_load_started"'))).toHaveLength(1);
    // 1 before, 1 to warm up, 4 × (1 + 2).
    expect(Object.values(await t.states())).toEqual(Array.from({ length: 14 }, () => 'valid'));
    // The figure of a block is from the process's own stamps.
    const block = report.blocks[2];
    const ends = lines
      .map((line) => JSON.parse(line) as { e: string; proof: string; t: number })
      .filter((line) => line.e === 'proof_ended');
    const ofBlock = ['p6', 'p7', 'p8'].map((proof) => ends.find((end) => end.proof === proof)?.t ?? 0);
    expect(block?.s_per_proof).toBeCloseTo(((ofBlock[2] ?? 0) - (ofBlock[0] ?? 0)) / 2 / 1e9, 9);
  });

  it('refuses every other proof, switch and experiment meanwhile, naming itself', async () => {
    const t = await hostWith({ partitionMs: 30 });
    await t.client.start_experiment({ ...SMALL, a: A, b: B, rounds: 5 });
    const named = { code: 'busy', message: expect.stringMatching(/Experiment x1 .*Per-partition.* against .*interlock/) as string };
    await expect(t.prove({ scheduler: { preset: 'batch' }, switch: true })).rejects.toMatchObject(named);
    await expect(t.prove()).rejects.toMatchObject(named);
    await expect(t.client.switch_scheduler({ scheduler: { preset: 'batch' } })).rejects.toMatchObject(named);
    await expect(t.client.start_experiment({ ...SMALL, a: A, b: B })).rejects.toMatchObject(named);
    await t.client.stop_experiment({ experiment: 'x1' });
    await t.untilEnded((await t.prove()).proofs);
  });

  it('does not begin beside work, a hold or a switch that waits', async () => {
    const t = await hostWith({ partitionMs: 60 });
    const { proofs } = await t.prove({ count: 2 });
    await expect(t.client.start_experiment({ ...SMALL, a: A, b: B })).rejects.toMatchObject({
      code: 'busy',
      message: expect.stringMatching(/2 proofs wait or are in work/) as string,
    });
    await t.untilEnded(proofs);
    await expect(t.client.start_experiment({ ...SMALL, a: A, b: { gpu_workers: 2, memory_budget_bytes: 2 ** 40 } })).rejects.toMatchObject({
      code: 'invalid_scheduler',
    });
    await t.client.stop({ how: 'drain' });
    await expect(t.client.start_experiment({ ...SMALL, a: A, b: B })).rejects.toMatchObject({
      code: 'busy',
      message: expect.stringMatching(/held/) as string,
    });
    await expect(t.client.show_experiment({ experiment: 'x1' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('stopped, it withdraws what has not begun, keeps what it has and goes back', async () => {
    const t = await hostWith({ partitionMs: 100 });
    await t.client.start_experiment({ ...SMALL, a: A, b: B, rounds: 5 });
    // In the first block of the second round, with its proofs in the prover.
    await until('in round 2', async () => {
      const { blocks } = await t.client.show_experiment({ experiment: 'x1' });
      return blocks.length === 4 && (await t.client.status({})).queue.inProver === 3;
    });
    const report = await t.client.stop_experiment({ experiment: 'x1' });
    expect(report).toMatchObject({
      state: 'stopped',
      message: expect.stringMatching(/Stopped in round 2 of 5/) as string,
      verdict: 'too_few',
    });
    expect(report.ratio).toBeGreaterThan(0);
    await until('nothing is left', async () => {
      const { waiting, inProver } = (await t.client.status({})).queue;
      return waiting === 0 && inProver === 0;
    });
    const states = Object.values(await t.states());
    expect(states.filter((state) => state === 'withdrawn').length).toBeGreaterThan(0);
    await until('back', async () => (await activeOf(t)) === 0 && (await t.client.status({})).switching === null);
    expect((await t.prove()).scheduler.overrides).toEqual([]);
    // Asking again changes nothing.
    expect((await t.client.stop_experiment({ experiment: 'x1' })).message).toBe(report.message);
  });

  it('ends as failed where a proof does, or where the prover is lost, and says in which round', async () => {
    const failing = await hostWith({ failProof: { proof: 'p4', code: 'synthesis_failed', message: 'no' } });
    await failing.client.start_experiment({ ...SMALL, a: A, b: B });
    expect(await untilOver(failing, 'x1')).toMatchObject({
      state: 'failed',
      message: expect.stringMatching(/p4 ended as failed \(.*no.*\) in round 1 of 2/) as string,
    });
    const dying = await hostWith({ partitionMs: 20, dieAt: { event: 'proof_ended', count: 5, signal: 'SIGKILL' } });
    await dying.client.start_experiment({ ...SMALL, a: A, b: B });
    const report = await untilOver(dying, 'x1');
    expect(report.state).toBe('failed');
    expect(report.message).toMatch(/(needed 2 attempts|was replaced) in round 1 of 2/);
  });

  it('does not count a block in the middle of which a long run was cut, with an empty pipeline', async () => {
    const t = await hostWith({ partitionMs: 5 }, { runLimits: { ms: 1e9, events: 250 } });
    await t.client.start_experiment({ ...SMALL, a: A, b: A, proofs_per_block: 5 });
    const { state, blocks } = await untilOver(t, 'x1');
    expect(state).toBe('done');
    const { proofs } = await t.client.list_proofs({ state: 'any', limit: 100 });
    const runsOf = (from: number, to: number) =>
      new Set(proofs.filter(({ proof }) => Number(proof.slice(1)) >= from && Number(proof.slice(1)) <= to).map((p) => p.run));
    const cut = blocks.slice(1).map((_, index) => runsOf(2 + 6 * index, 7 + 6 * index).size > 1);
    expect(cut).toContain(true);
    expect(blocks.slice(1).map(({ s_per_proof, proofs: counted }) => s_per_proof === null && counted === 0)).toEqual(cut);
  });

  it('ends where the operator stops the prover', async () => {
    const t = await hostWith({ partitionMs: 30 });
    await t.client.start_experiment({ ...SMALL, a: A, b: B });
    await until('at work', async () => (await t.client.status({})).queue.inProver > 0);
    await t.client.stop({ how: 'drain' });
    expect(await untilOver(t, 'x1')).toMatchObject({ state: 'stopped', message: expect.stringMatching(/held.*operator/) as string });
  });

  it('ends in order when its host is closed', async () => {
    const t = await hostWith({ partitionMs: 30 });
    await t.client.start_experiment({ ...SMALL, a: A, b: B });
    await until('at work', async () => (await t.client.status({})).queue.inProver > 0);
    await t.close();
    const next = await hostWith({}, { dataFolder: t.dataFolder });
    expect(await next.client.show_experiment({ experiment: 'x1' })).toMatchObject({
      state: 'stopped',
      message: expect.stringMatching(/host was closed/) as string,
    });
    expect((await next.client.status({})).queue).toMatchObject({ waiting: 0, inProver: 0 });
  });
});

describe('a host that is killed in the middle', () => {
  it.each(['the host alone', 'host and prover'])(
    '%s: the next one stops it with what it has, withdraws its proofs and goes back',
    async (who) => {
      const folder = makeTempFolder('experiment');
      const env = { INTERLOCK_PROVER: makeFakeProver({ partitionMs: 40 }) };
      const first = await startHostProcess(folder, env);
      await first.client.start_experiment({ ...SMALL, a: A, b: { ...B, gpu_workers: 3 }, rounds: 5 });
      await until(
        'one round',
        async () => (await first.client.show_experiment({ experiment: 'x1' })).blocks.filter((b) => b.s_per_proof).length >= 3,
      );
      const before = await first.client.show_experiment({ experiment: 'x1' });
      const { pid } = (await first.client.status({})).prover;
      if (who !== 'the host alone' && pid !== null) process.kill(pid, 'SIGKILL');
      await first.kill('SIGKILL');
      const next = await startHostProcess(folder, env);
      try {
        const report = await next.client.show_experiment({ experiment: 'x1' });
        expect(report).toMatchObject({ state: 'stopped', message: expect.stringMatching(/host was lost in round \d of 5/) as string });
        expect(report.blocks.slice(0, before.blocks.length).map((b) => b.s_per_proof).filter(Boolean).length).toBeGreaterThanOrEqual(3); // prettier-ignore
        await until('nothing is left', async () => {
          const { waiting, inProver } = (await next.client.status({})).queue;
          return waiting === 0 && inProver === 0;
        });
        await new Promise((resolve) => setTimeout(resolve, 300));
        expect((await next.client.show_experiment({ experiment: 'x1' })).blocks).toHaveLength(report.blocks.length);
        const answer = await next.client.prove({ circuit: 'squarings', constraints: 100, partitions: 1 });
        expect(answer.scheduler).toMatchObject({ preset: 'interlock', overrides: [] });
        const { notices } = await next.client.status({});
        expect(notices.some((notice) => /Experiment x1 was stopped/.test(notice.message))).toBe(true);
      } finally {
        await next.kill('SIGTERM');
      }
    },
  );
});

describe.skipIf(!existsSync(PROVER))('against the emulated device (needs the built prover)', () => {
  it('sees what the second worker gains, in one process that loads params once', async () => {
    const t = await hostWith(
      {},
      { binary: PROVER, backend: 'emulated', emulate: 'synthesis=20ms,prepare=40ms,kernels=40ms,finish=40ms,load=300ms' },
    );
    await t.client.start_experiment({
      a: { preset: 'per-partition' },
      b: { preset: 'interlock' },
      rounds: 3, proofs_per_block: 3, circuit: 'squarings', constraints: 100, partitions: 3,
    }); // prettier-ignore
    const report = await untilOver(t, 'x1');
    expect(report).toMatchObject({ state: 'done', verdict: 'b_faster', warm_up_proofs: 2 });
    // One worker: 40 + 40 + 40 a partition. Two: at best 60.
    const mean = (side: 'a' | 'b') => {
      const all = report.blocks.filter((block) => block.side === side && !block.warm_up).map((block) => block.s_per_proof ?? NaN);
      return all.reduce((sum, value) => sum + value, 0) / all.length;
    };
    expect(mean('a')).toBeGreaterThan(0.35);
    expect(report.ratio).toBeGreaterThan(0.45);
    expect(report.ratio).toBeLessThan(0.75);
    expect(report.difference_s?.value).toBeCloseTo(mean('b') - mean('a'), 9);
    expect(report.difference_s?.high).toBeLessThan(0);
    const runs = (await t.client.list_runs({})).runs.map((run) => run.run);
    const lines = await events(t, runs);
    expect(lines.filter((line) => line.includes('"params_load_started"'))).toHaveLength(1);
    expect(new Set(lines.map((line) => (JSON.parse(line) as { process: string }).process)).size).toBe(1);
  }, 90_000);
});
