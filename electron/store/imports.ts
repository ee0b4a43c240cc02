/** Runs that come from elsewhere, on their way into the database. */
import type { CallOutput, CheckedInput } from '../contract/api.ts';
import { InterlockError } from '../contract/errors.ts';

export class Imports {
  begin(_input: CheckedInput<'import_begin'>): CallOutput<'import_begin'> {
    throw new InterlockError('internal', 'nothing is imported yet');
  }
  piece(_id: string, _base64: string): CallOutput<'import_piece'> {
    throw new InterlockError('internal', 'nothing is imported yet');
  }
  end(_id: string): CallOutput<'import_end'> {
    throw new InterlockError('internal', 'nothing is imported yet');
  }
}
