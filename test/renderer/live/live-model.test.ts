import { describe, expect, test } from 'vitest';
import { LiveModel } from '../../../renderer/live/live-model.ts';
import type { RunMessage } from '../../../renderer/link/host-link.svelte.ts';
import { createDemoRun } from '../../support/demo-run.ts';

const demo = createDemoRun({ proofs: 12 });
const snapshot = (ns: number, batch = 0): RunMessage => ({ kind: 'snapshot', live: structuredClone(demo.snapshotAt(ns, batch)) });
const batch = (from: number, to: number, number: number) => structuredClone(demo.batchBetween(from, to, number)) as RunMessage;

function contents(model: LiveModel, sinceNs: number) {
  return Object.fromEntries(
    demo.lanes.map((lane) => [lane.key, model.spansOf(lane.key).filter((span) => (span.endNs ?? Infinity) > sinceNs)]),
  );
}

describe('the live model', () => {
  test('batch after batch it holds what a fresh snapshot at the same instant holds', () => {
    const walked = new LiveModel();
    expect(walked.apply(snapshot(20e9))).toBe('applied');
    let at = 20e9;
    for (let number = 1; number <= 400; number++) {
      const next = at + (number % 7) * 50e6;
      expect(walked.apply(batch(at, next, number))).toBe('applied');
      at = next;
    }
    const fresh = new LiveModel();
    fresh.apply(snapshot(at));
    expect(contents(walked, at - 60e9)).toEqual(contents(fresh, at - 60e9));
    expect(walked.figures).toEqual(fresh.figures);
    expect(walked.horizonNs).toBe(fresh.horizonNs);
    expect(walked.proofs.at(-1)).toEqual(fresh.proofs.at(-1));
  });

  test('a missed batch, or one of another run, changes nothing and asks for a snapshot', () => {
    const model = new LiveModel();
    model.apply(snapshot(10e9));
    expect(model.apply(batch(10e9, 11e9, 2))).toBe('missed');
    expect(model.horizonNs).toBe(10e9);
    expect(model.apply({ ...batch(10e9, 11e9, 1), run: 'r-other' } as RunMessage)).toBe('missed');
    expect(model.apply(batch(10e9, 11e9, 1))).toBe('applied');
  });

  test('a frozen picture stays as it was while the model goes on', () => {
    const model = new LiveModel();
    model.apply(snapshot(30e9));
    const frozen = model.freeze();
    const before = structuredClone({ spans: frozen.spansOf('kernel:cpu0:0'), horizon: frozen.horizonNs, proofs: frozen.proofs });
    for (let number = 1; number < 100; number++) model.apply(batch(30e9 + (number - 1) * 1e8, 30e9 + number * 1e8, number));
    expect({ spans: frozen.spansOf('kernel:cpu0:0'), horizon: frozen.horizonNs, proofs: frozen.proofs }).toEqual(before);
  });

  test('old spans and old proofs are forgotten: memory stays flat', () => {
    const long = createDemoRun({ proofs: 120 });
    const model = new LiveModel();
    model.apply({ kind: 'snapshot', live: long.snapshotAt(1e9) });
    let most = 0;
    for (let number = 1; number <= 1100; number++) {
      model.apply(long.batchBetween(number * 1e9, (number + 1) * 1e9, number, false) as RunMessage);
      most = Math.max(
        most,
        long.lanes.reduce((sum, lane) => sum + model.spansOf(lane.key).length, 0),
      );
    }
    expect(most).toBeLessThan(1800);
    expect(model.proofs.length).toBeLessThanOrEqual(22);
  });

  test('no run empties it', () => {
    const model = new LiveModel();
    model.apply(snapshot(10e9));
    model.apply({ kind: 'no_run' });
    expect([model.run, model.lanes, model.figures, model.proofs]).toEqual([null, [], null, []]);
  });
});
