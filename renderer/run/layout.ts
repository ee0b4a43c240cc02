/** What the Run page shows of a report: stages per partition and their spread. Pure. */
import type { PartitionReport, ProofReport, RunReport, Stage, StageSpan } from '../../electron/contract/run-report.ts';

/** Stages in the order in which a partition passes them, and the kernels' own sum. */
export const COLUMNS = [
  { key: 'permit', label: 'Permit', meaning: 'From asking for a permit until it was granted' },
  { key: 'synthesis', label: 'Synthesis', meaning: 'The circuit becomes an assignment, on the CPU' },
  { key: 'queue', label: 'Queue', meaning: 'Synthesised, until a worker picked it up' },
  { key: 'prepare', label: 'Prepare', meaning: 'The worker’s CPU work before the device' },
  { key: 'lock_wait', label: 'Lock wait', meaning: 'From asking for the device lock until it was granted' },
  { key: 'lock', label: 'Lock held', meaning: 'From the grant of the device lock to its release' },
  { key: 'device', label: 'Device', meaning: 'The device stage: kernels, copies and what lies between' },
  { key: 'kernels', label: 'Kernels', meaning: 'Sum of the partition’s kernels that ended' },
  { key: 'finish', label: 'Finish', meaning: 'The worker’s CPU work after the device' },
  { key: 'job', label: 'Job span', meaning: 'From pick-up until the worker was done with it' },
] as const satisfies readonly { key: Stage | 'kernels'; label: string; meaning: string }[];
export type ColumnKey = (typeof COLUMNS)[number]['key'];

const lengthOf = (span: StageSpan | undefined): number | null => (span && span.end_ns !== null ? span.end_ns - span.start_ns : null);

/** Duration of a stage; null where it did not happen or never ended. */
export function stageNs(partition: PartitionReport, key: ColumnKey): number | null {
  if (key !== 'kernels') return lengthOf(partition.stages[key]);
  const ended = partition.kernels.map(lengthOf).filter((ns) => ns !== null);
  return ended.length === 0 ? null : ended.reduce((sum, ns) => sum + ns, 0);
}

/** A stage that began and has no end: shown as open, and in no sum. */
export function isOpen(partition: PartitionReport, key: ColumnKey): boolean {
  if (key === 'kernels') return partition.kernels.some((kernel) => kernel.end_ns === null);
  const span = partition.stages[key];
  return span !== undefined && span.end_ns === null;
}

export interface Spread {
  key: ColumnKey;
  n: number;
  p10: number | null;
  median: number | null;
  p90: number | null;
  longest: number | null;
}

/** Nearest rank: the smallest value with at least that share of the values at or below it. */
export function percentile(sorted: readonly number[], share: number): number | null {
  if (sorted.length === 0) return null;
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

/** Spread of every stage over all partitions of the run that have it. */
export function computeSpreads(report: Pick<RunReport, 'proofs'>): Spread[] {
  return COLUMNS.map(({ key }) => {
    const values = report.proofs
      .flatMap((proof) => proof.partitions)
      .map((partition) => stageNs(partition, key))
      .filter((ns) => ns !== null)
      .sort((a, b) => a - b);
    return {
      key,
      n: values.length,
      p10: percentile(values, 0.1),
      median: percentile(values, 0.5),
      p90: percentile(values, 0.9),
      longest: values.at(-1) ?? null,
    };
  });
}

export function countOutcomes(
  report: Pick<RunReport, 'proofs'>,
): Record<'valid' | 'invalid' | 'failed' | 'interrupted' | 'running', number> {
  const counts = { valid: 0, invalid: 0, failed: 0, interrupted: 0, running: 0 };
  for (const proof of report.proofs) counts[proof.outcome ?? 'running'] += 1;
  return counts;
}

export const proofKey = (proof: ProofReport): string => `${proof.id} ${proof.attempt}`;
