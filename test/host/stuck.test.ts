/** A prover that cannot be killed (state D): fenced, its proofs kept for later, the host itself can be left. */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import type { Engine, ProcessEnd, ProverProcess } from '../../electron/engines/engine.ts';
import { until } from '../support/host-process.ts';
import { closeAll, hostWith } from './host-fixture.ts';

afterEach(closeAll);

function stuckEngine() {
  let starts = 0;
  let thaw: (end: ProcessEnd) => void = () => undefined;
  const engine = {
    name: 'builtin',
    start: (options: { process: string; folder: string }) => {
      starts++;
      const attached = { process: options.process, pid: 4242, backend: 'cpu', phase: 'ready', run: null, proofs: [] };
      const process = {
        identity: { process: options.process, folder: options.folder, pid: 4242, startTicks: '1', bootId: randomUUID() },
        adopted: false,
        attached,
        isLinked: true,
        onRelinked: () => undefined,
        run: () => Promise.resolve(),
        submit: () => Promise.resolve(),
        withdraw: () => Promise.resolve('stopping'),
        readState: () => new Promise(() => undefined),
        drain: () => Promise.resolve(),
        end: () =>
          Promise.resolve([
            {
              rung: 'kill',
              atNs: 0,
              waitedNs: 5e9,
              result: 'stuck',
              message: 'It cannot be killed: it is in state D. A reboot is needed.',
            },
          ]),
        release: () => undefined,
        ended: new Promise<ProcessEnd>((resolve) => (thaw = resolve)),
        stderr: () => ({ text: '', bytes: 0, droppedBytes: 0 }),
      };
      return Promise.resolve(process as unknown as ProverProcess);
    },
  } as unknown as Engine;
  return {
    engine,
    starts: () => starts,
    thaw: () => thaw({ reason: 'killed_by_us', exit: null, signal: 'SIGKILL', message: 'ended by signal 9', outputHeld: false }),
  };
}

it('is fenced: no new work, no respawn, a text that says what to do, and the host can be left', async () => {
  const stub = stuckEngine();
  const watchdog = { periodMs: 50, floorMs: 300, withoutHistoryMs: 300 };
  const t = await hostWith({}, { engine: stub.engine, watchdog });
  await t.prove({ count: 2 });
  await until('stuck', async () => (await t.client.status({})).prover.phase === 'stuck');
  await until('held', async () => (await t.client.status({})).queue.held !== null);
  const status = await t.client.status({});
  expect(status.queue).toMatchObject({ waiting: 2, inProver: 0, held: expect.stringMatching(/state D.*reboot/) as string });
  expect(t.notices.join()).toMatch(/process 4242\) is stuck/);
  await expect(t.client.start({})).rejects.toMatchObject({ code: 'busy' });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(stub.starts()).toBe(1);
  const attempts = (await t.client.list_proofs({ state: 'any', limit: 10 })).proofs.map((proof) => [proof.state, proof.attempt]);
  expect(attempts).toEqual([
    ['waiting', 2],
    ['waiting', 2],
  ]);
  const from = performance.now();
  await t.close();
  expect(performance.now() - from).toBeLessThan(10_000);
});

it('that ends after all frees the way again', async () => {
  const stub = stuckEngine();
  const t = await hostWith({}, { engine: stub.engine, watchdog: { periodMs: 50, floorMs: 300, withoutHistoryMs: 300 } });
  await t.prove();
  await until('stuck', async () => (await t.client.status({})).prover.phase === 'stuck');
  stub.thaw();
  await until('free', async () => (await t.client.status({})).prover.phase !== 'stuck');
  await t.client.start({});
  await until('started again', () => stub.starts() === 2);
});
