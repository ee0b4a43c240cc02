/** Another scheduler under load: the old run ends when its proofs have, the new one begins in the same process with the params it has. */
import { describe, expect, it } from 'vitest';
import { until } from '../support/host-process.ts';
import { expectNoHole, hasProver, only, Stage } from '../support/seen.ts';

/** Many more than a prover is given at once: most wait in the host's queue when the switch comes. */
const COUNT = 20;

const BACKENDS = {
  cpu: [],
  emulated: ['--emulate', 'synthesis=30ms,prepare=10ms,kernels=50ms,finish=10ms,load=300ms'],
} as const;

describe.skipIf(!hasProver)('a switch of scheduler under load (needs the built prover)', () => {
  it.each(Object.keys(BACKENDS) as (keyof typeof BACKENDS)[])('same process, params stay, nothing lost: %s', async (backend) => {
    const stage = new Stage();
    const host = await stage.host();
    const proving = stage.start(
      'prove', '--circuit', 'squarings', '--constraints', '400', '--partitions', '6', '--count', String(COUNT),
      '--backend', backend, ...BACKENDS[backend], '--scheduler', 'interlock', '--json',
    ); // prettier-ignore
    const valid = async () => (await host.client.list_proofs({ state: 'ended', limit: 100 })).proofs.length;
    await until('a proof is made', async () => (await valid()) > 0);
    const { inProver } = (await host.client.status({})).queue;
    expect(inProver, 'the prover is at work when the switch is asked for').toBeGreaterThan(0);
    const answer = JSON.parse(await stage.run('switch', '--scheduler', 'per-partition', '--json')) as { restarts: boolean };
    expect(answer.restarts).toBe(false);
    const { code, stderr } = await proving.ended;
    expect(code, stderr).toBe(0);

    const { runs } = await host.client.list_runs({});
    const said = JSON.stringify([(await host.client.status({})).notices, runs.map((run) => [run.run, run.state, run.ended_by])]);
    expect(
      runs.map((run) => run.scheduler?.preset),
      said,
    ).toEqual(['per-partition', 'interlock']);
    const [after, before] = runs.map((run) => run.run) as [string, string];
    const [old, fresh] = [await stage.events(before), await stage.events(after)];
    expect(only(old, 'proof_ended').length).toBeGreaterThan(0);
    expect(only(fresh, 'proof_ended').length).toBeGreaterThan(0);

    const all = [...old, ...fresh];
    expectNoHole(all);
    expect(all[0]).toMatchObject({ seq: 0, e: 'hello' });
    expect(only(all, 'lost')).toEqual([]);
    expect(only(all, 'params_load_started')).toHaveLength(1);
    expect(only(all, 'params_load_ended').map((event) => event.ok)).toEqual([true]);

    const [started] = only(fresh, 'run_started');
    const lastEnd = only(old, 'proof_ended').at(-1);
    expect(started?.scheduler).toMatchObject({ preset: 'per-partition', gpu_workers: 1, lock_scope: 'job' });
    expect(started?.seq).toBeGreaterThan(lastEnd?.seq ?? Infinity);
    expect(started?.t).toBeGreaterThan(lastEnd?.t ?? Infinity);
    expect(only(all, 'run_ended').map(({ run, reason }) => ({ run, reason }))).toEqual([{ run: before, reason: 'configured' }]);

    const ended = only(all, 'proof_ended');
    expect(ended.map((event) => event.outcome)).toEqual(Array.from({ length: COUNT }, () => 'valid'));
    expect(new Set(ended.map((event) => event.proof)).size).toBe(COUNT);
    for (const run of [before, after]) expect((await stage.report(run)).events).toMatchObject({ lost: 0, unparsed: 0 });
    expect((await stage.report(before)).state).toBe('finished');
    await host.kill('SIGTERM');
  });
});
