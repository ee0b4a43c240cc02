/** What a choice of scheduler will do, in sentences, before anything is pressed. */
import type { HostStatus } from '../../electron/contract/live.ts';
import type { Backend } from '../../electron/contract/scheduler.ts';
import { sameScheduler } from '../../electron/contract/scheduler.ts';
import { countOf } from '../parts/durations.ts';
import { BACKEND_WORDS } from '../parts/words.ts';
import type { Resolved } from './scheduler-form.svelte.ts';

export interface Consequence {
  tone: 'calm' | 'warning';
  text: string;
}

/** In the order in which things will happen. */
export function describeSwitch(resolved: Resolved, backend: Backend | null, status: HostStatus | null): Consequence[] {
  const run = status?.run ?? null;
  const backendStays = backend === null || run === null || backend === run.backend;
  const same = run !== null && sameScheduler(run.scheduler, resolved.scheduler) && backendStays;
  const lines: Consequence[] = [];
  if (same) return [{ tone: 'calm', text: 'This is the scheduler of the current run: nothing changes, new proofs join it.' }];
  if (run !== null) {
    lines.push({
      tone: resolved.waitsForProofs > 0 ? 'warning' : 'calm',
      text:
        resolved.waitsForProofs > 0
          ? `${countOf(resolved.waitsForProofs, 'proof')} in flight ${resolved.waitsForProofs === 1 ? 'is' : 'are'} finished first, under the current scheduler. No work is lost; proofs that have not begun wait for the new run.`
          : 'Nothing is in flight, so the change is made at once. A new run begins.',
    });
  }
  if (status?.prover.pid == null) {
    lines.push({
      tone: 'calm',
      text: `The prover is started${backend === null ? '' : ` on ${BACKEND_WORDS[backend].label}`} and loads its params.`,
    });
    return lines;
  }
  lines.push(
    resolved.restarts
      ? {
          tone: 'warning',
          text: `The prover restarts${backendStays ? '' : ` on ${BACKEND_WORDS[backend].label}`}: params are loaded again.`,
        }
      : { tone: 'calm', text: 'The prover keeps running and its params stay loaded.' },
  );
  return lines;
}
