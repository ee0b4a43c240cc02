/** What-if: the stage durations of a stored run, put through the simulation. */
import type { CheckedInput } from '../contract/api.ts';
import { InterlockError } from '../contract/errors.ts';
import type { SimulationReport } from '../contract/what-if.ts';
import type { RunReads } from './run-reads.ts';

export function readSimulation(_runs: RunReads, _input: CheckedInput<'simulate'>): SimulationReport {
  throw new InterlockError('internal', 'nothing is simulated yet');
}
