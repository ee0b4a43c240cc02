import { describe, expect, test } from 'vitest';
import { CoverCache, coverOf, layersOf, mergeSpans } from '../../../renderer/live/draw.ts';
import { AXIS_HEIGHT, computeFolded, computeLayout, computeTicks, computeView, findSpan } from '../../../renderer/live/layout.ts';
import { LiveModel } from '../../../renderer/live/live-model.ts';
import type { RunMessage } from '../../../renderer/link/host-link.svelte.ts';
import { createDemoRun, unionNs } from '../../support/demo-run.ts';

const demo = createDemoRun();
const AT = 120e9;
const model = new LiveModel();
model.apply({ kind: 'snapshot', live: demo.snapshotAt(AT) });
const layout = computeLayout(model.lanes);

describe('layout', () => {
  test('a device row, its workers below it, the synthesis pool last; nothing overlaps', () => {
    expect(layout.rows.map((row) => row.key)).toEqual([
      'device:cpu0',
      'worker:cpu0:0',
      'worker:cpu0:1',
      'synthesis:0',
      'synthesis:1',
      'synthesis:2',
      'synthesis:3',
    ]);
    expect(layout.rows[0]!.top).toBe(AXIS_HEIGHT);
    for (let index = 1; index < layout.rows.length; index++) {
      expect(layout.rows[index]!.top).toBeGreaterThanOrEqual(layout.rows[index - 1]!.top + layout.rows[index - 1]!.height);
    }
  });

  test('many devices are one row each until one is opened; few are open until one is folded', () => {
    const lanes = Array.from({ length: 8 }, (_, index) => ({
      key: `worker:gpu${index}:0`,
      kind: 'worker' as const,
      device: `gpu${index}`,
      index: 0,
      label: 'worker 0',
    }));
    expect(computeFolded(lanes, new Set()).size).toBe(8);
    expect(computeFolded(lanes, new Set(['gpu3'])).has('gpu3')).toBe(false);
    expect(computeFolded(lanes.slice(0, 2), new Set()).size).toBe(0);
    expect([...computeFolded(lanes.slice(0, 2), new Set(['gpu1']))]).toEqual(['gpu1']);
    expect(computeLayout(lanes, computeFolded(lanes, new Set())).rows).toHaveLength(8);
  });

  test('columns lie on a fixed grid of time: a column keeps its stretch while it flows', () => {
    const [a, b] = [computeView(AT, 60e9, 900), computeView(AT + 5 * (60e9 / 900), 60e9, 900)];
    expect(b.firstColumn - a.firstColumn).toBe(5);
    expect(b.fromNs).toBeCloseTo(a.fromNs + 5 * a.columnNs, 0);
    expect(a.untilNs).toBeGreaterThan(AT);
    expect(a.untilNs - a.columnNs).toBeLessThanOrEqual(AT);
  });

  test('ticks are whole steps of the run’s time, and none lies before its start', () => {
    expect(computeTicks(computeView(25e9, 60e9, 600), 10e9)).toEqual([0, 10e9, 20e9]);
    expect(computeTicks(computeView(95e9, 30e9, 600), 10e9)).toEqual([70e9, 80e9, 90e9]);
  });
});

describe('what is drawn', () => {
  test.each([15e9, 30e9, 60e9])('over %d ns, each layer’s cover adds up to the exact measure of its spans', (windowNs) => {
    const view = computeView(AT, windowNs, 777);
    const cover = new Float64Array(777);
    for (const row of layout.rows) {
      for (const layer of layersOf(row)) {
        coverOf(model, layer, view, cover);
        const spans = mergeSpans(model, layer.lanes)
          .filter((span) => layer.kind === null || span.kind === layer.kind)
          .map((span) => ({ startNs: span.startNs, endNs: span.endNs ?? model.horizonNs }));
        const drawn = cover.reduce((sum, value) => sum + value, 0) * view.columnNs;
        expect(Math.abs(drawn - unionNs(spans, view.fromNs, view.untilNs))).toBeLessThan(windowNs * 1e-9);
        for (let column = 0; column < 777; column += 37) {
          const from = view.fromNs + column * view.columnNs;
          expect(cover[column]).toBeCloseTo(unionNs(spans, from, from + view.columnNs) / view.columnNs, 6);
        }
      }
    }
  });

  test('nothing is drawn after the horizon: an open span ends there', () => {
    const view = computeView(AT + 5e9, 60e9, 600);
    const cover = new Float64Array(600);
    const horizonColumn = Math.ceil((model.horizonNs - view.fromNs) / view.columnNs);
    for (const layer of layout.rows.flatMap(layersOf)) {
      coverOf(model, layer, view, cover);
      expect(cover.slice(horizonColumn).every((value) => value === 0)).toBe(true);
    }
  });

  test('kernels lie in the lock, the lock in the job span, in every column', () => {
    const view = computeView(AT, 60e9, 900);
    const [job, lock, , kernel] = layersOf(layout.rows[0]!).map((layer) => {
      const cover = new Float64Array(900);
      coverOf(model, layer, view, cover);
      return cover;
    });
    for (let column = 0; column < 900; column++) {
      expect(kernel![column]! - lock![column]!).toBeLessThan(1e-6);
      expect(lock![column]! - job![column]!).toBeLessThan(1e-6);
    }
  });

  test('frame after frame, with batches and late ends between, what is kept equals what is computed anew', () => {
    const walking = new LiveModel();
    walking.apply({ kind: 'snapshot', live: demo.snapshotAt(40e9) });
    const cache = new CoverCache();
    const rows = computeLayout(walking.lanes).rows;
    const fresh = new Float64Array(500);
    let worst = 0;
    let at = 40e9;
    for (let number = 1; number <= 150; number++) {
      const next = at + ((number * 37) % 5) * 70e6;
      walking.apply(demo.batchBetween(at, next, number, false) as RunMessage);
      at = next;
      // The view flows ahead of the horizon by a third of a second at times, and is zoomed once.
      const view = computeView(at + (number % 4) * 90e6, number < 80 ? 30e9 : 15e9, 500);
      for (const row of rows) {
        for (const [index, layer] of layersOf(row).entries()) {
          coverOf(walking, layer, view, fresh);
          const kept = cache.cover(`${row.key} ${index}`, walking, layer, view);
          for (let column = 0; column < 500; column++) worst = Math.max(worst, Math.abs(kept[column]! - fresh[column]!));
        }
      }
    }
    expect(worst).toBeLessThan(1e-6);
  });

  test('a fresh snapshot may correct the past: what was kept from before it counts no more', () => {
    const corrected = new LiveModel();
    const view = computeView(AT, 60e9, 300);
    const layer = layersOf(layout.rows[0]!)[3]!;
    const cache = new CoverCache();
    const snapshot = demo.snapshotAt(AT);
    corrected.apply({ kind: 'snapshot', live: { ...snapshot, spans: snapshot.spans.filter((span) => span.kind !== 'kernel') } });
    expect(cache.cover('k', corrected, layer, view).every((value) => value === 0)).toBe(true);
    corrected.apply({ kind: 'snapshot', live: snapshot });
    expect(cache.cover('k', corrected, layer, view).some((value) => value > 0)).toBe(true);
  });

  test('under the pointer lies the innermost span of the row', () => {
    const view = computeView(AT, 60e9, 900);
    const kernel = model.spansOf('kernel:cpu0:0').at(-5)!;
    const column = ((kernel.startNs + kernel.endNs!) / 2 - view.fromNs) / view.columnNs;
    expect(findSpan(layout, model, view, column, AXIS_HEIGHT + 10)?.kind).toBe('kernel');
    expect(findSpan(layout, model, view, column, layout.height + 10)).toBeNull();
  });
});
