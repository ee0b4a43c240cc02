/** The history without a host: a {@link Host} whose reading calls work and whose changing calls fail with `no_host`. */
import { CALLS, type CallName, type Handlers, type Host } from '../contract/api.ts';
import type { Clock } from '../contract/clock.ts';
import { InterlockError } from '../contract/errors.ts';
import { openStoreReadOnly } from '../store/store.ts';
import { readProofText } from './proof-files.ts';

export interface History extends Host {
  close(): Promise<void>;
}

export async function openHistory(options: { dataFolder: string; clock: Clock }): Promise<History> {
  const store = await openStoreReadOnly({ folder: options.dataFolder, clock: options.clock });
  const reads: Partial<Handlers> = {
    list_runs: (input) => store.listRuns(input),
    show_run: (input) => store.showRun(input.run),
    read_events: (input) => store.readEvents(input),
    list_proofs: async (input) => ({ proofs: await store.listProofs(input) }),
    show_proof: (input) => store.showProof(input.proof),
    read_proof: async (input) => {
      const file = await store.proofFile(input.proof);
      if (!file) throw new InterlockError('not_found', `There is no proof file of ${input.proof} (not proved yet, or emulated).`);
      return { sha256: file.sha256, text: await readProofText(file.path) };
    },
  };
  const handlers: Record<string, unknown> = {};
  for (const name of Object.keys(CALLS) as CallName[]) {
    handlers[name] = reads[name] ?? (() => Promise.reject(new InterlockError('no_host', `No host is running for ${options.dataFolder}.`)));
  }
  return { handlers: handlers as Handlers, subscribe: () => () => undefined, close: () => store.close() };
}
