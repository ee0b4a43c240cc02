/** idle causes of a run, and its gaps */
import { InterlockError } from '../../contract/errors.ts';
import type { Call } from './program.ts';

export function idleCommand(_call: Call): Promise<number> {
  return Promise.reject(new InterlockError('internal', 'idle is not there yet'));
}
