/** The closing line of `npm test` counts what the runners said, and a runner that died never looks green. */
import { expect, test } from 'vitest';
import { readCargo, readVitest } from '../../build/launch/test.mjs';

const none = () => ({ part: 'x', passed: 0, failed: 0, skipped: 0, skippedNames: [] as string[], failedNames: [] as string[], minutes: 0 });

const CARGO = `
running 3 tests
test a::works ... ok
test a::waits ... ignored, needs a GPU
test a::breaks ... FAILED

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s

running 2 tests
test b::one ... ok
test b::two ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
`;

test('cargo’s binaries are added up, and what did not run is named', () => {
  expect(readCargo(CARGO, 101, none())).toMatchObject({
    passed: 3,
    failed: 1,
    skipped: 1,
    skippedNames: ['a::waits (needs a GPU)'],
    failedNames: ['a::breaks'],
  });
});

test('cargo that could not compile is a failure', () => {
  expect(readCargo('error: could not compile', 101, none())).toMatchObject({ passed: 0, failed: 1 });
  expect(readCargo('', 0, none())).toMatchObject({ passed: 0, failed: 0 });
});

test('vitest’s report is added up by status', () => {
  const results = [
    { name: '/x/a.test.ts', status: 'failed', assertionResults: [{ status: 'passed', fullName: 'one' }, { status: 'failed', fullName: 'two' }, { status: 'skipped', fullName: 'three' }, { status: 'todo', fullName: 'four' }] },
    { name: '/x/b.test.ts', status: 'failed', assertionResults: [] },
    { name: '/x/c.test.ts', status: 'failed', assertionResults: [{ status: 'skipped', fullName: 'set-up failed' }] },
  ]; // prettier-ignore
  expect(readVitest(JSON.stringify({ testResults: results }), 1, none())).toMatchObject({ passed: 1, failed: 3, skipped: 3 });
});

test.each([['', 0], ['{"testResults":[]}', 1], ['not json', 0]])('a report %j with exit %i is a failure', (text, code) =>
  expect(readVitest(text, code, none()).failed).toBe(1),
); // prettier-ignore
