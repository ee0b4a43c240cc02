/** A store in a temp folder, with shorthands for what a host does. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { openStore, type Store } from '../../electron/store/store.ts';
import { workerClock } from '../../electron/store/worker-clock.ts';
import { PROCESS_A, SCHEDULER } from './journal.ts';

export { SPEC } from './store-spec.ts';

export async function openTestStore(folder: string): Promise<Store> {
  const store = await openStore({ folder, clock: workerClock });
  onTestFinished(() => store.close().catch(() => undefined));
  return store;
}

/** A run and a process for it; returns the journal's path. */
export async function beginProcess(
  store: Store,
  folder: string,
  process = PROCESS_A,
  run: string | null = null,
): Promise<{ run: string; journal: string }> {
  const name = run ?? (await store.createRun({ scheduler: SCHEDULER, backend: 'cpu', engine: 'builtin', emulate: null })).run;
  const own = path.join(folder, process);
  mkdirSync(own, { recursive: true });
  const journal = path.join(own, 'journal.ndjson');
  await store.addProcess({ process, pid: 4711, startTicks: '123456', folder: own, journal, backend: 'cpu', run: name });
  return { run: name, journal };
}
