/** From what a call asks for to the set-up it means; and proofs out of the queue, wherever they are. */
import { InterlockError } from '../contract/errors.ts';
import { resolveScheduler, type Backend, type MachineFacts, type SchedulerSpec } from '../contract/scheduler.ts';
import type { Store } from '../store/types.ts';
import type { Plan, Setup } from './plan.ts';
import type { ProofQueue } from './proof-queue.ts';
import type { Supervisor } from './supervisor.ts';

export interface SetupDeps {
  plan: Plan;
  machine: MachineFacts;
  /** Backends that this build's engine has. */
  backends: readonly Backend[];
}

/** What is not asked for stays as it is set. Fails with `backend_unavailable`, `invalid_scheduler` or `usage`. */
export function setupFor(
  { plan, machine, backends }: SetupDeps,
  spec: SchedulerSpec | undefined,
  backend: Backend | undefined,
  emulate: string | undefined,
): Setup {
  const base = plan.next?.setup ?? plan.active;
  const wanted = backend ?? (emulate !== undefined ? 'emulated' : base.backend);
  if (!backends.includes(wanted)) {
    throw new InterlockError('backend_unavailable', `This prover has no backend ${wanted}; it has ${backends.join(', ')}.`, {
      backend: wanted,
    });
  }
  if (emulate !== undefined && wanted !== 'emulated') {
    throw new InterlockError('usage', `emulate goes with the backend emulated, not with ${wanted}.`);
  }
  const chosen = spec ?? base.spec;
  const keeps = wanted === 'emulated' && base.backend === 'emulated' ? base.emulate : null;
  return { spec: chosen, scheduler: resolveScheduler(chosen, machine), backend: wanted, emulate: emulate ?? keeps };
}

/** `withdrawn`: left the queue. `stopping`: still on the device; its end there ends it. `ended`: too late. */
export async function withdrawProofs(
  { store, queue, supervisor }: { store: Store; queue: ProofQueue; supervisor: Supervisor },
  proofs: string[],
): Promise<{ proof: string; state: 'withdrawn' | 'stopping' | 'ended' }[]> {
  const states = await store.withdraw(proofs);
  for (const entry of states) {
    const holding = entry.state === 'stopping' ? queue.holding(entry.proof) : null;
    if (!holding) continue;
    holding.withdrawAsked = true;
    const answer = await supervisor.process?.withdraw(entry.proof).catch(() => 'unknown' as const);
    if (answer === 'returned') entry.state = 'withdrawn';
  }
  return states;
}
