/** The history without a host: a {@link Host} whose reading calls work and whose changing calls fail with `no_host`. */
import { CALLS, type CallName, type Handlers, type Host } from '../contract/api.ts';
import type { Clock } from '../contract/clock.ts';
import { InterlockError } from '../contract/errors.ts';
import { openStoreReadOnly } from '../store/store.ts';
import { historyReads } from './history-reads.ts';

export interface History extends Host {
  close(): Promise<void>;
}

export async function openHistory(options: { dataFolder: string; clock: Clock }): Promise<History> {
  const store = await openStoreReadOnly({ folder: options.dataFolder, clock: options.clock });
  const reads: Partial<Handlers> = historyReads(store);
  const handlers: Record<string, unknown> = {};
  for (const name of Object.keys(CALLS) as CallName[]) {
    handlers[name] = reads[name] ?? (() => Promise.reject(new InterlockError('no_host', `No host is running for ${options.dataFolder}.`)));
  }
  return { handlers: handlers as Handlers, subscribe: () => () => undefined, close: () => store.close() };
}
