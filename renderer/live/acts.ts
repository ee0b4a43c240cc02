/** What may be done against a cause, as changes of the scheduler. Pure; imports the contract alone. */
import type { Cause } from '../../electron/contract/idle.ts';
import { SCHEDULER_LIMITS, type Scheduler, type SchedulerSettings } from '../../electron/contract/scheduler.ts';

export type Change = Partial<
  Pick<SchedulerSettings, 'gpu_workers' | 'lock_scope' | 'synthesis_workers' | 'partitions_in_flight' | 'memory_budget_bytes' | 'dispatch'>
>;

/** The most sensible next act against one cause. */
export interface Act {
  cause: Cause;
  ns: number;
  change: Change;
  /** As a subject: `a second GPU worker`. */
  words: string;
}

const ORDINALS = ['first', 'second', 'third', 'fourth'];
const raise = (value: number, most: number): number => Math.min(most, value + Math.max(1, Math.ceil(value / 4)));

/** The act against one cause under this scheduler; null where no setting removes it. `memoryBound`: the budget, not the count, holds permits back. */
export function actAgainst(cause: Cause, scheduler: Scheduler, memoryBound: boolean): Omit<Act, 'cause' | 'ns'> | null {
  switch (cause) {
    case 'epilogue':
    case 'preamble': {
      const workers = scheduler.gpu_workers + 1;
      if (workers > SCHEDULER_LIMITS.gpu_workers[1]) return null;
      const ordinal = `a ${ORDINALS[workers - 1]} GPU worker`;
      // Under a lock that covers the whole job a further worker only waits: the lock has to let go of prepare and finish, too.
      if (scheduler.lock_scope === 'job') {
        return { change: { gpu_workers: workers, lock_scope: 'kernels' }, words: `${ordinal} with the lock on the kernels alone` };
      }
      return { change: { gpu_workers: workers }, words: ordinal };
    }
    case 'permit': {
      if (memoryBound) {
        const bytes = raise(scheduler.memory_budget_bytes, SCHEDULER_LIMITS.memory_budget_bytes[1]);
        return bytes > scheduler.memory_budget_bytes
          ? { change: { memory_budget_bytes: bytes }, words: 'a quarter more memory budget' }
          : null;
      }
      const permits = raise(scheduler.partitions_in_flight, SCHEDULER_LIMITS.partitions_in_flight[1]);
      return permits > scheduler.partitions_in_flight
        ? {
            change: { partitions_in_flight: permits },
            words: `${permits} partitions in flight`,
          }
        : null;
    }
    case 'first_synthesis':
    case 'starved':
    case 'cross_sector': {
      const workers = raise(scheduler.synthesis_workers, SCHEDULER_LIMITS.synthesis_workers[1]);
      return workers > scheduler.synthesis_workers
        ? { change: { synthesis_workers: workers }, words: `${workers} synthesis workers` }
        : null;
    }
    case 'dispatch':
      return scheduler.dispatch === 'batch' ? { change: { dispatch: 'partition' }, words: 'sending each partition alone' } : null;
    default:
      return null;
  }
}
