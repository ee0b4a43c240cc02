/** Stored runs beside each other, as the host answers: one changed key, and a run that was cut off. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { JournalLine } from '../../electron/contract/timeline-events.ts';
import { openStore } from '../../electron/store/store.ts';
import { workerClock } from '../../electron/store/worker-clock.ts';
import { makeFakeProver, makeTempFolder } from '../support/fake-prover.ts';
import { processesOf, startHostProcess, until } from '../support/host-process.ts';
import { makeEvent, makeRun, PROCESS_A, SCHEDULER, toText } from '../support/journal.ts';
import { SPEC } from '../support/store-spec.ts';
import { closeAll, hostWith } from './host-fixture.ts';

afterEach(closeAll);

const WORK = { circuit: 'squarings', constraints: 100, partitions: 2 } as const;
const scheduler = (workers: number) => ({ preset: 'interlock', proofs_in_flight: 1, gpu_workers: workers }) as const;

describe('compare', () => {
  it('lists the one changed key, the difference with its interval and n, and causes per proof', async () => {
    const t = await hostWith({ partitionMs: 10 });
    await t.untilEnded((await t.prove({ ...WORK, scheduler: scheduler(1), count: 8 })).proofs);
    await t.untilEnded((await t.prove({ ...WORK, scheduler: scheduler(2), count: 7, switch: true })).proofs);
    // The account reaches to the horizon, which follows the last proof by a mark.
    await until('all is accounted for', async () => (await t.client.idle({ run: 'last' })).devices[0]?.steady?.proofs === 6);
    const report = await t.client.compare({ runs: ['r1', 'last'] });
    expect(report).toMatchObject({ schema: 1, settings: [{ key: 'gpu_workers', values: [1, 2] }] });
    const [delta] = report.deltas;
    expect(delta?.n).toEqual([8, 7]);
    const [a, b] = report.runs.map((run) => run.s_per_proof.value ?? NaN);
    expect(delta?.s_per_proof?.value).toBeCloseTo((b ?? 0) - (a ?? 0), 9);
    expect(delta?.s_per_proof?.low).toBeLessThan(delta?.s_per_proof?.high ?? 0);
    expect(delta?.ratio).toBeCloseTo((b ?? 0) / (a ?? 1), 9);
    expect(delta?.causes.length).toBeGreaterThan(0);
    // What a proof costs the device is all of the steady stretch: kernels, causes and unknown add up to s/proof.
    for (const { s_per_proof, per_proof } of report.runs) {
      const idle = Object.values(per_proof?.idle_ns ?? {}).reduce((sum, ns) => sum + ns, 0);
      expect((per_proof?.kernel_ns ?? 0) + idle + (per_proof?.unknown_ns ?? 0)).toBeCloseTo((s_per_proof.value ?? 0) * 1e9, -3);
    }
    await expect(t.client.compare({ runs: ['r1', 'r99'] })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('says of a run whose host and prover were killed that it ends at its last event; what was cut off is in no figure', async () => {
    const folder = makeTempFolder('ghost');
    const env = { INTERLOCK_PROVER: makeFakeProver({ partitionMs: 30 }) };
    const first = await startHostProcess(folder, env);
    await first.client.prove({ ...WORK, scheduler: scheduler(1), count: 9 });
    await until('four are made', async () => (await first.client.list_proofs({ state: 'ended', limit: 10 })).proofs.length >= 4);
    const { pid } = (await first.client.status({})).prover;
    if (pid !== null) process.kill(pid, 'SIGKILL');
    await first.kill('SIGKILL');
    await until('both are gone', () => processesOf(folder).length === 0);
    // Time that no run may claim.
    await new Promise((resolve) => setTimeout(resolve, 1_500));

    const next = await startHostProcess(folder, env);
    try {
      await until('the rest is made', async () => (await next.client.list_proofs({ state: 'ended', limit: 20 })).proofs.length === 9);
      const ghost = await next.client.show_run({ run: 'r1' });
      expect(ghost.state).toBe('interrupted');
      const { lines } = await next.client.read_events({ run: 'r1', limit: 5000 });
      const last = Math.max(...lines.map((line) => (JSON.parse(line) as { run_t: number }).run_t));
      expect(ghost.wall_ns).toBe(last);
      const outcomes = ghost.proofs.map((proof) => proof.outcome);
      expect(outcomes).toContain('interrupted');
      const report = await next.client.compare({ runs: ['r1', 'last'] });
      expect(report.warnings).toContain('r1 was interrupted: it ends at its last event, and proofs that were cut off are not counted.');
      expect(report.runs[0]?.n).toBe(outcomes.filter((outcome) => outcome === 'valid').length);
      expect(report.runs.map((run) => run.n).reduce((sum, n) => sum + n, 0)).toBe(9);
      // A proof takes about 60 ms here; the second and a half is in nobody's pace.
      expect(report.runs[0]?.s_per_proof.value).toBeLessThan(1);
    } finally {
      await next.kill('SIGTERM');
    }
  });

  it('takes a program that has the prover’s old number for what it is: another one', async () => {
    const folder = makeTempFolder('ghost');
    const bystander = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'ignore', detached: true });
    try {
      const store = await openStore({ folder, clock: workerClock });
      const { run } = await store.createRun({
        scheduler: { ...SCHEDULER, proofs_in_flight: 1 },
        backend: 'cpu',
        engine: 'builtin',
        emulate: null,
      });
      await store.addProofs(Array.from({ length: 5 }, () => SPEC));
      const own = path.join(folder, 'processes', PROCESS_A);
      mkdirSync(own, { recursive: true });
      const journal = path.join(own, 'journal.ndjson');
      await store.addProcess({ process: PROCESS_A, pid: bystander.pid ?? 0, startTicks: '1', folder: own, journal, backend: 'cpu', run });
      // Four proofs are made; the fifth has begun.
      const lines = makeRun({ proofs: 4, partitions: 1, open: true });
      const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
      const [hello, ...rest] = lines.lines;
      const last = (rest.at(-1)?.t ?? 0) + 1;
      rest.push(makeEvent('proof_accepted', last, lines.seq, { proof: 'p5', partitions: 1, run }));
      writeFileSync(journal, toText([{ ...hello, boot_id: bootId, pid: bystander.pid, start_ticks: '1' } as JournalLine, ...rest]));
      for (const proof of ['p1', 'p2', 'p3', 'p4', 'p5']) await store.markSubmitted(proof, 1, run, PROCESS_A);
      await store.close();

      const t = await hostWith({}, { dataFolder: folder });
      const ghost = await t.client.show_run({ run });
      expect(ghost).toMatchObject({ state: 'interrupted', wall_ns: last - 10e6 });
      expect(ghost.proofs.map((proof) => proof.outcome)).toEqual(['valid', 'valid', 'valid', 'valid', 'interrupted']);
      expect(ghost.s_per_proof_detail).toMatchObject({ n: 4, value: 0.12 });
      expect([bystander.exitCode, bystander.signalCode]).toEqual([null, null]);
    } finally {
      bystander.kill('SIGKILL');
    }
  });
});
