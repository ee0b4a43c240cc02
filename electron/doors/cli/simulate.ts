/** simulate */
import { InterlockError } from '../../contract/errors.ts';
import type { Call } from './program.ts';

export function simulateCommand(_call: Call): Promise<number> {
  return Promise.reject(new InterlockError('internal', 'simulate is not there yet'));
}
