/** The history without a host: a {@link Host} whose reading calls work and whose changing calls fail with `no_host`. */
import { CALLS, type CallName, type Handlers, type Host } from '../contract/api.ts';
import type { Clock } from '../contract/clock.ts';
import { InterlockError } from '../contract/errors.ts';
import { openStore, openStoreReadOnly, type Store } from '../store/store.ts';
import { historyReads } from './history-reads.ts';
import { preparePrivateFolder } from './paths.ts';

export interface History extends Host {
  close(): Promise<void>;
}

export async function openHistory(options: { dataFolder: string; clock: Clock }): Promise<History> {
  const store = await openStoreReadOnly({ folder: options.dataFolder, clock: options.clock });
  return asHistory(store, historyReads(store), options.dataFolder);
}

/**
 * The same, and runs may be brought in: holds the data folder, but starts no prover and heals nothing that an earlier host left. Fails as
 * the store's opening does, with `host_running` where a host holds the folder, and with the reason where it cannot be written.
 */
export async function openHistoryForImport(options: { dataFolder: string; clock: Clock }): Promise<History> {
  const store = await openStore({ folder: preparePrivateFolder(options.dataFolder), clock: options.clock });
  const { readOnly } = store.access;
  if (readOnly) {
    await store.close();
    throw new InterlockError(readOnly.code, readOnly.message);
  }
  return asHistory(store, { ...historyReads(store), ...importCalls(store) }, options.dataFolder);
}

/** The three calls of an import, over the store alone. */
export function importCalls(store: Store): Pick<Handlers, 'import_begin' | 'import_piece' | 'import_end'> {
  return {
    import_begin: (input) => store.beginImport(input),
    import_piece: (input) => store.importPiece(input.import, input.base64),
    import_end: (input) => store.endImport(input.import),
  };
}

function asHistory(store: Store, known: Partial<Handlers>, dataFolder: string): History {
  const handlers: Record<string, unknown> = {};
  for (const name of Object.keys(CALLS) as CallName[]) {
    handlers[name] = known[name] ?? (() => Promise.reject(new InterlockError('no_host', `No host is running for ${dataFolder}.`)));
  }
  return { handlers: handlers as Handlers, subscribe: () => () => undefined, close: () => store.close() };
}
