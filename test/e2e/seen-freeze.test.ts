/** A frozen host (FREEZE_S seconds, 8 by default): the prover goes on, and nothing that happened meanwhile is missing afterwards. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../support/host-process.ts';
import { expectNoHole, hasProver, only, Stage, type Stored } from '../support/seen.ts';

const FREEZE_S = Number(process.env.FREEZE_S ?? 8);
const KERNEL_MS = 4;
const PARTITIONS = 500;
/** Work for longer than the frost, if every kernel follows the one before at once. */
const COUNT = Math.ceil(((FREEZE_S + 6) * 1000) / (KERNEL_MS * PARTITIONS));
/** The host gives the prover up to twice as many proofs: it has enough for the whole frost. */
const IN_FLIGHT = Math.ceil(COUNT / 2);

/** T is stopped, S sleeping, R running. */
function stateOf(pid: number): string | undefined {
  return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1];
}

describe.skipIf(!hasProver)('a host that is frozen (needs the built prover)', () => {
  it(
    `for ${FREEZE_S} s under load: no event dropped, no number missing, the same proofs`,
    async () => {
      const stage = new Stage();
      const host = await stage.host();
      const hostPid = host.child.pid ?? 0;
      const proving = stage.start(
        'prove', '--circuit', 'squarings', '--constraints', '400', '--partitions', String(PARTITIONS), '--count', String(COUNT),
        '--backend', 'emulated', '--emulate', `synthesis=2ms,prepare=1ms,kernels=${KERNEL_MS}ms,finish=1ms`,
        '--proofs-in-flight', String(IN_FLIGHT), '--synthesis-workers', '4', '--json',
      ); // prettier-ignore
      const status = () => host.client.status({});
      await until('the prover has all proofs', async () => (await status()).queue.inProver === COUNT);
      const { pid } = (await status()).prover;
      const journal = path.join(stage.processFolders()[0] ?? '', 'journal.ndjson');
      await until('events are there', () => existsSync(journal) && readFileSync(journal).length > 100_000);

      const nowNs = () => process.hrtime.bigint();
      host.child.kill('SIGSTOP');
      await until('the host stands still', () => stateOf(hostPid) === 'T');
      const fromNs = nowNs();
      await new Promise((resolve) => setTimeout(resolve, FREEZE_S * 1000));
      const untilNs = nowNs();
      expect(stateOf(hostPid)).toBe('T');
      expect(pid !== null && stateOf(pid)).toMatch(/[RS]/);
      host.child.kill('SIGCONT');

      const { code, stdout, stderr } = await proving.ended;
      expect(code, stderr).toBe(0);
      const { proofs } = JSON.parse(stdout) as { proofs: { proof: string; state: string; attempt: number; run: string }[] };
      expect((await status()).prover).toMatchObject({ phase: 'ready', pid });
      expect((await status()).notices.filter((notice) => notice.severity !== 'info')).toEqual([]);
      await host.kill('SIGTERM');

      const expected = Array.from({ length: COUNT }, (_, index) => ({ proof: `p${index + 1}`, state: 'valid', attempt: 1, run: 'r1' }));
      const told = proofs.map(({ proof, state, attempt, run }) => ({ proof, state, attempt, run }));
      expect(told.sort((a, b) => Number(a.proof.slice(1)) - Number(b.proof.slice(1)))).toEqual(expected);

      const report = await stage.report('last');
      expect(report).toMatchObject({ run: 'r1', state: 'finished', events: { lost: 0, unparsed: 0 }, processes: [{ exit: 0 }] });
      const events = await stage.events('last');
      expect(events).toHaveLength(report.events.count);
      expectNoHole(events);
      expect(events[0]).toMatchObject({ seq: 0, e: 'hello' });
      expect(events.at(-1)).toMatchObject({ e: 'bye' });
      expect(only(events, 'lost', 'write_failed')).toEqual([]);
      const ended = only(events, 'partition_ended');
      expect(new Set(ended.map((event) => `${event.proof} ${event.partition} ${event.outcome}`)).size).toBe(COUNT * PARTITIONS);

      // The prover worked while the host stood still, and had work left then.
      const origin = BigInt((events[0] as Stored<'hello'>).monotonic_ns);
      const [from, to] = [Number(fromNs - origin), Number(untilNs - origin)];
      const kernels = only(events, 'kernel_ended').map((event) => event.t);
      const meanwhile = kernels.filter((t) => t >= from && t < to).length;
      console.log(
        `${events.length} events in all; ${meanwhile} kernels ended while the host stood still for ${((to - from) / 1e9).toFixed(1)} s`,
      );
      expect(meanwhile).toBeGreaterThan((FREEZE_S * 1000) / KERNEL_MS / 10);
      expect(kernels.filter((t) => t >= to).length).toBeGreaterThan(0);
      expect(kernels.filter((t) => t < from).length).toBeGreaterThan(0);
    },
    180_000 + FREEZE_S * 10_000,
  );
});
