/** The store's door for the host: opens a data folder and talks to the writing and the reading thread. SQL is theirs alone. */
import { InterlockError } from '../contract/errors.ts';
import type { Store, StoreOptions } from './types.ts';

export type * from './types.ts';

/**
 * Opens (or makes) the history in a data folder and takes the folder's lock. Fails with `host_running` (another host holds it) or
 * `folder_unusable`; everything less is told in `access` and `notices`.
 */
export async function openStore(_options: StoreOptions): Promise<Store> {
  throw new InterlockError('internal', 'the store is not built yet');
}

/** Opens the history read-only, beside a running host or none: only the reads work. */
export async function openStoreReadOnly(_options: StoreOptions): Promise<Store> {
  throw new InterlockError('internal', 'the store is not built yet');
}
