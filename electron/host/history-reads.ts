/** The calls that only read the history: the same beside a running host and without one. */
import type { Handlers } from '../contract/api.ts';
import { InterlockError } from '../contract/errors.ts';
import type { Store } from '../store/types.ts';
import { readProofText } from './proof-files.ts';

export type HistoryReads = Pick<Handlers, 'list_runs' | 'show_run' | 'read_events' | 'list_proofs' | 'show_proof' | 'read_proof'>;

export function historyReads(store: Store): HistoryReads {
  return {
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
}
