/** The calls that only read the history: the same beside a running host and without one. */
import type { Handlers } from '../contract/api.ts';
import { InterlockError } from '../contract/errors.ts';
import type { Store } from '../store/types.ts';
import { readProofText } from './proof-files.ts';

export type HistoryReads = Pick<
  Handlers,
  | 'list_runs'
  | 'show_run'
  | 'read_events'
  | 'list_proofs'
  | 'show_proof'
  | 'read_proof'
  | 'idle'
  | 'gaps'
  | 'simulate'
  | 'compare'
  | 'show_experiment'
  | 'export_begin'
  | 'export_piece'
  | 'export_stop'
>;

export function historyReads(store: Store): HistoryReads {
  return {
    list_runs: (input) => store.listRuns(input),
    show_run: (input) => store.showRun(input.run),
    read_events: (input) => store.readEvents(input),
    list_proofs: async (input) => ({ proofs: await store.listProofs(input) }),
    show_proof: (input) => store.showProof(input.proof),
    idle: (input) => store.idle(input.run),
    gaps: (input) => store.gaps(input),
    simulate: (input) => store.simulate(input),
    compare: (input) => store.compare(input.runs),
    show_experiment: (input) => store.showExperiment(input.experiment),
    export_begin: (input) => store.beginExport(input),
    export_piece: (input) => store.exportPiece(input.export),
    export_stop: async (input) => {
      await store.stopExport(input.export);
      return {};
    },
    read_proof: async (input) => {
      const file = await store.proofFile(input.proof);
      if (!file) throw new InterlockError('not_found', `There is no proof file of ${input.proof} (not proved yet, or emulated).`);
      return { sha256: file.sha256, text: await readProofText(file.path) };
    },
  };
}
