/** The real prover under the real host: the two must agree on every answer, and a switch must not load params again. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ROOT, until } from '../support/host-process.ts';
import { closeAll, hostWith } from './host-fixture.ts';

const PROVER = path.join(ROOT, 'native/target/release/interlock-prover');

afterEach(closeAll);

describe.skipIf(!existsSync(PROVER))('with the real prover (needs the built prover)', () => {
  it('switches the scheduler under load: same process, params loaded once, nothing lost', async () => {
    const t = await hostWith({}, { binary: PROVER });
    const first = (await t.prove({ constraints: 1000, count: 5 })).proofs;
    await until('at work', async () => (await t.client.status({})).queue.inProver > 0);
    const { pid } = (await t.client.status({})).prover;
    await t.client.switch_scheduler({ scheduler: { preset: 'per-partition' } });
    const second = (await t.prove({ constraints: 1000, count: 2 })).proofs;
    await t.untilEnded([...first, ...second], 60_000);
    expect(new Set(Object.values(await t.states()))).toEqual(new Set(['valid']));
    expect((await t.client.status({})).prover.pid).toBe(pid);
    const { runs } = await t.client.list_runs({});
    expect(runs.map((run) => run.scheduler?.preset)).toEqual(['per-partition', 'interlock']);
    expect(runs.reduce((sum, run) => sum + run.proofs.valid, 0)).toBe(7);
    const pages = await Promise.all(runs.map((run) => t.client.read_events({ run: run.run, limit: 5000 })));
    expect(pages.flatMap((page) => page.lines).filter((line) => line.includes('"params_load_started"'))).toHaveLength(1);
  }, 90_000);

  it('keeps its connection over many answers, idle and at work', async () => {
    const watchdog = { periodMs: 100, floorMs: 2_000, withoutHistoryMs: 60_000 };
    const t = await hostWith({}, { binary: PROVER, watchdog });
    const { proofs } = await t.prove({ backend: 'emulated', emulate: 'synthesis=200ms,prepare=20ms,kernels=150ms,finish=50ms', count: 3 });
    await t.untilEnded(proofs, 60_000);
    // Twice the limit of silence: a single answer that was refused would end the prover.
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    expect(t.notices).toEqual([]);
    expect((await t.client.status({})).prover.phase).toBe('ready');
    for (const proof of proofs) expect((await t.client.show_proof({ proof })).summary).toMatchObject({ state: 'valid', sha256: null });
  }, 90_000);

  it('ends one whose device stage hangs, and says where', async () => {
    const watchdog = { periodMs: 200, floorMs: 2_000, withoutHistoryMs: 2_000 };
    const t = await hostWith({}, { binary: PROVER, watchdog });
    await t.prove({ backend: 'emulated', emulate: 'synthesis=20ms,kernels=50ms,hang=p1.1' });
    await until('hung', () => t.notices.some((notice) => /makes no progress: GPU worker \d+ of emu0 in device/.test(notice)), 30_000);
    await until('again', async () => (await t.client.show_proof({ proof: 'p1' })).summary.attempt === 2, 30_000);
  }, 90_000);
});
