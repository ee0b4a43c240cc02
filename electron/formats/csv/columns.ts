/** The header rows: the order of the columns is part of the format (docs/export.md). */
import { CAUSES, GROUPS } from '../../contract/idle.ts';
import { STAGES } from '../../contract/run-report.ts';

/** The spans come first: they are written as they end, everything else when all of them are known. */
export const CSV_FILES = ['spans.csv', 'proofs.csv', 'partitions.csv', 'idle.csv', 'gaps.csv', 'samples.csv'] as const;
export type CsvFile = (typeof CSV_FILES)[number];

export const CSV_COLUMNS: Record<CsvFile, readonly string[]> = {
  'spans.csv': [
    'run', 'proof', 'attempt', 'partition', 'kind', 'detail', 'device', 'worker', 'stream', 'state', 'start_utc', 'start_ns', 'end_utc',
    'end_ns', 'duration_ns',
  ],
  'proofs.csv': [
    'run', 'proof', 'attempt', 'name', 'kind', 'circuit', 'partitions', 'constraints', 'priority', 'outcome', 'submitted_utc',
    'submitted_wall_ns', 'deadline_utc', 'deadline_wall_ns', 'accepted_utc', 'accepted_ns', 'ended_utc', 'ended_ns', 'latency_ns',
    'sha256', 'error_code', 'error_message',
  ],
  'partitions.csv': [
    'run', 'proof', 'attempt', 'partition', 'outcome', 'device', 'worker',
    ...STAGES.flatMap((stage) => [`${stage}_start_utc`, `${stage}_start_ns`, `${stage}_end_utc`, `${stage}_end_ns`, `${stage}_ns`]),
    'kernels', 'kernel_sum_ns',
  ],
  'idle.csv': ['run', 'device', 'row', 'cause', 'name', 'ns', 'provisional_ns', 'recorded', 'wall_ns', 'may_be', 'says'],
  'gaps.csv': [
    'run', 'device', 'start_utc', 'start_ns', 'end_utc', 'end_ns', 'length_ns', 'cause', 'before_proof', 'before_attempt',
    'before_partition', 'after_proof', 'after_attempt', 'after_partition', ...[...CAUSES, ...GROUPS].map((cause) => `${cause}_ns`),
  ],
  'samples.csv': ['run', 'device', 'at_utc', 'at_ns', 'metric', 'value'],
}; // prettier-ignore
