/** export */
import { InterlockError } from '../../contract/errors.ts';
import type { Call } from './program.ts';

export function exportCommand(_call: Call): Promise<number> {
  return Promise.reject(new InterlockError('internal', 'export is not there yet'));
}
