import { describe, expect, test } from 'vitest';
import { HostLink } from '../../../renderer/link/host-link.svelte.ts';
import { accountOfRun } from '../../../renderer/parts/idle.ts';
import { accountOfGap, placeOf } from '../../../renderer/run/gap-words.ts';
import { IDLE_AGAIN_MS, IdleController } from '../../../renderer/run/idle-controller.svelte.ts';
import { createDemoRun } from '../../support/demo-run.ts';
import { readLog, recordedLog } from '../../support/demo-log.ts';
import { FakeTransport } from '../../support/fake-transport.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const demo = createDemoRun({ proofs: 6 });
const end = demo.timeline.endNs;

function make(atNs: number) {
  const transport = new FakeTransport();
  transport.value('idle', demo.idle.idleAt(atNs));
  transport.value('gaps', demo.idle.gapsAt(atNs, 10_000_000, 1000));
  const clock = new ManualClock();
  const controller = new IdleController(new HostLink(transport, clock), demo.run);
  return { transport, clock, controller };
}

describe('the idle account of a run', () => {
  test('is read with its gaps; of a run that lasts again now and then, of one that ended once', async () => {
    const live = make(20e9);
    await live.controller.read();
    await live.clock.advance(IDLE_AGAIN_MS * 2 + 500);
    expect(live.transport.inputsOf('idle')).toHaveLength(3);
    live.controller.dispose();
    await live.clock.advance(IDLE_AGAIN_MS * 2);
    expect(live.transport.inputsOf('idle')).toHaveLength(3);
    const over = make(1e15);
    await over.controller.read();
    await over.clock.advance(IDLE_AGAIN_MS * 2);
    expect(over.transport.inputsOf('idle')).toHaveLength(1);
    expect(over.transport.inputsOf('gaps')).toEqual([{ run: demo.run, min_ns: 10_000_000, limit: 1000 }]);
  });

  test('gaps may fail while the account is there, and the other way round', async () => {
    const { transport, controller } = make(1e15);
    transport.fail('gaps', 'corrupt_data', 'cannot be read');
    await controller.read();
    expect([controller.idle !== null, controller.gapsFailure?.code]).toEqual([true, 'corrupt_data']);
    transport.value('gaps', demo.idle.gapsAt(1e15, 10_000_000, 1000));
    transport.fail('idle', 'corrupt_data', 'cannot be read');
    await controller.read();
    expect([controller.idleFailure?.code, controller.gapsFailure]).toEqual(['corrupt_data', null]);
  });

  test('gaps come longest first and are filtered by the cause that names them; pressed again, all are back', async () => {
    const { controller } = make(1e15);
    await controller.read();
    const lengths = controller.filtered.map((gap) => gap.length_ns);
    expect(lengths).toEqual([...lengths].sort((a, b) => b - a));
    controller.filterBy('starved');
    expect(controller.filtered).toHaveLength(controller.gaps!.by_cause.starved!.gaps);
    expect(controller.filtered.every((gap) => gap.cause === 'starved')).toBe(true);
    controller.filterBy('starved');
    expect(controller.filtered).toHaveLength(lengths.length);
  });

  test('every account adds up: the whole run to its wall, a gap to its length', () => {
    const idle = demo.idle.idleAt(1e15);
    for (const device of idle.devices) expect(accountOfRun(device, 'all')!.lengthNs).toBe(end);
    for (const gap of demo.idle.gapsAt(1e15, 10_000_000, 1000).gaps) {
      expect(accountOfGap(gap).parts.reduce((sum, part) => sum + part.ns, 0)).toBe(gap.length_ns);
    }
  });

  test('an imported log adds up, too, with groups in place of what it cannot tell', () => {
    const { idle } = readLog(recordedLog('gw2a'), 'gw2a.log').runs[0]!;
    const account = accountOfRun(idle.devices[0]!, 'all')!;
    expect(account.kernels).toBe(false);
    expect(account.lengthNs).toBe(idle.devices[0]!.wall_ns);
    expect(account.parts.map((part) => part.name)).toContain('lock_or_kernel');
  });

  test('live and run say the same of the same instant', () => {
    const [live] = demo.idle.liveAt(20e9);
    const device = demo.idle.idleAt(20e9).devices[0]!;
    const sum =
      Object.values(live!.idle_ns).reduce((all, ns) => all + ns, 0) + Object.values(live!.provisional).reduce((all, ns) => all + ns, 0);
    expect(sum + (live!.kernel_ns ?? 0) + live!.unknown_ns).toBe(live!.wall_ns);
    expect(accountOfRun(device, 'all')!.lengthNs).toBe(live!.wall_ns);
  });
});

test('where a gap lies, in words', () => {
  const p = (partition: number, attempt = 1) => ({ proof: 'p1', attempt, partition });
  expect(placeOf({ before: p(9), after: { ...p(0), proof: 'p2' } })).toBe('between p1.9 and p2.0');
  expect(placeOf({ before: null, after: p(0, 2) })).toBe('before p1.0 (attempt 2), the first');
  expect(placeOf({ before: p(9), after: null })).toBe('after p1.9, the last');
  expect(placeOf({ before: null, after: null })).toBe('no kernel ran before or after it');
});
