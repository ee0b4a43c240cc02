import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HostLink } from '../../../renderer/link/host-link.svelte.ts';
import { LiveController } from '../../../renderer/live/live-controller.svelte.ts';
import { computeVerdict } from '../../../renderer/live/verdict.ts';
import { LiveModel } from '../../../renderer/live/live-model.ts';
import { estimateSeconds } from '../../../renderer/live/estimate.ts';
import { createDemoRun } from '../../support/demo-run.ts';
import { FakeTransport } from '../../support/fake-transport.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const demo = createDemoRun({ proofs: 30 });
const START = 100e9;
let clock: ManualClock;
let transport: FakeTransport;
let link: HostLink;
let live: LiveController;
let at = START;
let number = 0;

/** The host speaks every 100 ms for so long. */
async function run(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    await clock.advance(100);
    transport.push(demo.batchBetween(at, at + 100e6, ++number));
    at += 100e6;
  }
}

beforeEach(() => {
  clock = new ManualClock();
  transport = new FakeTransport();
  transport.greeting = () => [
    { kind: 'status', status: demo.statusAt(at) },
    { kind: 'snapshot', live: demo.snapshotAt(at, number) },
  ];
  transport.value('status', demo.statusAt(START));
  at = START;
  number = 0;
  link = new HostLink(transport, clock);
  live = new LiveController(link);
  link.open();
});
afterEach(() => {
  live.dispose();
  link.close();
});

describe('the Live screen', () => {
  test('the first picture is there at once', () => {
    expect(live.text?.run).toBe(demo.run);
    expect(live.text?.proofs[0]?.state).toBe('running');
  });

  test('text changes at most twice a second while batches come ten times a second', async () => {
    const texts = new Set<unknown>();
    for (let step = 0; step < 30; step++) {
      await run(100);
      texts.add(live.text);
    }
    expect(texts.size).toBeLessThanOrEqual(7);
    expect(texts.size).toBeGreaterThanOrEqual(5);
  });

  test('the lanes flow between messages, and the horizon does not', async () => {
    await run(500);
    const before = live.frame();
    const horizon = before.picture.horizonNs;
    clock.freeze(40);
    expect(live.frame().nowNs).toBeGreaterThan(before.nowNs + 30e6);
    expect(live.frame().picture.horizonNs).toBe(horizon);
  });

  test('pause holds lanes and text, never the run; going on shows what has happened since', async () => {
    await run(1000);
    live.togglePause();
    const [text, frame] = [live.text, live.frame()];
    await run(3000);
    expect(live.text).toBe(text);
    expect(live.frame().nowNs).toBe(frame.nowNs);
    expect(live.frame().picture.horizonNs).toBe(frame.picture.horizonNs);
    live.togglePause();
    expect(live.frame().picture.horizonNs).toBe(at);
    expect(live.text?.horizonNs).toBe(at);
  });

  test('a lost connection freezes the view where it was; a fresh snapshot brings it up to date', async () => {
    await run(1000);
    transport.lose();
    await clock.advance(10);
    expect(live.stale).toBe(true);
    const held = live.frame().nowNs;
    await clock.advance(100);
    expect(live.frame().nowNs).toBe(held);
    at += 30e9;
    await clock.advance(10_000);
    expect(link.connection).toBe('open');
    expect(live.stale).toBe(false);
    expect(live.frame().picture.horizonNs).toBe(at);
  });

  test('a missed batch asks for a fresh snapshot, and loses nothing', async () => {
    await run(300);
    number += 1;
    at += 100e6;
    await run(100);
    expect(transport.subscriptions).toBe(2);
    expect(transport.listening).toBe(1);
    await run(600);
    expect(transport.subscriptions).toBe(2);
    expect(live.text?.horizonNs).toBeGreaterThan(START);
  });

  test('no run empties the screen; a new run begins at its own time', async () => {
    transport.push({ kind: 'no_run' });
    expect(live.text).toBeNull();
    expect(live.known).toBe(true);
    const next = createDemoRun({ run: 'r-next' });
    transport.push({ kind: 'snapshot', live: next.snapshotAt(2e9) });
    expect(live.text?.run).toBe('r-next');
    expect(live.frame().nowNs).toBeLessThan(3e9);
  });

  test('a run that ended stands still at its end', async () => {
    transport.push({ kind: 'snapshot', live: demo.snapshotAt(1e15, 0) });
    await clock.advance(5000);
    expect(live.frame().nowNs).toBe(demo.timeline.endNs);
  });
});

describe('the verdict line', () => {
  test('explains itself with the two shares and their span', () => {
    const model = new LiveModel();
    expect(computeVerdict(model, null, null)).toBeNull();
    model.apply({ kind: 'snapshot', live: demo.snapshotAt(START) });
    expect(computeVerdict(model, null, null)?.explain).toMatch(/^Kernels ran \d+\.\d % of the last 60 s; the lock was held \d+\.\d %\. /);
    model.apply({ kind: 'snapshot', live: demo.snapshotAt(6e9) });
    expect(computeVerdict(model, null, null)?.explain).toContain('of the first 6 s');
  });

  test('says nothing where there is no time to speak of', () => {
    const model = new LiveModel();
    const live0 = demo.snapshotAt(0);
    model.apply({ kind: 'snapshot', live: live0 });
    expect(computeVerdict(model, null, null)).toBeNull();
  });
});

test('the sample’s cost is rounded up, and never nothing', () => {
  expect([1, 2, 8, 64].map((cpus) => estimateSeconds(10, cpus))).toEqual([11, 6, 2, 1]);
});
