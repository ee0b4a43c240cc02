/** Columns of the run list and their orders. Pure. */
import type { RunSummary } from '../../electron/contract/run-report.ts';
import { countOf, formatPercent, NONE } from '../parts/durations.ts';
import { NOT_RECORDED } from '../parts/windows.ts';

export type SortKey =
  'started' | 'state' | 'backend' | 'scheduler' | 'lasted' | 'proofs' | 's_per_proof' | 'kernel' | 'lock' | 'job' | 'missing';

type Comparable = string | number | null;
const VALUES: Record<SortKey, (run: RunSummary) => Comparable> = {
  // Decimal digits of one length sort as numbers do, exactly.
  started: (run) => run.started_wall_ns.padStart(20, '0'),
  state: (run) => run.state,
  backend: (run) => run.backend,
  scheduler: (run) => run.scheduler && `${run.scheduler.preset}${run.scheduler.overrides.join()}`,
  lasted: (run) => run.wall_ns,
  proofs: (run) => run.proofs.valid,
  s_per_proof: (run) => run.s_per_proof,
  kernel: (run) => run.kernel_ratio,
  lock: (run) => run.lock_held_ratio,
  job: (run) => run.job_span_ratio,
  missing: (run) => run.lost + run.unparsed,
};

/** Sorted copy; what is not known comes last either way, and equal runs stay newest first. */
export function sortRuns(runs: readonly RunSummary[], key: SortKey, ascending: boolean): RunSummary[] {
  const valueOf = VALUES[key];
  return [...runs].sort((a, b) => {
    const [x, y] = [valueOf(a), valueOf(b)];
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    const order = x < y ? -1 : x > y ? 1 : 0;
    return ascending ? order : -order;
  });
}

/** A window's share as the list prints it. An imported log may have no events to measure a window by: that is said, not dashed. */
export function windowShare(run: Pick<RunSummary, 'imported_from'>, ratio: number | null): string {
  if (ratio !== null) return `${formatPercent(ratio)}\u00a0%`;
  return run.imported_from === null ? NONE : NOT_RECORDED;
}

/** `complete`, or how much is missing. */
export function completenessOf(run: Pick<RunSummary, 'lost' | 'unparsed'>): string {
  if (run.lost + run.unparsed === 0) return 'complete';
  const parts = [];
  if (run.lost > 0) parts.push(`${countOf(run.lost, 'event')} missing`);
  if (run.unparsed > 0) parts.push(`${countOf(run.unparsed, 'line')} not understood`);
  return parts.join(', ');
}
