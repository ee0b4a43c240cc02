/** The contract's own promises. */
import { expect, test } from 'vitest';
import { CALLS, isCallName } from '../../electron/contract/api.ts';
import { ERROR_CODES, InterlockError, isErrorCode, toFailure, unwrap } from '../../electron/contract/errors.ts';
import { resolveScheduler, sameScheduler, schedulerLabel, SCHEDULER_LIMITS } from '../../electron/contract/scheduler.ts';
import { EVENTS, MARKS } from '../../electron/contract/timeline-events.ts';
import { formatBytes, parseBytes } from '../../electron/contract/units.ts';

const MACHINE = { cpus: 8, memoryBytes: 32 * 2 ** 30 };

test('sizes are read exactly or refused, never reinterpreted', () => {
  expect(['1073741824', '8GiB', '0.5GiB', '512MB', '1TiB', '0', '17B'].map(parseBytes)).toEqual([
    2 ** 30,
    8 * 2 ** 30,
    2 ** 29,
    512e6,
    2 ** 40,
    0,
    17,
  ]);
  for (const text of ['256G', '1 TiB', '8gib', 'auto ', '', '-1', '1e3', '0.3B', '1.GiB', '99999999TiB', 'NaN'])
    expect(parseBytes(text), text).toBeNull();
  expect([0, 1023, 2 ** 20, 2 ** 30, 3 * 2 ** 39].map(formatBytes)).toEqual(['0 B', '1023 B', '1 MiB', '1.0 GiB', '1.5 TiB']);
});

test('a scheduler is resolved to every value, and what differs from its preset is named', () => {
  const plain = resolveScheduler({ preset: 'interlock' }, MACHINE);
  expect([plain.overrides, plain.gpu_workers, plain.lock_scope, schedulerLabel(plain)]).toEqual([
    [],
    2,
    'kernels',
    'Dual-worker interlock',
  ]);
  const changed = resolveScheduler({ preset: 'interlock', gpu_workers: 3, dispatch: 'partition' }, MACHINE);
  expect([changed.overrides, schedulerLabel(changed)]).toEqual([['gpu_workers'], 'Dual-worker interlock, modified']);
  const same = resolveScheduler({ preset: 'per-partition', gpu_workers: 2, lock_scope: 'kernels' }, MACHINE);
  expect([sameScheduler(plain, same), sameScheduler(plain, changed)]).toEqual([true, false]);
});

test('every limit is enforced at both ends', () => {
  for (const [key, [least, most]] of Object.entries(SCHEDULER_LIMITS)) {
    for (const value of [least - 1, most + 1, least + 0.5]) {
      expect(() => resolveScheduler({ [key]: value }, { ...MACHINE, memoryBytes: 32 * 2 ** 40 }), `${key} ${value}`).toThrow(
        InterlockError,
      );
    }
    expect(resolveScheduler({ [key]: least }, MACHINE)).toMatchObject({ [key]: least });
  }
  expect(() => resolveScheduler({ memory_budget_bytes: 33 * 2 ** 30 }, MACHINE)).toThrow(/may use only 32.0 GiB/);
  expect(() => resolveScheduler({ nonsense: 1 } as never, MACHINE)).toThrow(InterlockError);
});

test('errors cross as codes of one closed list', () => {
  const failure = toFailure(new InterlockError('busy', 'wait', { pid: 1 }));
  expect(failure).toEqual({ ok: false, code: 'busy', message: 'wait', detail: { pid: 1 } });
  expect(() => unwrap(failure)).toThrow(expect.objectContaining({ code: 'busy', detail: { pid: 1 } }) as Error);
  expect(toFailure('odd')).toMatchObject({ code: 'internal' });
  expect([isErrorCode('busy'), isErrorCode('constructor'), isCallName('status'), isCallName('toString')]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  for (const [code, { next }] of Object.entries(ERROR_CODES)) expect(next, code).not.toBe('');
  expect(Object.keys(CALLS).length).toBeGreaterThan(10);
});

test('no event is a mark, and none has a field that the line itself has', () => {
  for (const [name, fields] of Object.entries({ ...EVENTS, ...MARKS }))
    for (const own of ['seq', 't', 'e']) expect(own in fields, name).toBe(false);
  expect(Object.keys(EVENTS).filter((name) => name in MARKS)).toEqual([]);
});
