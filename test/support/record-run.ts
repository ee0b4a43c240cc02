/**
 * Records a few proofs of a running host for `npm run dev:replay`: the live feed with its pace, and the answers that the screens ask for.
 *
 *   node test/support/record-run.ts DATA_FOLDER > test/fixtures/replay/proof.ndjson
 */
import { CAUSES } from '../../electron/contract/idle.ts';
import type { SimulationReport } from '../../electron/contract/what-if.ts';
import { actAgainst } from '../../renderer/live/acts.ts';
import { createClient } from '../../electron/contract/client.ts';
import type { LiveMessage } from '../../electron/contract/live.ts';
import { connectToHost } from '../../electron/doors/socket/client.ts';
import { hostSocketPath } from '../../electron/host/paths.ts';

const folder = process.argv[2];
const transport = folder ? await connectToHost(hostSocketPath(folder, process.env)) : null;
if (!transport) throw new Error('usage: record-run.ts DATA_FOLDER of a running host');
const client = createClient(transport);
const begunMs = performance.now();
const feed: { at: number; message: LiveMessage }[] = [];
transport.live(
  (message) => feed.push({ at: Math.round(performance.now() - begunMs), message }),
  () => {},
);
const { proofs } = await client.prove({ circuit: 'squarings', constraints: 3000, partitions: 4, count: 7 });
const proof = proofs.at(-1) ?? '';
for (;;) {
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { summary } = await client.show_proof({ proof });
  if (summary.state !== 'waiting' && summary.state !== 'running') break;
}
await new Promise((resolve) => setTimeout(resolve, 2000));
const { runs } = await client.list_runs({});
const listed = await client.list_proofs({});
const answers = {
  list_runs: { runs, more: false },
  list_proofs: listed,
  show_run: Object.fromEntries(await Promise.all(runs.map(async ({ run }) => [run, await client.show_run({ run })] as const))),
  show_proof: Object.fromEntries(
    await Promise.all(listed.proofs.map(async (summary) => [summary.proof, await client.show_proof({ proof: summary.proof })] as const)),
  ),
  idle: Object.fromEntries(await Promise.all(runs.map(async ({ run }) => [run, await client.idle({ run })] as const))),
  gaps: Object.fromEntries(await Promise.all(runs.map(async ({ run }) => [run, await client.gaps({ run, min_ns: 10_000_000 })] as const))),
  simulate: await simulateActs(),
  show_config: { values: [] },
};
/** What the verdict line may ask of the recorded run. */
async function simulateActs(): Promise<Record<string, SimulationReport>> {
  const scheduler = runs[0]?.scheduler;
  const found: Record<string, SimulationReport> = {};
  for (const cause of scheduler ? CAUSES : []) {
    const change = scheduler && actAgainst(cause, scheduler, false)?.change;
    if (change) found[JSON.stringify(change)] ??= await client.simulate({ run: runs[0]?.run, change });
  }
  return found;
}
// What names this machine or its folders does not belong in a recording.
const text = [{ answers }, ...feed].map((line) =>
  JSON.stringify(line, (key, value: unknown) =>
    key === 'hostname' ? 'recorded' : key === 'dataFolder' ? '(recorded)' : key === 'path' || key === 'pid' ? null : value,
  ),
);
process.stdout.write(`${text.join('\n')}\n`);
transport.close();
