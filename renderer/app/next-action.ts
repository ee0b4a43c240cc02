/** What the header says of the host and offers to do: a word, one next action, and what else makes sense. Pure. */
import type { HostStatus } from '../../electron/contract/live.ts';
import { PHASES, type Tone } from '../parts/prover-phase.ts';

export type ActionId = 'prove' | 'switch' | 'stop' | 'stop_now' | 'start';
export interface Action {
  id: ActionId;
  label: string;
  danger?: boolean;
}

export interface Standing {
  word: string;
  tone: Tone;
  primary: Action | null;
  others: Action[];
}

const PROVE: Action = { id: 'prove', label: 'Start …' };
const MORE: Action = { id: 'prove', label: 'Prove more …' };
const SWITCH: Action = { id: 'switch', label: 'Switch …' };
const STOP: Action = { id: 'stop', label: 'Stop …' };
const STOP_NOW: Action = { id: 'stop_now', label: 'Stop now …', danger: true };
const GO_ON: Action = { id: 'start', label: 'Go on' };

export function computeStanding(status: HostStatus | null): Standing {
  if (!status) return { word: 'Connecting', tone: 'busy', primary: null, others: [] };
  if (status.readOnly) return { word: 'History only', tone: 'warning', primary: null, others: [] };
  const { phase } = status.prover;
  const { word, tone } = PHASES[phase];
  const working = status.queue.inProver > 0;
  switch (phase) {
    case 'absent':
      if (status.queue.held !== null && status.queue.waiting > 0) return { word: 'Held', tone: 'warning', primary: GO_ON, others: [PROVE] };
      return { word: status.queue.waiting > 0 ? 'Waiting' : word, tone, primary: PROVE, others: status.run ? [SWITCH] : [] };
    case 'starting':
      return { word, tone, primary: STOP, others: [MORE] };
    case 'ready':
      if (status.switching) return { word: 'Switching', tone: 'busy', primary: STOP, others: [MORE] };
      if (working) return { word: 'Proving', tone: 'good', primary: STOP, others: [MORE, SWITCH] };
      if (status.queue.held !== null && status.queue.waiting > 0) return { word: 'Held', tone: 'warning', primary: GO_ON, others: [STOP] };
      return { word, tone, primary: PROVE, others: [SWITCH, STOP] };
    case 'draining':
      return { word, tone, primary: GO_ON, others: [STOP_NOW] };
    case 'stopping':
    case 'lost':
    case 'stuck':
      return { word, tone, primary: null, others: [] };
    case 'hung':
      return { word, tone, primary: STOP_NOW, others: [] };
    case 'crash_loop':
      return { word, tone, primary: { id: 'start', label: 'Start again' }, others: [] };
  }
}
