/** import */
import { InterlockError } from '../../contract/errors.ts';
import type { Call } from './program.ts';

export function importCommand(_call: Call): Promise<number> {
  return Promise.reject(new InterlockError('internal', 'import is not there yet'));
}
