/** Runs and proofs as reports. */
import type { ProofSummary } from '../contract/api.ts';
import { InterlockError } from '../contract/errors.ts';
import type { ProofReport, RunReport, RunSummary } from '../contract/run-report.ts';
import type { Reads } from './reads.ts';

export class RunReads {
  readonly #reads: Reads;
  constructor(reads: Reads) {
    this.#reads = reads;
  }
  showRun(run: string): RunReport {
    throw new InterlockError('internal', `report of ${this.#reads.resolveRun(run)} is not built yet`);
  }
  listRuns(_input: { limit: number; before?: string | undefined }): { runs: RunSummary[]; more: boolean; computed: { run: string; summary: string }[] } {
    return { runs: [], more: false, computed: [] };
  }
  showProof(proof: string): { summary: ProofSummary; report: ProofReport | null } {
    return { summary: this.#reads.proofSummary(proof), report: null };
  }
}
