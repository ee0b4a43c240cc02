/** Events that the account listens to, as small numbers; the others change nothing. */
import type { EventName, StateLine, WorkerState } from '../../contract/timeline-events.ts';

export const CODE = {
  // Of no worker.
  hello: 1, ready: 2, run_started: 3, run_ended: 4, bye: 5, params_load_started: 6, params_load_ended: 7, proof_accepted: 8,
  permit_asked: 9, permit_granted: 10, synthesis_started: 11, synthesis_ended: 12, queued: 13, partition_ended: 14, stage_failed: 15,
  proof_ended: 16, proof_returned: 17, clock_step: 18,
  // Of a worker.
  worker_dead: 20, picked_up: 21, lock_asked: 22, lock_granted: 23, lock_released: 24, prepare_started: 25, prepare_ended: 26,
  device_started: 27, device_ended: 28, kernel_started: 29, kernel_ended: 30, copy_started: 31, copy_ended: 32, wait_started: 33,
  wait_ended: 34, finish_started: 35, finish_ended: 36, put_down: 37, call_started: 38, measured: 39,
} as const satisfies Partial<Record<EventName, number>>; // prettier-ignore

/** Not events: a loss begins; a snapshot, or a time that is told, ends one; the host's stretch begins, ends. */
export const LOSS_BEGINS = 50;
export const LOSS_ENDS = 51;
export const HOLD_BEGINS = 52;
export const HOLD_ENDS = 53;

export const FIRST_WORKER_CODE = CODE.worker_dead;

export const FREE = 0;
export const WAITING = 1;
export const PREPARE = 2;
export const DEVICE = 3;
export const FINISH = 4;
export const DEAD = 5;
const UNCHANGED = -1;

/** In the order of `WORKER_STATES`. */
export const STATE_NUMBER: Record<WorkerState['is'], number> = { free: FREE, waiting: WAITING, prepare: PREPARE, device: DEVICE, finish: FINISH, dead: DEAD }; // prettier-ignore

export type LockScope = 'job' | 'kernels';

/** By code: the state that a worker is in from that event on, or −1. */
const NEXT_STATE: Record<LockScope, Int8Array> = { kernels: new Int8Array(64).fill(UNCHANGED), job: new Int8Array(64).fill(UNCHANGED) };
const TABLE: [code: number, kernels: number, job: number][] = [
  [CODE.picked_up, PREPARE, WAITING],
  [CODE.prepare_started, UNCHANGED, PREPARE],
  [CODE.prepare_ended, WAITING, DEVICE],
  [CODE.lock_asked, WAITING, UNCHANGED],
  [CODE.lock_granted, DEVICE, PREPARE],
  [CODE.device_started, DEVICE, DEVICE],
  [CODE.device_ended, UNCHANGED, FINISH],
  [CODE.lock_released, FINISH, UNCHANGED],
  [CODE.finish_started, FINISH, FINISH],
  [CODE.put_down, FREE, FREE],
  [CODE.worker_dead, DEAD, DEAD],
];
for (const [code, kernels, job] of TABLE) {
  NEXT_STATE.kernels[code] = kernels;
  NEXT_STATE.job[code] = job;
}

export function stateAfter(scope: LockScope, code: number): number {
  return NEXT_STATE[scope][code] as number;
}

/** What a code carries beside subject, device and worker. */
export type Extra = string | number | null | KernelKey | Acceptance | Ending;
/** A kernel of stream 0 is its name alone. */
export interface KernelKey {
  kernel: string;
  stream: number;
}
export interface Acceptance {
  circuit: string;
  priority: number;
}
/** `state` null: nothing is put right. */
export interface Ending {
  state: StateLine | null;
}
