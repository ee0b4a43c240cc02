/** The oracle itself against the worked lanes: the numbers of the design, by hand. */
import { expect, test } from 'vitest';
import { LANES, makeLane, MORE_LANES, type Lane } from './lanes.ts';
import { askOracle, findPython, writeRunFile, type OracleDevice } from './run-sample.ts';

const MS = 1_000_000;
const python = findPython();

/** Everything that is not 0, in ms; details as `cause.detail`. */
function sumUp(device: OracleDevice, wanted: Record<string, number>): Record<string, number> {
  const found: Record<string, number> = { kernel: device.kernel_ns ?? 0, unknown: device.unknown_ns, ...device.idle_ns, ...device.groups };
  for (const [name, ns] of Object.entries(device.details.in_lock)) found[`in_lock.${name}`] = ns;
  for (const [name, ns] of Object.entries(device.details.permit)) found[`permit.${name}`] = ns;
  found['provisional'] = device.provisional_ns;
  const named = (name: string) => (name.includes('.') || name === 'provisional' ? name in wanted : true);
  return Object.fromEntries(Object.entries(found).flatMap(([name, ns]) => (ns !== 0 && named(name) ? [[name, ns / MS]] : [])));
}

test.skipIf(!python)(`the oracle gives the worked lanes${python ? '' : ' (not run here: python3 is missing)'}`, () => {
  const lanes = [...LANES, ...MORE_LANES];
  const answers = askOracle(lanes.map((lane) => writeRunFile(makeLane(lane))).join(''));
  expect(answers.map((answer) => answer.run)).toEqual(lanes.map((lane) => lane.name));
  for (const [index, lane] of lanes.entries()) {
    const { wall_ns, devices } = answers[index] as (typeof answers)[number];
    expect(wall_ns, lane.name).toBe(lane.endMs * MS);
    for (const [device, expected] of Object.entries(lane.expected)) {
      const found = devices[device] as OracleDevice;
      expect(sumUp(found, expected), `lane ${lane.name}, ${device}`).toEqual(expected);
      expect(found.unknown_ns + (found.kernel_ns ?? 0) + sum(found.idle_ns) + sum(found.groups)).toBe(wall_ns);
      checkBeside(lane, device, found);
    }
  }
});

function checkBeside(lane: Lane, device: string, found: OracleDevice): void {
  for (const [name, ms] of Object.entries(lane.windows?.[device] ?? {})) {
    expect(found.windows[name as 'kernel']?.ns, `lane ${lane.name}, ${name}`).toBe(ms * MS);
  }
  for (const [state, ms] of Object.entries(lane.worker?.[device] ?? {})) {
    expect(found.worker_ns[state], `lane ${lane.name}, ${state}`).toBe(ms * MS);
  }
}

function sum(parts: Record<string, number>): number {
  return Object.values(parts).reduce((total, ns) => total + ns, 0);
}
