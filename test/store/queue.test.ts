/** The queue against a model of it. */
import path from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { migrate } from '../../electron/store/migrations/index.ts';
import { listProofs, Queue, readProofFile } from '../../electron/store/queue.ts';
import type { ProofFinish } from '../../electron/store/types.ts';
import { SPEC } from '../support/open-store.ts';
import { tempFolder } from '../support/temp-folder.ts';

function makeQueue(file = ':memory:') {
  const db = new Database(file);
  migrate(db);
  let now = 1_000;
  return { db, queue: new Queue(db, () => now++) };
}

const VALID: ProofFinish = { outcome: 'valid', sha256: 'ab'.repeat(32), path: '/spool/p1', code: null, message: null };
const FAILED: ProofFinish = { outcome: 'failed', sha256: null, path: null, code: 'panicked', message: 'boom' };
const names = (proofs: { proof: string }[]) => proofs.map(({ proof }) => proof);

test('returned ones first, then higher priority, then first come', () => {
  const { queue } = makeQueue();
  queue.addProofs([SPEC, { ...SPEC, priority: 4 }, SPEC, { ...SPEC, priority: 1 }]);
  expect(names(queue.takeWaiting(10))).toEqual(['p2', 'p1', 'p3', 'p4']);
  for (const proof of ['p3', 'p4']) queue.markSubmitted(proof, 1, 'r1', 'a');
  expect(names(queue.takeWaiting(10))).toEqual(['p2', 'p1']);
  queue.returnToHead('p4', { countsAsAttempt: false });
  queue.returnToHead('p3', { countsAsAttempt: true, message: 'the prover was killed' });
  expect(queue.takeWaiting(3).map(({ proof, attempt, returned }) => [proof, attempt, returned])).toEqual([
    ['p3', 2, true],
    ['p4', 1, true],
    ['p2', 1, false],
  ]);
  expect(queue.countProofs()).toEqual({ waiting: 4, running: 0 });
});

test('exactly one finish an attempt; a valid proof is never overwritten', () => {
  const { queue, db } = makeQueue();
  queue.addProofs([SPEC]);
  expect(queue.finishProof('p1', 1, VALID)).toEqual({ accepted: false, reason: 'unknown' });
  queue.markSubmitted('p1', 1, 'r1', 'a');
  queue.returnToHead('p1', { countsAsAttempt: true });
  queue.markSubmitted('p1', 2, 'r1', 'b');
  // The first attempt's result comes late: kept aside, not taken.
  expect(queue.finishProof('p1', 1, { ...VALID, path: '/late' })).toEqual({ accepted: false, reason: 'old_attempt' });
  expect(queue.finishProof('p1', 2, VALID)).toEqual({ accepted: true });
  expect(queue.finishProof('p1', 2, FAILED)).toEqual({ accepted: false, reason: 'already_ended' });
  expect(queue.finishProof('p1', 3, FAILED)).toEqual({ accepted: false, reason: 'already_valid' });
  expect(queue.finishProof('p9', 1, FAILED)).toEqual({ accepted: false, reason: 'unknown' });
  expect(queue.returnToHead('p1', { countsAsAttempt: true })).toEqual({ state: 'valid' });
  expect(readProofFile(db, 'p1')).toEqual({ sha256: VALID.sha256, path: '/spool/p1' });
  expect(db.prepare('SELECT attempt, outcome, late, path FROM proof_attempt ORDER BY attempt').all()).toEqual([
    { attempt: 1, outcome: 'interrupted', late: 1, path: '/late' },
    { attempt: 2, outcome: 'valid', late: 0, path: '/spool/p1' },
  ]);
});

test('one that was handed back and whose proof is found after all is done', () => {
  const { queue } = makeQueue();
  queue.addProofs([SPEC]);
  queue.markSubmitted('p1', 1, 'r1', 'a');
  queue.returnToHead('p1', { countsAsAttempt: false });
  expect(queue.finishProof('p1', 1, FAILED)).toEqual({ accepted: false, reason: 'unknown' });
  expect(queue.takeWaiting(1)).toMatchObject([{ proof: 'p1', attempt: 1 }]);
  expect(queue.finishProof('p1', 1, VALID)).toEqual({ accepted: true });
  expect(queue.takeWaiting(1)).toEqual([]);
});

test('withdrawing: at once while it waits, with its return while it runs, too late after', () => {
  const { queue } = makeQueue();
  queue.addProofs([SPEC, SPEC, SPEC]);
  queue.markSubmitted('p2', 1, 'r1', 'a');
  queue.markSubmitted('p3', 1, 'r1', 'a');
  queue.finishProof('p3', 1, VALID);
  expect(queue.withdraw(['p1', 'p2', 'p3'])).toEqual([
    { proof: 'p1', state: 'withdrawn' },
    { proof: 'p2', state: 'stopping' },
    { proof: 'p3', state: 'ended' },
  ]);
  expect(queue.listRunning()).toMatchObject([{ proof: 'p2', withdrawAsked: true }]);
  expect(queue.returnToHead('p2', { countsAsAttempt: false })).toEqual({ state: 'withdrawn' });
  expect(queue.takeWaiting(9)).toEqual([]);
  expect(() => queue.withdraw(['p77'])).toThrow(/no proof p77/);
});

test('a submission under another attempt, or of one that does not wait, is refused', () => {
  const { queue } = makeQueue();
  queue.addProofs([SPEC]);
  expect(() => queue.markSubmitted('p1', 2, 'r1', 'a')).toThrow(/attempt 1/);
  queue.markSubmitted('p1', 1, 'r1', 'a');
  expect(() => queue.markSubmitted('p1', 1, 'r1', 'a')).toThrow(/running/);
});

test('64 bits stay exact', () => {
  const { queue, db } = makeQueue();
  queue.addProofs([{ ...SPEC, submittedWallNs: '1796043668729000001', deadlineWallNs: '9007199254740993' }]);
  expect(queue.takeWaiting(1)[0]).toMatchObject({ submittedWallNs: '1796043668729000001', deadlineWallNs: '9007199254740993' });
  expect(listProofs(db, 'any', 1)[0]?.submittedWallMs).toBe(1796043668729);
});

type Command =
  | { do: 'add'; priority: number }
  | { do: 'submit' | 'return' | 'crash' | 'valid' | 'failed' | 'late' | 'withdraw'; pick: number }
  | { do: 'reopen' };
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ do: fc.constant('add' as const), priority: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constantFrom('submit', 'return', 'crash', 'valid', 'failed', 'late', 'withdraw'), pick: fc.nat(50) }),
  fc.record({ do: fc.constant('reopen' as const) }),
);

test('any history of commands: the queue is what the model says, through reopening', () => {
  const folder = tempFolder();
  let runs = 0;
  fc.assert(
    fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
      const file = path.join(folder, `q${runs++}`);
      let { db, queue } = makeQueue(file);
      db.pragma('synchronous = OFF');
      const model: {
        proof: string;
        state: string;
        attempt: number;
        returned: boolean;
        priority: number;
        withdraw: boolean;
        used: Set<number>;
      }[] = [];
      const pick = (state: string, at: number) => {
        const some = model.filter((each) => each.state === state);
        return some.length === 0 ? undefined : some[at % some.length];
      };
      for (const step of commands) {
        if (step.do === 'add') {
          const [proof = ''] = queue.addProofs([{ ...SPEC, priority: step.priority }]);
          model.push({ proof, state: 'waiting', attempt: 1, returned: false, priority: step.priority, withdraw: false, used: new Set() });
        } else if (step.do === 'reopen') {
          db.close();
          ({ db, queue } = makeQueue(file));
        } else if (step.do === 'submit') {
          const next = queue.takeWaiting(1)[0];
          const one = model.find((each) => each.proof === next?.proof);
          if (!next || !one) continue;
          queue.markSubmitted(next.proof, next.attempt, 'r1', 'a');
          Object.assign(one, { state: 'running', returned: false });
        } else if (step.do === 'withdraw') {
          const one = model[step.pick % Math.max(1, model.length)];
          if (!one) continue;
          queue.withdraw([one.proof]);
          if (one.state === 'waiting') one.state = 'withdrawn';
          else if (one.state === 'running') one.withdraw = true;
        } else if (step.do === 'return' || step.do === 'crash') {
          const one = pick('running', step.pick);
          if (!one) continue;
          queue.returnToHead(one.proof, { countsAsAttempt: step.do === 'crash' });
          if (step.do === 'crash') one.used.add(one.attempt);
          if (one.withdraw) one.state = 'withdrawn';
          else {
            one.state = 'waiting';
            one.returned = true;
            if (one.used.has(one.attempt)) one.attempt += 1;
          }
        } else if (step.do === 'late') {
          const one = model[step.pick % Math.max(1, model.length)];
          if (!one || one.attempt < 2) continue;
          expect(queue.finishProof(one.proof, one.attempt - 1, VALID).accepted).toBe(false);
        } else {
          const one = pick('running', step.pick);
          if (!one) continue;
          expect(queue.finishProof(one.proof, one.attempt, step.do === 'valid' ? VALID : FAILED)).toEqual({ accepted: true });
          expect(queue.finishProof(one.proof, one.attempt, FAILED).accepted).toBe(false);
          one.state = step.do;
          one.used.add(one.attempt);
        }
      }
      const expected = model
        .map((each, position) => ({ ...each, position }))
        .filter((each) => each.state === 'waiting')
        .sort((a, b) => Number(b.returned) - Number(a.returned) || b.priority - a.priority || a.position - b.position);
      expect(queue.takeWaiting(100).map(({ proof, attempt }) => [proof, attempt])).toEqual(
        expected.map(({ proof, attempt }) => [proof, attempt]),
      );
      expect(listProofs(db, 'any', 100).map(({ proof, state }) => [proof, state]).reverse()).toEqual(model.map(({ proof, state }) => [proof, state])); // prettier-ignore
      db.close();
    }),
    { numRuns: 60 },
  );
});
