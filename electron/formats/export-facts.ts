/** What every written format is told of a run beside its events. */
import type { Backend, Scheduler } from '../contract/scheduler.ts';
import type { RunState } from '../contract/run-report.ts';
import type { DecimalString } from '../contract/units.ts';

export interface ExportFacts {
  run: string;
  uid: string;
  state: RunState;
  endedBy: string | null;
  engine: string;
  backend: Backend;
  emulate: string | null;
  scheduler: Scheduler | null;
  found: Record<string, string>;
  importedFrom: string | null;
  /** Of the run's zero; null where a log does not say, so that no instant gets a date that nobody knows. */
  startedWallNs: DecimalString | null;
}

/** What the host knows of a proof of the run. `file`: a name, never a path. */
export interface AttemptFacts {
  proof: string;
  attempt: number;
  outcome: string | null;
  sha256: string | null;
  file: string | null;
  code: string | null;
  message: string | null;
}

/** Takes what a format writes. `file`: index into the export's files. */
export type WriteText = (file: number, text: string) => void;
