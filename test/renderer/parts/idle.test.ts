import { describe, expect, test } from 'vitest';
import { CAUSES, type Cause, type DeviceIdle, type IdleParts } from '../../../electron/contract/idle.ts';
import type { DeviceIdleLive } from '../../../electron/contract/live.ts';
import {
  accountOfLive,
  accountOfRun,
  explainPart,
  partSeconds,
  PART_ORDER,
  spanWords,
  sumAccounts,
  wallOfLive,
} from '../../../renderer/parts/idle.ts';

const noIdle = Object.fromEntries(CAUSES.map((cause) => [cause, 0])) as Record<Cause, number>;
const parts = (kernel: number, idle: Partial<Record<Cause, number>>): IdleParts => ({
  kernel_ns: kernel,
  idle_ns: { ...noIdle, ...idle },
  groups: {},
  unknown_ns: 0,
});
const live: DeviceIdleLive = {
  device: 'gpu0',
  wall_ns: 40e9,
  kernel_ns: 20e9,
  idle_ns: { starved: 9e9, in_lock: 6e9 },
  provisional: { starved: 1e9, cross_sector: 2e9 },
  groups: {},
  unknown_ns: 2e9,
  steady: null,
};

describe('an account as it is drawn', () => {
  test('has the fixed order, adds up to the wall, and keeps provisional time apart', () => {
    const account = wallOfLive(live);
    expect(account.parts.map((part) => part.name)).toEqual(['kernel', 'in_lock', 'starved', 'cross_sector', 'unknown']);
    expect(account.lengthNs).toBe(live.wall_ns);
    expect(account.parts.find((part) => part.name === 'starved')).toEqual({ name: 'starved', ns: 10e9, provisionalNs: 1e9 });
    expect(spanWords(account, false)).toBe('of 40\u00a0s so far');
    expect(spanWords(account, true)).toBe('of 40\u00a0s');
  });

  test('is per proof once there is a steady stretch', () => {
    const steady = { from_ns: 0, to_ns: 40e9, proofs: 4, per_proof: parts(5e9, { epilogue: 5e9 }) };
    const account = accountOfLive({ ...live, steady });
    expect(account.proofs).toBe(4);
    expect(spanWords(account, false)).toBe('of 10.0\u00a0s/proof');
    expect(explainPart(account, account.parts[1]!)).toMatch(
      /^epilogue: 5\.00\u00a0s per proof, over 4 proofs of the steady stretch, 50\.0 % on gpu0\./,
    );
  });

  test('of a run: provisional is inside of the cause, not added to it', () => {
    const device = {
      device: 'gpu0', kernel_ns: 20e9, idle_ns: { ...noIdle, starved: 10e9, cross_sector: 2e9, in_lock: 6e9 },
      provisional: { starved: 1e9, cross_sector: 2e9 }, groups: {}, unknown_ns: 2e9, steady: null,
    } as unknown as DeviceIdle; // prettier-ignore
    expect(accountOfRun(device, 'all')).toEqual(wallOfLive(live));
    expect(accountOfRun(device, 'per_proof')).toBeNull();
  });

  test('kernels that are not recorded are no part of it', () => {
    const account = wallOfLive({ ...live, kernel_ns: null, groups: { lock_or_kernel: 20e9 } });
    expect(account.kernels).toBe(false);
    expect(account.parts.map((part) => part.name)).not.toContain('kernel');
    expect(
      explainPart(
        account,
        account.parts.find((part) => part.name === 'lock_or_kernel')!,
      ),
    ).toContain('May be kernels or in lock.');
  });

  test('several devices add up, part by part; stretches of different kinds are not added', () => {
    const sum = sumAccounts([wallOfLive(live), wallOfLive({ ...live, device: 'gpu1' })])!;
    expect(sum.lengthNs).toBe(80e9);
    expect(sum.parts.find((part) => part.name === 'starved')).toEqual({ name: 'starved', ns: 20e9, provisionalNs: 2e9 });
    const steady = accountOfLive({ ...live, steady: { from_ns: 0, to_ns: 1, proofs: 4, per_proof: parts(1, {}) } });
    expect(sumAccounts([wallOfLive(live), steady])).toBeNull();
    expect(sumAccounts([])).toBeNull();
  });

  test('what is there is never printed as 0', () => {
    expect([1, 4e6, 6e6, 7.02e9, 21e9, 1234.4e9].map(partSeconds)).toEqual(['<0.01', '<0.01', '0.01', '7.02', '21.0', '1,234']);
  });

  test('every cause and group has a place in the order', () => expect(new Set(PART_ORDER).size).toBe(20));
});
