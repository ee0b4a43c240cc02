import { describe, expect, test } from 'vitest';
import { HostLink } from '../../../renderer/link/host-link.svelte.ts';
import { computeSpreads, countOutcomes, isOpen, percentile, stageNs } from '../../../renderer/run/layout.ts';
import { RunController } from '../../../renderer/run/run-controller.svelte.ts';
import { createDemoRun } from '../../support/demo-run.ts';
import { FakeTransport } from '../../support/fake-transport.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const demo = createDemoRun({ proofs: 8, failing: [2], invalid: [4] });
const ended = demo.reportAt(1e15);

describe('one run', () => {
  test('a percentile is a value that was measured, by nearest rank', () => {
    const values = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
    expect([0.1, 0.5, 0.9, 1].map((share) => percentile(values, share))).toEqual([10, 50, 90, 100]);
    expect(percentile([7], 0.1)).toBe(7);
    expect(percentile([], 0.5)).toBeNull();
  });

  test('spreads count only partitions that passed the stage; a failed one has no finish', () => {
    const byKey = new Map(computeSpreads(ended).map((spread) => [spread.key, spread]));
    expect(byKey.get('synthesis')!.n).toBe(80);
    expect(byKey.get('finish')!.n).toBe(79);
    const kernels = byKey.get('kernels')!;
    expect(kernels.p10!).toBeLessThanOrEqual(kernels.median!);
    expect(kernels.median!).toBeLessThanOrEqual(kernels.longest!);
  });

  test('a stage that never ended is open and in no sum', () => {
    const live = demo.reportAt(9e9);
    const open = live.proofs.flatMap((proof) => proof.partitions).filter((partition) => isOpen(partition, 'synthesis'));
    expect(open.length).toBeGreaterThan(0);
    expect(open.map((partition) => stageNs(partition, 'synthesis'))).toEqual(open.map(() => null));
  });

  test('outcomes', () => expect(countOutcomes(ended)).toEqual({ valid: 6, invalid: 1, failed: 1, interrupted: 0, running: 0 }));

  test('is read again every 5 s while the run runs, and no more after its end', async () => {
    const [transport, clock] = [new FakeTransport(), new ManualClock()];
    const controller = new RunController(new HostLink(transport, clock), demo.run);
    transport.value('show_run', demo.reportAt(9e9));
    await controller.read();
    await clock.advance(10_500);
    expect(transport.calls).toHaveLength(3);
    transport.value('show_run', ended);
    await clock.advance(60_000);
    expect(transport.calls).toHaveLength(4);
    expect(controller.report?.state).toBe('finished');
    controller.toggle('a 1');
    expect(controller.open.has('a 1')).toBe(true);
  });

  test('an absent run is a failure with the host’s words', async () => {
    const transport = new FakeTransport().fail('show_run', 'not_found', 'There is no run x.');
    const controller = new RunController(new HostLink(transport, new ManualClock()), 'x');
    await controller.read();
    expect(controller.failure?.message).toBe('There is no run x.');
  });
});
