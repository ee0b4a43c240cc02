/** Stored runs beside each other. */
import { InterlockError } from '../contract/errors.ts';
import type { ComparisonReport } from '../contract/what-if.ts';
import type { RunReads } from './run-reads.ts';

export function readComparison(_runs: RunReads, _names: string[]): ComparisonReport {
  throw new InterlockError('internal', 'nothing is compared yet');
}
