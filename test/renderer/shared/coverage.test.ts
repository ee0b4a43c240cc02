import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeCover, computeRuns, strengthOf, type Interval } from '../../../renderer/shared/coverage.ts';

/** The same measure by brute force: cut time at every edge, and add the pieces that any span covers. */
function oracle(spans: readonly Interval[], fromNs: number, columnNs: number, openEndNs: number, columns: number): number[] {
  return Array.from({ length: columns }, (_, column) => {
    const [from, to] = [fromNs + column * columnNs, fromNs + (column + 1) * columnNs];
    const edges = [from, to, ...spans.flatMap((span) => [span.startNs, span.endNs ?? openEndNs])]
      .filter((at) => at >= from && at <= to)
      .sort((a, b) => a - b);
    let covered = 0;
    for (let index = 1; index < edges.length; index++) {
      const middle = (edges[index - 1]! + edges[index]!) / 2;
      if (spans.some((span) => span.startNs <= middle && middle < (span.endNs ?? openEndNs))) covered += edges[index]! - edges[index - 1]!;
    }
    return covered / columnNs;
  });
}

const spansArbitrary = fc
  .array(fc.record({ startNs: fc.integer({ min: -2000, max: 12_000 }), length: fc.integer({ min: 0, max: 1500 }), open: fc.boolean() }), {
    maxLength: 60,
  })
  .map((list) =>
    list.map(({ startNs, length, open }) => ({ startNs, endNs: open ? null : startNs + length })).sort((a, b) => a.startNs - b.startNs),
  );

describe('cover of pixel columns', () => {
  test('equals the interval algebra in every column, whatever the spans, the zoom and the horizon', () => {
    fc.assert(
      fc.property(
        spansArbitrary,
        fc.integer({ min: -1000, max: 5000 }),
        fc.double({ min: 0.75, max: 400, noNaN: true }),
        fc.integer({ min: 1, max: 64 }),
        fc.integer({ min: 0, max: 12_000 }),
        (spans, fromNs, columnNs, columns, horizonNs) => {
          const cover = new Float64Array(columns);
          computeCover(spans, fromNs, columnNs, horizonNs, cover);
          const expected = oracle(spans, fromNs, columnNs, horizonNs, columns);
          for (let column = 0; column < columns; column++) expect(Math.abs(cover[column]! - expected[column]!)).toBeLessThan(1e-6);
        },
      ),
      { numRuns: 400 },
    );
  });

  test('a gap of one part in ten thousand of a column is still not a full column', () => {
    const cover = new Float64Array(3);
    computeCover(
      [
        { startNs: 0, endNs: 15_000 },
        { startNs: 15_001, endNs: 30_000 },
      ],
      0,
      10_000,
      30_000,
      cover,
    );
    expect([...cover]).toEqual([1, 0.9999, 1]);
    expect(computeRuns(cover).map((run) => [run.from, run.to, run.strength])).toEqual([
      [0, 1, 1],
      [1, 2, strengthOf(0.9999)],
      [2, 3, 1],
    ]);
    expect(strengthOf(0.9999)).toBeLessThan(0.8);
  });

  test('a span of one nanosecond in a column of a second is seen', () => {
    const cover = new Float64Array(1);
    computeCover([{ startNs: 5, endNs: 6 }], 0, 1e9, 1e9, cover);
    expect(cover[0]).toBeCloseTo(1e-9, 12);
    expect(strengthOf(2e-9)).toBeGreaterThan(0.2);
  });

  test('strength rises with the cover, and its runs say of every column what the column is', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 80 }), (values) => {
        const cover = Float64Array.from(values);
        const painted = new Array<number>(values.length).fill(0);
        for (const run of computeRuns(cover)) for (let column = run.from; column < run.to; column++) painted[column] = run.strength;
        expect(painted).toEqual(values.map(strengthOf));
        const sorted = [...values].sort((a, b) => a - b).map(strengthOf);
        expect(sorted).toEqual([...sorted].sort((a, b) => a - b));
      }),
    );
  });
});
