/** What every written format is told of a run beside its events. */
import type { RunFacts } from '../analysis/run-report.ts';
import type { DecimalString } from '../contract/units.ts';

export interface ExportFacts extends Omit<RunFacts, 'lost' | 'unparsed' | 'peakRssBytes' | 'processes'> {
  /** Of the run's zero; null where a log does not say, so that no instant gets a date that nobody knows. */
  startedWallNs: DecimalString | null;
}

/** Takes what a format writes. `file`: index into the export's files. */
export type WriteText = (file: number, text: string) => void;
