/**
 * How much of each pixel column is covered: the exact measure of the union of half-open spans over the column's length, so that
 * neither a short span nor a short gap disappears by rounding.
 *
 *   spans    ├────┤  ├┤├──────┤
 *   columns  |   |   |   |   |   |
 *   cover     .7  .6  .3 1.0 .4
 */
export interface Interval {
  startNs: number;
  /** Null: still open; it counts up to `openEndNs`. */
  endNs: number | null;
}

/**
 * Fills `out` with the cover of `out.length` columns of `columnNs` each, the first beginning at `fromNs`. Spans come sorted by start
 * and may overlap. `keep` picks spans without a copy of the list.
 */
export function computeCover<T extends Interval>(
  spans: readonly T[],
  fromNs: number,
  columnNs: number,
  openEndNs: number,
  out: Float64Array,
  keep?: (span: T) => boolean,
): void {
  out.fill(0);
  const columns = out.length;
  const untilNs = fromNs + columns * columnNs;
  let reachedNs = fromNs;
  for (const span of spans) {
    if (span.startNs >= untilNs) break;
    if (keep && !keep(span)) continue;
    const start = Math.max(span.startNs, reachedNs);
    const end = Math.min(span.endNs ?? openEndNs, untilNs);
    if (end <= start) continue;
    reachedNs = end;
    let column = Math.max(0, Math.min(columns - 1, Math.floor((start - fromNs) / columnNs)));
    let at = start;
    while (at < end && column < columns) {
      const edge = Math.min(end, fromNs + (column + 1) * columnNs);
      if (edge > at) out[column] = out[column]! + (edge - at) / columnNs;
      at = Math.max(at, edge);
      column += 1;
    }
  }
}

/** A stretch of columns drawn alike: `[from, to)`, with the strength to draw it in. */
export interface Run {
  from: number;
  to: number;
  strength: number;
}

/** Columns covered less than this are as good as empty, more than 1 minus it as good as full: the noise of adding fractions. */
const NOISE = 1e-9;

/**
 * Strength for the eye. Full is 1 and empty is 0, and both stand off from everything between, so that a sliver of work and a sliver of
 * idle time are both seen; between them it rises with the cover.
 */
export function strengthOf(cover: number): number {
  if (cover <= NOISE) return 0;
  if (cover >= 1 - NOISE) return 1;
  return 0.22 + 0.56 * cover;
}

/** Joins columns of equal strength; full and nearly all others are long runs, so that a lane costs few rectangles. */
export function computeRuns(cover: Float64Array): Run[] {
  const runs: Run[] = [];
  let last: Run | null = null;
  for (let column = 0; column < cover.length; column++) {
    const strength = strengthOf(cover[column]!);
    if (last && strength === last.strength) last.to = column + 1;
    else if (strength === 0) last = null;
    else runs.push((last = { from: column, to: column + 1, strength }));
  }
  return runs;
}
