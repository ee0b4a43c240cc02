/** Runs beside each other: the differing keys exactly, the difference with its interval, the causes, and every warning. */
import { describe, expect, it } from 'vitest';
import { compareRuns } from '../../electron/analysis/comparison.ts';
import type { DeviceIdle, Group } from '../../electron/contract/idle.ts';
import { device, parts, proofOf, S, side, type Shape } from '../support/compared-runs.ts';
import { randomSource } from '../support/host-process.ts';
import { SCHEDULER } from '../support/journal.ts';

describe('settings', () => {
  it('lists exactly the key that was changed', () => {
    const one = side('r1');
    const two = side('r2', { scheduler: { ...SCHEDULER, proofs_in_flight: 1, gpu_workers: 1, overrides: ['gpu_workers'] } });
    expect(compareRuns([one, two]).settings).toEqual([{ key: 'gpu_workers', values: [2, 1] }]);
    expect(compareRuns([one, two]).warnings).toEqual([]);
    expect(compareRuns([one, side('r2')])).toMatchObject({ settings: [], warnings: [] });
  });

  it('keeps “not recorded” apart from every value, and names an engine’s own settings', () => {
    const imported = side('r9', {
      scheduler: null,
      report: { engine: 'cuzk', found: { 'gpus.gpu_workers_per_device': '2' }, imported_from: 'daemon.log' },
    });
    const { settings } = compareRuns([side('r1'), imported]);
    expect(settings).toContainEqual({ key: 'gpu_workers', values: [2, null] });
    expect(settings).toContainEqual({ key: 'found.gpus.gpu_workers_per_device', values: [null, '2'] });
    expect(settings).toContainEqual({ key: 'engine', values: ['builtin', 'cuzk'] });
  });

  it('sets several runs beside each other, in their order', () => {
    const workers = (run: string, n: number) => side(run, { scheduler: { ...SCHEDULER, proofs_in_flight: 1, gpu_workers: n } });
    const report = compareRuns([workers('r1', 1), workers('r2', 2), workers('r3', 1)]);
    expect(report.settings).toEqual([{ key: 'gpu_workers', values: [1, 2, 1] }]);
    expect(report.deltas.map((delta) => delta.run)).toEqual(['r2', 'r3']);
  });
});

describe('the difference', () => {
  it('is that of Welch, with n and a ratio, against the first', () => {
    // Intervals 44, 46, 48 …: mean 46; and 42, 43, 44 …: mean 43.
    const slow = side('r3', { seconds: [1, ...Array.from({ length: 30 }, (_, index) => 44 + 2 * (index % 3))] });
    const fast = side('r4', { seconds: [1, ...Array.from({ length: 60 }, (_, index) => 42 + (index % 3))] });
    const [delta] = compareRuns([slow, fast]).deltas;
    expect(delta).toMatchObject({ run: 'r4', n: [31, 61], verdict: 'faster' });
    expect(delta?.s_per_proof?.value).toBeCloseTo(-3, 9);
    expect(delta?.ratio).toBeCloseTo(43 / 46, 9);
    expect(delta?.s_per_proof?.low).toBeGreaterThan(-4);
    expect(delta?.s_per_proof?.high).toBeLessThan(-2);
    expect(compareRuns([fast, slow]).deltas[0]?.verdict).toBe('slower');
  });

  it('is not seen where the interval holds 0, and not claimed where there are too few proofs', () => {
    const random = randomSource(5);
    const noisy = () => Array.from({ length: 40 }, () => 40 + 10 * random());
    const [same] = compareRuns([side('r1', { seconds: noisy() }), side('r2', { seconds: noisy() })]).deltas;
    expect(same?.verdict).toBe('no_difference_seen');
    expect((same?.s_per_proof?.low ?? 1) * (same?.s_per_proof?.high ?? 1)).toBeLessThan(0);
    const few = compareRuns([side('r1'), side('r2', { seconds: [40, 41] })]);
    expect(few.deltas[0]).toMatchObject({ verdict: 'too_few', s_per_proof: null, ratio: null, n: [30, 2] });
    expect(few.warnings).toEqual(['r2 has 2 valid proofs; below 3 nothing is said about its pace.']);
  });

  it('of different work is given per proof, with a warning and without a winner', () => {
    const small = side('r1');
    for (const [what, other, warning] of [
      ['backend', side('r2', { report: { backend: 'emulated' } }), /different backends \(r1 cpu, r2 emulated\)/],
      ['circuit', side('r2', { proof: { circuit: 'squarings-65000' } }), /different circuits \(r1 sha256-62500, r2 squarings-65000\)/],
      ['size', side('r2', { proof: { partitions: proofOf(0).partitions.slice(0, 1) } }), /different numbers of partitions \(r1 2, r2 1\)/],
    ] as const) {
      const report = compareRuns([small, other]);
      expect(report.deltas[0], what).toMatchObject({ verdict: 'not_comparable', s_per_proof: expect.anything() as unknown });
      expect(report.warnings.join('\n'), what).toMatch(warning);
    }
  });
});

describe('causes', () => {
  it('come per proof, largest change first, kernels among them, and add up to what the proof costs the device', () => {
    const before = side('r1', { devices: [device(parts({ epilogue: 3 * S, preamble: 2 * S, starved: 1 * S }, 37 * S))] });
    const after = side('r2', { devices: [device(parts({ preamble: 0.5 * S, starved: 1.2 * S }, 37.1 * S))] });
    const { deltas, runs } = compareRuns([before, after]);
    expect(deltas[0]?.causes).toEqual([
      { cause: 'epilogue', delta_ns: -3 * S },
      { cause: 'preamble', delta_ns: -1.5 * S },
      { cause: 'starved', delta_ns: 0.2 * S },
      { cause: 'kernel', delta_ns: 0.1 * S },
    ]);
    expect(runs[0]?.per_proof).toMatchObject({ kernel_ns: 37 * S, unknown_ns: 0, groups: {} });
  });

  it('are summed over devices, and nothing where no steady stretch is known', () => {
    const two = side('r1', { devices: [device(parts({ starved: S }, 10 * S)), device(parts({ starved: 2 * S }, 11 * S)), device(null)] });
    expect(compareRuns([two, side('r2', { devices: [device(null)] })])).toMatchObject({
      runs: [{ per_proof: { kernel_ns: 21 * S, idle_ns: { starved: 3 * S } } }, { per_proof: null }],
      deltas: [{ causes: [] }],
    });
  });

  it('of a run that lasts are left out while its last proof ended after what the account knows', () => {
    const known = side('r1');
    const early = side('r2');
    for (const one of early.idle.devices)
      if (one.steady) one.steady = { ...one.steady, to_ns: one.steady.to_ns - 46 * S, proofs: one.steady.proofs - 1 };
    const { runs, deltas } = compareRuns([known, early]);
    expect(runs[0]?.per_proof).not.toBeNull();
    expect(runs[1]?.per_proof).toBeNull();
    expect(deltas[0]?.causes).toEqual([]);
    expect(deltas[0]?.s_per_proof).not.toBeNull();
  });

  it('that a log cannot tell are left out on both sides, unless both are blind alike', () => {
    const may = { outside_lock: ['handoff', 'preamble', 'epilogue', 'dispatch'], lock_or_kernel: ['kernel', 'in_lock'] } as const;
    const groups = Object.fromEntries(
      Object.entries(may).map(([name, list]) => [name, { ns: 5, may_be: [...list] }]),
    ) as DeviceIdle['groups'];
    const blind = (run: string, outside: number) =>
      side(run, {
        devices: [
          device(parts({ no_work: 4 * S }, 0, { outside_lock: outside, lock_or_kernel: 20 * S } as Partial<Record<Group, number>>), {
            groups,
            kernel_ns: null,
          }),
        ],
        report: { imported_from: 'daemon.log' },
      });
    const mixed = compareRuns([side('r1', { devices: [device(parts({ epilogue: 3 * S, no_work: S }, 37 * S))] }), blind('r2', S)]);
    expect(mixed.deltas[0]?.causes).toEqual([{ cause: 'no_work', delta_ns: 3 * S }]);
    expect(mixed.warnings.join('\n')).toMatch(/r2 only says “lock held”, “outside lock”/);
    expect(mixed.runs[1]?.per_proof?.kernel_ns).toBeNull();
    const alike = compareRuns([blind('r2', S), blind('r3', 3 * S)]);
    expect(alike.deltas[0]?.causes).toEqual([
      { cause: 'outside_lock', delta_ns: 2 * S },
      { cause: 'no_work', delta_ns: 0 },
      { cause: 'lock_or_kernel', delta_ns: 0 },
    ]);
    expect(alike.warnings.join('\n')).not.toMatch(/Not every log/);
  });
});

describe('warnings', () => {
  const table: [string, Shape, RegExp][] = [
    ['interrupted', { report: { state: 'interrupted' } }, /r2 was interrupted: it ends at its last event/],
    ['running', { report: { state: 'running' } }, /r2 still runs/],
    ['failed', { report: { state: 'failed', ended_by: 'no room' } }, /r2 failed \(no room\)/],
    ['imported', { report: { imported_from: 'daemon.log' } }, /r2 was imported from daemon\.log/],
    ['partial', { partial: true }, /Events of r2 are missing/],
    ['lost', { report: { events: { count: 1, lost: 3, unparsed: 0 } } }, /Events of r2 are missing/],
    ['engine', { report: { engine: 'cuzk' } }, /different engines \(r1 builtin, r2 cuzk\)/],
    ['machine', { hello: { host_cpus: 96 } }, /different machines \(r1 .*CPUs.*, r2 96 CPUs/],
    ['version', { hello: { version: '9.9.9' } }, /different versions .*r2 9\.9\.9/],
    ['devices', { hello: { devices: [{ device: 'gpu0', kind: 'cuda', name: 'H200' }, { device: 'gpu1', kind: 'cuda', name: 'H200' }] } }, /different devices \(.*r2 H200 \+ H200\); figures are per proof/],
    ['bad proofs', { proof: { outcome: 'failed' } }, /30 proofs of r2 failed/],
  ]; // prettier-ignore
  it.each(table)('%s', (_, shape, warning) => {
    expect(compareRuns([side('r1'), side('r2', shape)]).warnings.join('\n')).toMatch(warning);
  });

  it('say where stages were emulated with different durations', () => {
    const emulated = (run: string, emulate: string | null) => side(run, { report: { backend: 'emulated', emulate } });
    const report = compareRuns([emulated('r1', null), emulated('r2', 'kernels=1ms')]);
    expect(report.warnings).toEqual(['Their stages are emulated with different durations (r1 the usual ones, r2 kernels=1ms).']);
    expect(report.deltas[0]?.verdict).not.toBe('not_comparable');
  });

  it('tell a run beside itself, and one that proves several things', () => {
    expect(compareRuns([side('r1'), side('r1')]).warnings).toEqual(['r1 is set beside itself.']);
    const mixed = side('r2');
    mixed.report.proofs.push(proofOf(99, { circuit: 'squarings-65000' }));
    expect(compareRuns([mixed, side('r3')]).warnings.join('\n')).toMatch(
      /r2 itself proves different circuits \(sha256-62500 and squarings-65000\)/,
    );
  });

  it('take no notice of partitions that a proof lost when it was cut off', () => {
    const cut = side('r2', { report: { state: 'interrupted' } });
    cut.report.proofs.push(proofOf(99, { outcome: 'interrupted', partitions: proofOf(0).partitions.slice(0, 1) }));
    expect(compareRuns([side('r1'), cut])).toMatchObject({ settings: [], warnings: [expect.stringMatching(/interrupted/)] });
  });
});
