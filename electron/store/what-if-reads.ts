/** What-if: the stage durations of a stored run, put through the simulation. */
import { availableParallelism, totalmem } from 'node:os';
import { answerRun, answerTable } from '../analysis/simulation/answer.ts';
import { StageCollector } from '../analysis/simulation/stages.ts';
import type { CheckedInput } from '../contract/api.ts';
import { InterlockError } from '../contract/errors.ts';
import type { SimulationReport } from '../contract/what-if.ts';
import type { RunReads } from './run-reads.ts';
import { walkRun } from './run-walk.ts';

/**
 * Errors: `not_found`; `usage` where neither a run nor a table is given, or nothing can be simulated from it; `budget_too_small` where the
 * scheduler could never start a proof.
 */
export function readSimulation(runs: RunReads, input: CheckedInput<'simulate'>): SimulationReport {
  const { run, stages, ...rest } = input;
  if ((run === undefined) === (stages === undefined)) throw new InterlockError('usage', 'Give a run, or a table of stage times.');
  if (stages !== undefined) return answerTable(stages, rest, { cpus: availableParallelism(), memoryBytes: totalmem() });
  const name = runs.reads.resolveRun(run ?? 'last');
  const report = runs.showRun(name);
  const collector = new StageCollector();
  walkRun(runs.reads, name, collector);
  return answerRun(
    {
      run: name,
      measured: collector.measure(),
      scheduler: report.scheduler,
      found: report.found,
      sPerProof: report.s_per_proof,
      // Of a log that is 2j + 1 with j as it was seen.
      mostProofs: (report.s_per_proof_detail.too_few_below - 1) / 2,
    },
    rest,
  );
}
