/** Names that appear on more than one screen. */
import type { Backend, Scheduler } from '../../electron/contract/scheduler.ts';
import { PRESET_LABELS } from '../../electron/contract/scheduler.ts';
import type { ProofState, RunState } from '../../electron/contract/run-report.ts';
import type { Tone } from './prover-phase.ts';

export const BACKEND_WORDS: Record<Backend, { label: string; meaning: string }> = {
  cuda: { label: 'CUDA', meaning: 'Real proofs on a GPU.' },
  cpu: { label: 'CPU device', meaning: 'Real proofs; a pool of CPU threads stands in for the GPU. Not to be compared with GPU runs.' },
  emulated: { label: 'EMULATED', meaning: 'Stages only wait for configured durations. No proof is made.' },
};

export const RUN_STATE_WORDS: Record<RunState, { label: string; tone: Tone }> = {
  running: { label: 'running', tone: 'busy' },
  finished: { label: 'finished', tone: 'good' },
  failed: { label: 'failed', tone: 'error' },
  interrupted: { label: 'interrupted', tone: 'warning' },
};

export const PROOF_STATE_WORDS: Record<ProofState, { label: string; tone: Tone }> = {
  waiting: { label: 'waiting', tone: 'calm' },
  running: { label: 'running', tone: 'busy' },
  valid: { label: 'valid', tone: 'good' },
  invalid: { label: 'invalid', tone: 'error' },
  failed: { label: 'failed', tone: 'error' },
  interrupted: { label: 'interrupted', tone: 'warning' },
  withdrawn: { label: 'withdrawn', tone: 'calm' },
};

/** `Dual-worker interlock` with `Phase 8` and `modified` apart, so that a screen can set them in its own weight. */
export function schedulerParts(scheduler: Pick<Scheduler, 'preset' | 'overrides'>): { name: string; also: string; modified: boolean } {
  const { name, also } = PRESET_LABELS[scheduler.preset];
  return { name, also, modified: scheduler.overrides.length > 0 };
}

/** The settings of a scheduler as the contract names them, with the words that explain them. */
export const SETTING_WORDS = {
  dispatch: { label: 'Dispatch', meaning: 'When a partition may go to the device: with its whole proof, or alone.' },
  gpu_workers: { label: 'GPU workers per device', meaning: 'Host threads that feed one device in turn.' },
  lock_scope: { label: 'Lock scope', meaning: 'What the device lock covers: prepare to finish, or the kernels alone.' },
  partitions_in_flight: { label: 'Partitions in flight', meaning: 'Permits: held from the start of synthesis to the end of finish.' },
  proofs_in_flight: { label: 'Proofs in flight', meaning: 'Proofs that the prover has accepted and not ended.' },
  synthesis_workers: { label: 'Synthesis workers', meaning: 'Partitions synthesised at once.' },
  synthesis_threads: { label: 'Synthesis threads', meaning: 'CPU threads of the whole synthesis pool.' },
  device_threads: { label: 'Device threads', meaning: 'CPU threads that stand in for a device, on the CPU backend.' },
  memory_budget_bytes: { label: 'Memory budget', meaning: 'What all permits together may claim.' },
  order: { label: 'Order', meaning: 'Which waiting partition goes first.' },
  reserve_post: { label: 'Permit reserved for PoSt', meaning: 'Keeps one permit free, so that a PoSt never waits behind sealing.' },
} as const;
