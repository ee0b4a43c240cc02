/** Experiments: two schedulers in turns on this machine. */
import type { Handlers } from '../contract/api.ts';
import { InterlockError } from '../contract/errors.ts';

export type ExperimentCalls = Pick<Handlers, 'start_experiment' | 'show_experiment' | 'stop_experiment'>;

export function createExperiments(): ExperimentCalls {
  const refuse = () => Promise.reject(new InterlockError('internal', 'there are no experiments yet'));
  return { start_experiment: refuse, show_experiment: refuse, stop_experiment: refuse };
}
