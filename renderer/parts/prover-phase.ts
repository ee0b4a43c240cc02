/** What each phase of the prover means to an operator: a word, a tone, what it did to the proofs, what comes next. */
import type { ProverPhase } from '../../electron/contract/live.ts';

export type Tone = 'calm' | 'good' | 'busy' | 'warning' | 'error';

export interface PhaseWords {
  word: string;
  tone: Tone;
  /** Empty where nothing needs saying. */
  says: string;
}

export const PHASES: Record<ProverPhase, PhaseWords> = {
  absent: { word: 'Idle', tone: 'calm', says: '' },
  starting: { word: 'Starting', tone: 'busy', says: 'The prover starts; proofs wait until its params are loaded.' },
  ready: { word: 'Ready', tone: 'good', says: '' },
  draining: {
    word: 'Draining',
    tone: 'busy',
    says: 'Proofs with a started partition are finished, the others go back to the queue; then the prover ends.',
  },
  stopping: {
    word: 'Stopping',
    tone: 'busy',
    says: 'The prover ends after the running kernel. Work that was started is lost; its proofs go back to the queue and begin anew.',
  },
  lost: {
    word: 'Prover lost',
    tone: 'error',
    says: 'The prover died. Its unfinished proofs go back to the head of the queue and a new prover is started.',
  },
  hung: {
    word: 'Not answering',
    tone: 'error',
    says: 'The prover lives, but no step of its work has moved. Nothing is lost yet; Stop now ends it and returns its proofs to the queue.',
  },
  stuck: {
    word: 'Stuck',
    tone: 'error',
    says: 'The prover does not end, even when killed: the driver holds it. Its proofs are safe in the queue; the machine may need a restart.',
  },
  crash_loop: {
    word: 'Held after crashes',
    tone: 'error',
    says: 'The prover died several times in a row, so the queue is held; no proof is lost. Read the first error, mend it, then press Start again.',
  },
};
