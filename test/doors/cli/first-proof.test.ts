/** The first proof: made once, never beside other provers, and what is said of the second worker is what the spans say. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Client } from '../../../electron/contract/api.ts';
import type { PartitionReport, RunReport } from '../../../electron/contract/run-report.ts';
import { computeOverlap, runFirstProof, secondWorker, summarise } from '../../../electron/doors/cli/first-proof.ts';
import { findOtherProvers } from '../../../electron/doors/cli/other-provers.ts';
import { systemClock } from '../../../electron/host/clock.ts';

const S = 1e9;
/** A partition from its lane: prepare, kernels, finish as [start, end] in seconds. */
function partition(
  index: number,
  worker: number,
  prepare: [number, number],
  kernels: [number, number],
  finish: [number, number],
): PartitionReport {
  const span = ([start, end]: [number, number]) => ({ start_ns: start * S, end_ns: end * S });
  return {
    partition: index,
    attempt: 1,
    outcome: 'valid',
    device: 'cpu0',
    worker,
    stages: { prepare: span(prepare), finish: span(finish), job: { start_ns: prepare[0] * S, end_ns: finish[1] * S } },
    kernels: [{ kernel: 'h_msm', ...span(kernels) }],
  };
}

test('the summary splits the time: all of it, what lay outside the device’s work, and the stages of a partition', () => {
  const partitions = [partition(0, 0, [2, 3], [3, 5], [5, 6]), partition(1, 1, [4, 5], [5, 7], [7, 8])];
  const run = {
    run: 'r1',
    backend: 'cpu',
    scheduler: { preset: 'interlock', overrides: [] },
    devices: [{ device: 'cpu0', kernel_ns: 4 * S, lock_held_ns: 4 * S, job_span_ns: 6 * S }],
    proofs: [{ id: 'p1', circuit: 'squarings-100', latency_ns: 9 * S, partitions }],
  } as unknown as RunReport;
  expect(summarise(run, 'p1').slice(0, 4)).toEqual([
    'p1 is valid: 2 partitions of squarings-100 in 9.00 s, Dual-worker interlock on the CPU device.',
    '  of that 3.00 s before the device’s first partition (params made ready, first synthesis) and after its last.',
    '  a partition (medians): prepare 1.00 s, kernels 2.00 s, finish 1.00 s.',
    '  cpu0: kernels 66.7 %, lock held 66.7 %, job span 100.0 % of 6.00 s.',
  ]);
});

describe('what two workers did at the same time', () => {
  // w0  pKKf
  // w1    pKKf
  const two = [partition(0, 0, [0, 1], [1, 3], [3, 4]), partition(1, 1, [2, 3], [3, 5], [5, 6])];
  test('prepare and finish behind the other’s kernels are counted to the nanosecond', () => {
    expect(computeOverlap(two)).toMatchObject({ hiddenNs: 2 * S, sidesNs: 4 * S });
  });
  test('one worker hides nothing', () => {
    const one = [partition(0, 0, [0, 1], [1, 3], [3, 4]), partition(1, 0, [4, 5], [5, 7], [7, 8])];
    expect(computeOverlap(one)).toMatchObject({ hiddenNs: 0, sidesNs: 4 * S, stretchNs: null });
    expect(secondWorker(one, 8 * S, 'cpu')).toContain('gained nothing');
  });
  test('a span that never ended is in no sum', () => {
    const open = two.map((report) => ({ ...report, kernels: [{ kernel: 'h_msm', start_ns: 0, end_ns: null }] }));
    expect(computeOverlap(open)).toMatchObject({ hiddenNs: 0 });
  });
  test('kernels that got longer by what was hidden: nothing was gained, and it says so', () => {
    const alone = partition(2, 0, [10, 11], [11, 12], [12, 13]);
    expect(secondWorker([...two, alone], 13 * S, 'cpu')).toContain('on these cores it gained nothing');
  });
  test('kernels that did not get longer: the gain is the hidden part', () => {
    const alone = partition(2, 0, [10, 11], [11, 13], [13, 14]);
    expect(secondWorker([...two, alone], 14 * S, 'cpu')).toContain('gained about 2.00 s');
  });
  test('with nothing to compare with it says that it cannot tell', () =>
    expect(secondWorker(two, 6 * S, 'cpu')).toContain('cannot be told'));
  test('on a GPU the cores are not shared', () => expect(secondWorker(two, 6 * S, 'cuda')).toContain('about that much was gained'));
});

function clientOf(more: Partial<Record<keyof Client, unknown>>): { client: Client; asked: string[] } {
  const asked: string[] = [];
  const client = new Proxy({}, { get: (_target, name) => async () => (asked.push(String(name)), more[name as keyof Client]) }) as Client;
  return { client, asked };
}
const quiet = async () => null;

describe('when it is made', () => {
  const base = { clock: systemClock, signal: new AbortController().signal };

  test('not with a history', async () => {
    const { client, asked } = clientOf({ list_proofs: { proofs: [{ proof: 'p1' }] } });
    await runFirstProof({ ...base, client, others: quiet, log: () => {} });
    expect(asked).toEqual(['list_proofs']);
  });

  test('not beside another prover, and it says which', async () => {
    const { client, asked } = clientOf({ list_proofs: { proofs: [] } });
    const lines: string[] = [];
    await runFirstProof({ ...base, client, others: async () => 'curio is running (pid 7)', log: (line) => lines.push(line) });
    expect([asked, lines.join()]).toEqual([['list_proofs'], expect.stringContaining('curio is running (pid 7)')]);
  });

  test('a proof that failed is told as failed', async () => {
    const { client } = clientOf({
      list_proofs: { proofs: [] },
      prove: { proofs: ['p1'] },
      show_proof: { summary: { state: 'failed', message: 'the disk is full', run: 'r1' }, report: null },
    });
    const lines: string[] = [];
    await runFirstProof({ ...base, client, others: quiet, log: (line) => lines.push(line) });
    expect(lines.at(-1)).toBe('p1 ended failed: the disk is full');
  });

  test('it ends with the host', async () => {
    const { client } = clientOf({ list_proofs: { proofs: [] }, prove: { proofs: ['p1'] }, show_proof: { summary: { state: 'running' } } });
    const ending = new AbortController();
    const running = runFirstProof({ ...base, signal: ending.signal, client, others: quiet, log: () => {} });
    ending.abort();
    await running;
  });
});

describe('other provers', () => {
  function processes(list: [number, string, string][]): string {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'interlock-proc-'));
    for (const [pid, comm, state] of list) {
      mkdirSync(path.join(folder, String(pid)));
      writeFileSync(path.join(folder, String(pid), 'comm'), `${comm}\n`);
      writeFileSync(path.join(folder, String(pid), 'stat'), `${pid} (${comm}) ${state} 1 1`);
    }
    mkdirSync(path.join(folder, 'self'));
    return folder;
  }
  const none = async () => [];

  test('a known one is named with its pid', async () => {
    const procFolder = processes([[1, 'init', 'S'], [40, 'cuzk-daemon', 'S']]); // prettier-ignore
    expect(await findOtherProvers({ procFolder, computePids: none })).toBe('cuzk-daemon is running (pid 40)');
  });
  test('a zombie proves nothing', async () => {
    expect(await findOtherProvers({ procFolder: processes([[40, 'curio', 'Z']]), computePids: none })).toBeNull();
  });
  test('a program on a GPU counts', async () => {
    const procFolder = processes([[77, 'python3', 'S']]);
    expect(await findOtherProvers({ procFolder, computePids: async () => [77] })).toBe('python3 computes on a GPU (pid 77)');
    expect(await findOtherProvers({ procFolder, computePids: async () => [99] })).toBe('a program computes on a GPU (pid 99)');
  });
  test('quiet machines have none', async () => {
    expect(await findOtherProvers({ procFolder: processes([[1, 'init', 'S'], [2, 'bash', 'S']]), computePids: none })).toBeNull(); // prettier-ignore
  });
});
