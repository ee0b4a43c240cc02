/** The table alone: every combination of what may be true of a device has exactly one cause, and each cause is reached. */
import { expect, test } from 'vitest';
import {
  causeOf,
  earlyRowOf,
  FIRST_ROW_OF_NEXT,
  makeInstant,
  ROWS,
  rowOf,
  type DeviceInstant,
} from '../../../electron/analysis/idle/table.ts';
import { CAUSES } from '../../../electron/contract/idle.ts';

const STATES = ['free', 'waiting', 'prepare', 'device', 'finish', 'dead'] as const;
const FACTS = [
  'lockHeld', 'ready', 'allQueuedLoad', 'eligible', 'withheld', 'held', 'hasNext', 'nextLoads', 'nextAccepted', 'permitDue',
  'nextWaitsForPermit', 'pickedBefore', 'sameProof',
] as const satisfies (keyof DeviceInstant)[]; // prettier-ignore

/** One or two workers, each in any state; a process that lives or not; any facts. */
function* instants(): Iterable<DeviceInstant> {
  const crews = [...STATES.map((one) => [one]), ...STATES.flatMap((one) => STATES.map((other) => [one, other]))];
  for (const alive of [true, false]) {
    for (const crew of crews) {
      for (let bits = 0; bits < 2 ** FACTS.length; bits++) {
        const at = makeInstant();
        at.alive = alive;
        at.allDead = crew.every((state) => state === 'dead');
        at.inDevice = crew.includes('device');
        at.waiting = crew.includes('waiting');
        at.inPrepare = crew.includes('prepare');
        at.inFinish = crew.includes('finish');
        at.hasFree = crew.includes('free');
        FACTS.forEach((fact, index) => (at[fact] = ((bits >> index) & 1) === 1));
        yield at;
      }
    }
  }
}

test('the rows are the causes, in their order', () => {
  expect(ROWS.map(({ cause }) => cause)).toEqual([...CAUSES]);
});

test('every combination has exactly one row, and every row is reached', () => {
  const reached = new Set<string>();
  let count = 0;
  for (const at of instants()) {
    // A row holds by the table where its own words hold and none above it does.
    const holding = ROWS.filter((row, index) => row.holds(at) && !ROWS.slice(0, index).some((above) => above.holds(at)));
    if (holding.length !== 1) expect(holding).toHaveLength(1);
    const [row] = holding;
    if (row?.cause !== causeOf(at)) expect(causeOf(at)).toBe(row?.cause);
    if (earlyRowOf(at) !== Math.min(rowOf(at), FIRST_ROW_OF_NEXT)) expect(earlyRowOf(at)).toBe(Math.min(rowOf(at), FIRST_ROW_OF_NEXT));
    reached.add(row?.cause ?? '');
    count += 1;
  }
  expect(count).toBe(2 * 42 * 2 ** FACTS.length);
  expect([...CAUSES].filter((cause) => !reached.has(cause))).toEqual([]);
});
