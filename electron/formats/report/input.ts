/** What a report is made of. */
import type { Gap, IdleReport } from '../../contract/idle.ts';
import type { RunReport } from '../../contract/run-report.ts';
import type { Nanoseconds } from '../../contract/units.ts';

export interface ReportInput {
  run: RunReport;
  idle: IdleReport;
  /** Longest first. */
  gaps: readonly Gap[];
  /** Ends of the valid proofs, ascending, on the run's axis. */
  ends: readonly Nanoseconds[];
  /** Of the provers that served the run. */
  versions: readonly string[];
  isRedacted: boolean;
}
