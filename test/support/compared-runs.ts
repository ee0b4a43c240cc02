/** Runs as a comparison takes them in, made from the seconds that each proof took: no events, no store. */
import type { ComparedFacts } from '../../electron/analysis/comparison-facts.ts';
import { computeSecondsPerProof } from '../../electron/analysis/throughput.ts';
import { CAUSES, IDLE_SCHEMA, type Cause, type DeviceIdle, type IdleParts } from '../../electron/contract/idle.ts';
import { RUN_REPORT_SCHEMA, type ProofReport, type RunReport } from '../../electron/contract/run-report.ts';
import { makeEvent, SCHEDULER } from './journal.ts';

export const S = 1e9;
const causes = (parts: Partial<Record<Cause, number>>) =>
  Object.fromEntries(CAUSES.map((cause) => [cause, parts[cause] ?? 0])) as Record<Cause, number>;
export const parts = (idle: Partial<Record<Cause, number>>, kernelNs: number, groups: IdleParts['groups'] = {}): IdleParts => ({
  kernel_ns: kernelNs,
  idle_ns: causes(idle),
  groups,
  unknown_ns: 0,
});

export function device(perProof: IdleParts | null, more: Partial<DeviceIdle> = {}): DeviceIdle {
  const window = { ns: 0, sum_ns: 0, recorded: true, error_ns: 0 };
  return {
    device: 'cpu0',
    kind: 'cpu',
    wall_ns: 0,
    windows: { kernel: window, lock: window, job: window, copy: window },
    kernel_ns: 0,
    idle_ns: causes({}),
    details: { in_lock: { copy: 0, barrier: 0, alloc: 0, host: 0 }, permit: { bytes: 0, count: 0 } },
    groups: {},
    unknown_ns: 0,
    provisional_ns: 0,
    provisional: {},
    legacy_efficiency: null,
    legacy_sum: null,
    worker_ns: { free: 0, waiting: 0, prepare: 0, device: 0, finish: 0, dead: 0 },
    workers: 1,
    wasted_kernel_ns: 0,
    steady: perProof && { from_ns: 0, to_ns: 1, proofs: 1, per_proof: perProof },
    ...more,
  };
}

export function proofOf(index: number, more: Partial<ProofReport> = {}): ProofReport {
  const partition = (number: number) => ({ partition: number, attempt: 1, outcome: 'valid' as const, device: 'cpu0', worker: 0, stages: {}, kernels: [] }); // prettier-ignore
  return {
    id: `p${index}`, attempt: 1, name: null, circuit: 'sha256-62500', outcome: 'valid', latency_ns: 1, sha256: null, path: null, error: null,
    partitions: [partition(0), partition(1)], ...more,
  }; // prettier-ignore
}

export interface Shape {
  seconds?: readonly number[];
  scheduler?: RunReport['scheduler'];
  report?: Partial<RunReport>;
  proof?: Partial<ProofReport>;
  devices?: DeviceIdle[];
  partial?: boolean;
  hello?: Partial<Parameters<typeof makeEvent<'hello'>>[3]>;
}

/** The stretch that s/proof with one proof in flight is measured over. */
function steadyBetween(steady: DeviceIdle['steady'], ends: readonly number[]): DeviceIdle['steady'] {
  if (steady === null || ends.length < 2) return steady;
  return { ...steady, from_ns: ends[0] ?? 0, to_ns: ends.at(-1) ?? 0, proofs: ends.length - 1 };
}

/** A run whose proofs end after these seconds each. */
export function side(run: string, shape: Shape = {}): ComparedFacts {
  const seconds = shape.seconds ?? Array.from({ length: 30 }, (_, index) => 45 + (index % 3));
  let at = 0;
  const ends = seconds.map((value) => (at += value * S));
  const detail = computeSecondsPerProof(ends, 1);
  const scheduler = shape.scheduler === undefined ? { ...SCHEDULER, proofs_in_flight: 1 } : shape.scheduler;
  const report: RunReport = {
    schema: RUN_REPORT_SCHEMA, run, uid: 'u', state: 'finished', ended_by: 'drained', engine: 'builtin', backend: 'cpu', emulate: null, scheduler, found: {},
    imported_from: null, started_wall_ns: '1', wall_ns: at, s_per_proof: detail.value, s_per_proof_detail: detail, latency_s: null, devices: [],
    proofs: seconds.map((_, index) => proofOf(index, shape.proof)), events: { count: 1, lost: 0, unparsed: 0 }, peak_rss_bytes: null, processes: [],
    ...shape.report,
  }; // prettier-ignore
  const idle = {
    schema: IDLE_SCHEMA, run, state: report.state, engine: report.engine, scheduler, wall_ns: at, s_per_proof: detail.value,
    devices: (shape.devices ?? [device(parts({ epilogue: 3 * S }, 37 * S))]).map((one) => ({ ...one, steady: steadyBetween(one.steady, ends) })),
    stretch: [], partial: shape.partial ?? false, notes: [],
  }; // prettier-ignore
  return { report, idle, hellos: [makeEvent('hello', 0, 0, shape.hello ?? {})] };
}
