/** Idle causes and gaps of a stored run. */
import type { CheckedInput } from '../contract/api.ts';
import { InterlockError } from '../contract/errors.ts';
import type { GapsReport, IdleReport } from '../contract/idle.ts';
import type { RunReads } from './run-reads.ts';

export function readIdle(_runs: RunReads, _run: string): IdleReport {
  throw new InterlockError('internal', 'idle causes are not read yet');
}

export function readGaps(_runs: RunReads, _input: CheckedInput<'gaps'>): GapsReport {
  throw new InterlockError('internal', 'gaps are not read yet');
}
