import { beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../../electron/contract/client.ts';
import type { HostStatus } from '../../../electron/contract/live.ts';
import { PRESET_SETTINGS, resolveScheduler, type SchedulerSpec } from '../../../electron/contract/scheduler.ts';
import { HostLink } from '../../../renderer/link/host-link.svelte.ts';
import { describeSwitch } from '../../../renderer/schedulers/consequences.ts';
import { ProveController, WORK_LIMITS, type WorkField } from '../../../renderer/schedulers/prove-controller.svelte.ts';
import { SchedulerForm } from '../../../renderer/schedulers/scheduler-form.svelte.ts';
import { ProveSchema } from '../../../electron/contract/api.ts';
import * as v from 'valibot';
import { createDemoRun, DEMO_MACHINE } from '../../support/demo-run.ts';
import { FakeTransport } from '../../support/fake-transport.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const running = createDemoRun({ proofs: 6, spec: { preset: 'interlock' } }).statusAt(20e9);
let clock: ManualClock;
let transport: FakeTransport;

beforeEach(() => {
  clock = new ManualClock();
  transport = new FakeTransport();
  transport.answer('resolve_scheduler', (input) => ({
    ok: true,
    value: {
      scheduler: resolveScheduler((input as { scheduler: SchedulerSpec }).scheduler, DEMO_MACHINE),
      restarts: false,
      waitsForProofs: 2,
    },
  }));
});

describe('choosing a scheduler', () => {
  const make = () => new SchedulerForm(createClient(transport), clock, DEMO_MACHINE, null);

  test('only what differs from the preset is sent; the default typed again is no change', () => {
    const form = make();
    form.setKnob('gpu_workers', '3');
    form.setKnob('memory_budget_bytes', '8GiB');
    form.setKnob('order', 'deadline');
    expect(form.spec()).toEqual({ preset: 'interlock', gpu_workers: 3, memory_budget_bytes: 8 * 2 ** 30, order: 'deadline' });
    form.setKnob('gpu_workers', '2');
    expect(form.spec()).not.toHaveProperty('gpu_workers');
    form.choosePreset('batch');
    expect(form.spec()).toEqual({ preset: 'batch' });
    expect(form.textOf('dispatch')).toBe(PRESET_SETTINGS.batch.dispatch);
  });

  test.each([
    ['gpu_workers', '0', '1 to 4'],
    ['gpu_workers', '5', '1 to 4'],
    ['gpu_workers', '1.5', 'a whole number'],
    ['gpu_workers', '', 'a whole number'],
    ['memory_budget_bytes', '256G', 'a size, such as 8GiB'],
    ['memory_budget_bytes', '1MiB', '64MiB to 16TiB'],
  ] as const)('%s = "%s" is refused here: %s', async (knob, text, words) => {
    const form = make();
    form.setKnob(knob, text);
    expect(form.faults).toEqual({ [knob]: words });
    await clock.advance(1000);
    expect(transport.calls).toEqual([]);
  });

  test('asks once, a moment after the last change; a late answer to an older question is dropped', async () => {
    const form = make();
    const answers: (() => void)[] = [];
    transport.answer('resolve_scheduler', (input) => {
      const scheduler = resolveScheduler((input as { scheduler: SchedulerSpec }).scheduler, DEMO_MACHINE);
      return new Promise((resolve) => answers.push(() => resolve({ ok: true, value: { scheduler, restarts: false, waitsForProofs: 0 } })));
    });
    form.choosePreset('batch');
    await clock.advance(100);
    form.choosePreset('per-partition');
    await clock.advance(300);
    form.choosePreset('interlock');
    await clock.advance(300);
    expect(transport.calls).toHaveLength(2);
    answers[1]!();
    await clock.advance(0);
    answers[0]!();
    await clock.advance(0);
    expect(form.resolved?.scheduler.preset).toBe('interlock');
    expect(form.asking).toBe(false);
  });

  test('a refusal of the host is kept to be shown', async () => {
    transport.fail('resolve_scheduler', 'budget_too_small', 'One partition needs 14 GiB.');
    const form = make();
    form.ask();
    await clock.advance(300);
    expect(form.refused?.code).toBe('budget_too_small');
    expect(form.resolved).toBeNull();
  });

  test('begins with the active scheduler and what differs in it', () => {
    const active = resolveScheduler({ preset: 'per-partition', order: 'deadline' }, DEMO_MACHINE);
    const form = new SchedulerForm(createClient(transport), clock, DEMO_MACHINE, active);
    expect(form.spec()).toEqual({ preset: 'per-partition', order: 'deadline' });
  });

  test('takes a suggestion on top of what is active: what is sent resolves to exactly what was simulated', () => {
    const active = resolveScheduler({ preset: 'per-partition', order: 'deadline', synthesis_workers: 3 }, DEMO_MACHINE);
    for (const change of [
      { gpu_workers: 2, lock_scope: 'kernels' },
      { gpu_workers: 2 },
      { synthesis_workers: 4 },
      { dispatch: 'batch' },
    ] as const) {
      const form = new SchedulerForm(createClient(transport), clock, DEMO_MACHINE, active);
      form.suggest(change);
      const { preset: _preset, overrides: _overrides, ...settings } = resolveScheduler(form.spec(), DEMO_MACHINE);
      const { preset: _was, overrides: _were, ...before } = active;
      expect(settings).toEqual({ ...before, ...change });
    }
  });

  test('a suggestion that makes another preset is shown as that one', () => {
    const form = new SchedulerForm(
      createClient(transport),
      clock,
      DEMO_MACHINE,
      resolveScheduler({ preset: 'per-partition' }, DEMO_MACHINE),
    );
    form.suggest({ gpu_workers: 2, lock_scope: 'kernels' });
    expect(form.preset).toBe('interlock');
  });
});

describe('what a switch does is said before it is pressed', () => {
  const other = { scheduler: resolveScheduler({ preset: 'batch' }, DEMO_MACHINE), restarts: false, waitsForProofs: 2 };
  const say = (...input: Parameters<typeof describeSwitch>) => describeSwitch(...input).map((line) => line.text.replaceAll('\u00a0', ' '));

  test('proofs in flight are finished first, params stay loaded', () => {
    expect(say(other, null, running)).toEqual([
      '2 proofs in flight are finished first, under the current scheduler. No work is lost; proofs that have not begun wait for the new run.',
      'The prover keeps running and its params stay loaded.',
    ]);
  });
  test('a restart is named with its cost', () => {
    expect(say({ ...other, restarts: true, waitsForProofs: 0 }, 'cuda', running)).toEqual([
      'Nothing is in flight, so the change is made at once. A new run begins.',
      'The prover restarts on CUDA: params are loaded again.',
    ]);
  });
  test('the same scheduler changes nothing; without a prover one is started', () => {
    expect(say({ ...other, scheduler: running.run!.scheduler }, null, running)).toEqual([
      'This is the scheduler of the current run: nothing changes, new proofs join it.',
    ]);
    const idle: HostStatus = { ...running, run: null, prover: { ...running.prover, phase: 'absent', pid: null } };
    expect(say(other, null, idle)).toEqual(['The prover is started and loads its params.']);
  });
});

describe('starting', () => {
  const make = (status: HostStatus | null) => {
    transport.greeting = () => (status ? [{ kind: 'status', status }] : []);
    const link = new HostLink(transport, clock);
    link.open();
    return new ProveController(link);
  };

  test('sends what was chosen, once', async () => {
    transport.value('prove', { proofs: ['p-1'], run: null, scheduler: resolveScheduler({}, DEMO_MACHINE) });
    const controller = make({ ...running, run: null });
    controller.chooseCircuit('squarings');
    controller.fields.count = '3';
    controller.form.choosePreset('per-partition');
    expect(controller.ready).toBe(false);
    await clock.advance(300);
    expect(controller.ready).toBe(true);
    expect(await Promise.all([controller.send(), controller.send()])).toEqual([true, false]);
    expect(transport.inputsOf('prove')).toEqual([
      {
        circuit: 'squarings',
        constraints: 65_000,
        partitions: 10,
        count: 3,
        priority: 2,
        scheduler: { preset: 'per-partition' },
        switch: false,
      },
    ]);
  });

  test('another scheduler than the active one is asked for as a switch', async () => {
    const controller = make(running);
    await clock.advance(300);
    const before = controller.switches;
    controller.form.choosePreset('batch');
    await clock.advance(300);
    expect([before, controller.switches]).toEqual([false, true]);
    transport.fail('prove', 'busy', 'A switch is under way already.');
    expect(await controller.send()).toBe(false);
    expect(transport.inputsOf('prove')[0]).toMatchObject({ switch: true });
    expect(controller.failure?.code).toBe('busy');
  });

  test('limits shown are the contract’s own', () => {
    for (const [field, [least, most]] of Object.entries(WORK_LIMITS) as [WorkField, readonly [number, number]][]) {
      for (const [value, fits] of [
        [least, true],
        [most, true],
        [least - 1, false],
        [most + 1, false],
      ] as const) {
        expect(v.safeParse(ProveSchema, { [field]: value }).success, `${field} = ${value}`).toBe(fits);
      }
    }
    const controller = make(null);
    controller.fields.partitions = '1025';
    expect(controller.faults).toEqual({ partitions: '1 to 1,024' });
    expect(controller.ready).toBe(false);
  });
});
