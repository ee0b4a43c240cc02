/**
 * A host of its own for tests that kill it: `node store-child.ts FOLDER JOURNAL`. Follows the journal, queues proofs, and says on
 * standard output, one JSON a line, what it was told to be durable. `FILE:` writes go to a file instead: `node store-child.ts F J OUT`.
 */
import { openSync, writeSync } from 'node:fs';
import { openStore } from '../../electron/store/store.ts';
import { workerClock } from '../../electron/store/worker-clock.ts';
import { PROCESS_A, SCHEDULER } from './journal.ts';
import { SPEC } from './store-spec.ts';

const [folder = '', journal = '', out] = process.argv.slice(2);
const descriptor = out === undefined ? 1 : openSync(out, 'a');
const say = (what: object) => void writeSync(descriptor, `${JSON.stringify(what)}\n`);

const store = await openStore({ folder, clock: workerClock });
say({ opened: true, notices: store.notices.map((notice) => notice.message) });
store.onFailing((failing) => say({ failing: failing?.code ?? null }));
store.onCommitted(({ lastSeq, events }) => say({ lastSeq, count: events.length }));
/** A disk that answers with an error once is asked again, as a host does. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      say({ error: (error as { code?: string }).code });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

await insist(async () => {
  if ((await store.journalsLeft()).length > 0) return;
  const { run } = await store.createRun({ scheduler: SCHEDULER, backend: 'cpu', engine: 'builtin', emulate: null });
  await store.addProcess({ process: PROCESS_A, pid: 1, startTicks: '1', folder, journal, backend: 'cpu', run });
});
await insist(() => store.follow(PROCESS_A));
for (;;) {
  try {
    const proofs = await store.addProofs([SPEC, SPEC]);
    say({ proofs });
    const [next] = await store.takeWaiting(1);
    if (next) {
      await store.markSubmitted(next.proof, next.attempt, 'r1', PROCESS_A);
      const answer = await store.finishProof(next.proof, next.attempt, {
        outcome: 'valid',
        sha256: 'ab'.repeat(32),
        path: '/x',
        code: null,
        message: null,
      });
      say({ finished: next.proof, answer });
    }
  } catch (error) {
    say({ error: (error as { code?: string }).code });
  }
  await new Promise((resolve) => setTimeout(resolve, 5));
}
