import { describe, expect, test } from 'vitest';
import type { SimulationReport } from '../../../electron/contract/what-if.ts';
import { HostLink } from '../../../renderer/link/host-link.svelte.ts';
import { PredictionAsker } from '../../../renderer/live/prediction.svelte.ts';
import type { Act } from '../../../renderer/live/acts.ts';
import { createDemoRun } from '../../support/demo-run.ts';
import { FakeTransport } from '../../support/fake-transport.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const act: Act = { cause: 'epilogue', ns: 7e9, change: { gpu_workers: 2 }, words: 'a second GPU worker' };
const answer = { seed: 1 } as SimulationReport;

function make() {
  const transport = new FakeTransport().value('simulate', answer);
  const demo = createDemoRun({ proofs: 2 });
  transport.greeting = () => [{ kind: 'status', status: demo.statusAt(1e9) }];
  const clock = new ManualClock();
  const link = new HostLink(transport, clock);
  link.open();
  return { transport, clock, link, asker: new PredictionAsker(link) };
}
const asked = (transport: FakeTransport) => transport.inputsOf('simulate').length;

describe('asking for a prediction', () => {
  test('once after each proof end, at most every ten seconds', async () => {
    const { transport, clock, asker } = make();
    asker.consider('r1', 5, act);
    await clock.advance(500);
    expect(transport.inputsOf('simulate')).toEqual([{ run: 'r1', change: { gpu_workers: 2 } }]);
    expect(asker.prediction).toEqual({ act, report: answer });
    for (let beat = 0; beat < 60; beat++) {
      asker.consider('r1', 5, act);
      await clock.advance(500);
    }
    expect(asked(transport)).toBe(1);
    for (let proofs = 6; proofs < 26; proofs++) {
      asker.consider('r1', proofs, act);
      await clock.advance(1000);
    }
    expect(asked(transport)).toBe(3);
  });

  test('never two at a time, however long an answer takes', async () => {
    const { transport, clock, asker } = make();
    let open: (() => void) | null = null;
    transport.answer('simulate', () => new Promise((resolve) => (open = () => resolve({ ok: true, value: answer }))));
    for (let proofs = 5; proofs < 10; proofs++) {
      asker.consider('r1', proofs, act);
      await clock.advance(20_000);
    }
    expect(asked(transport)).toBe(1);
    open!();
    await clock.advance(0);
    expect(asker.prediction).toMatchObject({ report: answer });
  });

  test('not while the connection is lost, and not without an act', async () => {
    const { transport, clock, asker } = make();
    asker.consider('r1', 5, null);
    transport.value('status', createDemoRun({ proofs: 2 }).statusAt(1e9));
    transport.lose();
    asker.consider('r1', 5, act);
    await clock.advance(10);
    expect(asked(transport)).toBe(0);
  });

  test('an answer about a run that is no more on show changes nothing', async () => {
    const { transport, clock, asker } = make();
    let open: (() => void) | null = null;
    transport.answer('simulate', () => new Promise((resolve) => (open = () => resolve({ ok: true, value: answer }))));
    asker.consider('r1', 5, act);
    await clock.advance(10);
    asker.forget();
    open!();
    await clock.advance(10);
    expect(asker.prediction).toBeNull();
  });

  test('a failure is told, but does not take away what is known of the same act', async () => {
    const { transport, clock, asker } = make();
    transport.fail('simulate', 'usage', 'Nothing to simulate from.');
    asker.consider('r1', 5, act);
    await clock.advance(10_000);
    expect(asker.prediction).toEqual({ act, failed: 'Nothing to simulate from.' });
    transport.value('simulate', answer);
    asker.consider('r1', 6, act);
    await clock.advance(10_000);
    transport.fail('simulate', 'busy', 'Later.');
    asker.consider('r1', 7, act);
    await clock.advance(10_000);
    expect(asker.prediction).toEqual({ act, report: answer });
  });
});
