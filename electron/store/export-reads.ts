/** A stored run on its way out: one generator of pieces for each export that is open. */
import type { CallOutput, CheckedInput } from '../contract/api.ts';
import { InterlockError } from '../contract/errors.ts';
import type { RunReads } from './run-reads.ts';

export class Exports {
  begin(_runs: RunReads, _input: CheckedInput<'export_begin'>): CallOutput<'export_begin'> {
    throw new InterlockError('internal', 'nothing is exported yet');
  }
  piece(_id: string): CallOutput<'export_piece'> {
    throw new InterlockError('internal', 'nothing is exported yet');
  }
  stop(_id: string): void {}
}
