/** Stored runs beside each other. */
import { compareRuns } from '../analysis/comparison.ts';
import type { ComparisonReport } from '../contract/what-if.ts';
import { readIdle } from './idle-reads.ts';
import type { RunReads } from './run-reads.ts';

/** In the order given; each may be `last`. Fails with `not_found`. */
export function readComparison(runs: RunReads, names: string[]): ComparisonReport {
  return compareRuns(
    names.map((name) => {
      const run = runs.reads.resolveRun(name);
      return { report: runs.showRun(run), idle: readIdle(runs, run), hellos: runs.reads.stretchesOf(run).map((stretch) => stretch.hello) };
    }),
  );
}
