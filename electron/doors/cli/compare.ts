/** compare and experiment */
import { InterlockError } from '../../contract/errors.ts';
import type { Call } from './program.ts';

export function compareCommand(_call: Call): Promise<number> {
  return Promise.reject(new InterlockError('internal', 'compare is not there yet'));
}
