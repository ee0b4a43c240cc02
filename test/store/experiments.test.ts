/** Rows of experiments: a block and its proofs come together or not at all, and what is left open is found. */
import { expect, test } from 'vitest';
import { SCHEDULER } from '../support/journal.ts';
import { openTestStore, SPEC } from '../support/open-store.ts';
import { tempFolder } from '../support/temp-folder.ts';

const START = { a: SCHEDULER, b: { ...SCHEDULER, gpu_workers: 1 }, rounds: 3, proofsPerBlock: 2, warmUpProofs: 1, before: '{"spec":{}}' };
const block = (round: number, side: 'a' | 'b', warmUp = false) => ({ round, side, warmUp });

test('a block is a row with its proofs in the queue, in the order of the blocks', async () => {
  const store = await openTestStore(tempFolder());
  await store.addProofs([SPEC]);
  expect(await store.createExperiment(START)).toEqual({ experiment: 'x1' });
  expect(await store.beginBlock('x1', block(0, 'a', true), [SPEC])).toEqual({ position: 0, proofs: ['p2'] });
  expect(await store.beginBlock('x1', block(1, 'a'), [SPEC, SPEC, SPEC])).toEqual({ position: 1, proofs: ['p3', 'p4', 'p5'] });
  await store.endBlock('x1', 1, { run: 'r7', sPerProof: 12.5, proofs: 2 });
  expect(await store.showExperiment('x1')).toMatchObject({
    schema: 1, experiment: 'x1', state: 'running', a: SCHEDULER, b: { gpu_workers: 1 }, rounds: 3, proofs_per_block: 2, warm_up_proofs: 1, verdict: 'too_few',
    blocks: [
      { round: 0, side: 'a', run: null, s_per_proof: null, proofs: 0, warm_up: true },
      { round: 1, side: 'a', run: 'r7', s_per_proof: 12.5, proofs: 2, warm_up: false },
    ],
  }); // prettier-ignore
  // Until it has ended a block's run is that which its first proof went to.
  await store.markSubmitted('p2', 1, 'r6', 'process');
  expect((await store.showExperiment('x1')).blocks.map((entry) => entry.run)).toEqual(['r6', 'r7']);
  await expect(store.showExperiment('x2')).rejects.toMatchObject({ code: 'not_found' });
});

test('a proof that cannot be queued takes its block with it', async () => {
  const store = await openTestStore(tempFolder());
  await store.createExperiment(START);
  await expect(store.beginBlock('x1', block(1, 'a'), [SPEC, { ...SPEC, priority: 9 }])).rejects.toMatchObject({ code: 'internal' });
  await expect(store.beginBlock('x9', block(1, 'a'), [SPEC])).rejects.toMatchObject({ code: 'not_found' });
  expect((await store.showExperiment('x1')).blocks).toEqual([]);
  expect(await store.countProofs()).toEqual({ waiting: 0, running: 0 });
});

test('one that no host ended is found with what of it still waits, across a restart; it ends once', async () => {
  const folder = tempFolder();
  const first = await openTestStore(folder);
  await first.createExperiment(START);
  await first.beginBlock('x1', block(2, 'b'), [SPEC, SPEC]);
  await first.addProofs([SPEC]);
  await first.withdraw(['p1']);
  await first.close();
  const store = await openTestStore(folder);
  expect(await store.openExperiments()).toEqual([{ experiment: 'x1', before: START.before, round: 2, rounds: 3, proofs: ['p2'] }]);
  await store.endExperiment('x1', { state: 'stopped', message: 'the host was lost' });
  await store.endExperiment('x1', { state: 'failed', message: 'again' });
  expect(await store.openExperiments()).toEqual([]);
  expect(await store.showExperiment('x1')).toMatchObject({ state: 'stopped', message: 'the host was lost' });
});
