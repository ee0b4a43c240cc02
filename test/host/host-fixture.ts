/** A host in this process over the scripted prover. */
import type { ProveInput } from '../../electron/contract/api.ts';
import { createClient } from '../../electron/contract/client.ts';
import { localTransport } from '../../electron/doors/socket/local.ts';
import { createHost, type HostOptions, type RunningHost } from '../../electron/host/host.ts';
import { makeFakeProver, makeTempFolder, type Scenario } from '../support/fake-prover.ts';
import { until } from '../support/host-process.ts';

const GIB = 2 ** 30;
export const MACHINE = { cpus: 2, memoryBytes: 8 * GIB };
const open = new Set<RunningHost>();

export async function hostWith(scenario: Scenario, more: Partial<HostOptions> = {}) {
  const notices: string[] = [];
  const dataFolder = more.dataFolder ?? makeTempFolder('host');
  const host = await createHost({
    dataFolder,
    version: 'test',
    machine: MACHINE,
    binary: makeFakeProver(scenario),
    environment: process.env,
    ladder: { stopMs: 1_000, termMs: 1_000, killMs: 3_000 },
    onNotice: (severity, message) => notices.push(`${severity}: ${message}`),
    ...more,
  });
  open.add(host);
  const client = createClient(localTransport(host));
  return {
    host,
    client,
    notices,
    dataFolder,
    prove: (input: ProveInput = {}) => client.prove({ circuit: 'squarings', constraints: 100, partitions: 3, ...input }),
    states: async () => Object.fromEntries((await client.list_proofs({ state: 'any', limit: 1000 })).proofs.map((p) => [p.proof, p.state])),
    untilEnded: (proofs: string[], ms = 30_000) =>
      until(
        `${proofs.join()} ended; ${notices.join(' | ')}`,
        async () => {
          const all = await client.list_proofs({ state: 'any', limit: 1000 });
          return proofs.every((id) => !['waiting', 'running', undefined].includes(all.proofs.find((p) => p.proof === id)?.state));
        },
        ms,
      ),
    async close(how: 'drain' | 'now' = 'drain') {
      open.delete(host);
      await host.close(how);
    },
  };
}
export type TestHost = Awaited<ReturnType<typeof hostWith>>;

export async function closeAll(): Promise<void> {
  for (const host of open) await host.close('now');
  open.clear();
}
