/** Runs of the real prover with emulated stages, one scheduler after another in one host; then the history, opened to be read. */
import { onTestFinished } from 'vitest';
import type { SchedulerSpec } from '../../electron/contract/scheduler.ts';
import { openReader } from '../../electron/store/open.ts';
import { Reads } from '../../electron/store/reads.ts';
import { RunReads } from '../../electron/store/run-reads.ts';
import { until } from './host-process.ts';
import type { Stage } from './seen.ts';

export interface WantedRun {
  scheduler: SchedulerSpec;
  backend?: 'emulated' | 'cpu';
  emulate?: string;
  proofs: number;
  partitions: number;
  circuit?: 'squarings' | 'sha256';
  constraints?: number;
}

/** Answers the runs' ids, in the order of `wanted`. Two wanted alike in a row share a run. */
export async function makeRuns(stage: Stage, wanted: readonly WantedRun[]): Promise<{ ids: string[]; runs: RunReads }> {
  const host = await stage.host();
  const ids: string[] = [];
  for (const { scheduler, proofs, backend = 'emulated', circuit = 'squarings', constraints = 400, ...rest } of wanted) {
    const answer = await host.client.prove({ ...rest, backend, scheduler, count: proofs, circuit, constraints, switch: true });
    const mine = new Set(answer.proofs);
    await until(
      'the proofs are made',
      async () => {
        const { proofs: ended } = await host.client.list_proofs({ state: 'ended', limit: 1000 });
        return ended.filter(({ proof }) => mine.has(proof)).length === mine.size;
      },
      120_000,
    );
    const { summary } = await host.client.show_proof({ proof: answer.proofs[0] ?? '' });
    ids.push(summary.run ?? '');
  }
  await host.kill('SIGTERM');
  const db = openReader(stage.folder);
  if (!db) throw new Error('there is no history');
  onTestFinished(() => void db.close());
  return { ids, runs: new RunReads(new Reads(db)) };
}
