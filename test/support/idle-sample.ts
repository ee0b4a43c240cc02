/** A hand-made account of one device that adds up, for what only shows it. */
import { CAUSES, IDLE_SCHEMA, type Cause, type DeviceIdle, type Gap, type IdleReport } from '../../electron/contract/idle.ts';
import { SCHEDULER } from './journal.ts';

const S = 1e9;

export function noCauses(some: Partial<Record<Cause, number>> = {}): Record<Cause, number> {
  return { ...(Object.fromEntries(CAUSES.map((cause) => [cause, 0])) as Record<Cause, number>), ...some };
}

export function sampleDevice(fields: Partial<DeviceIdle> = {}): DeviceIdle {
  const window = (ns: number | null) => ({ ns, sum_ns: ns, recorded: ns !== null, error_ns: 0 });
  const idle = noCauses({ in_lock: 12 * S, handoff: 1 * S, preamble: 9 * S, warm_up: 8 * S, epilogue: 21 * S, permit: 2 * S, first_synthesis: 6 * S, starved: 11 * S, cross_sector: 5 * S }); // prettier-ignore
  return {
    device: 'cpu0',
    kind: 'cpu',
    wall_ns: 180 * S,
    windows: { kernel: window(103 * S), lock: window(118 * S), job: window(160 * S), copy: window(0) },
    kernel_ns: 103 * S,
    idle_ns: idle,
    details: { in_lock: { copy: 2 * S, barrier: 4 * S, alloc: 0, host: 6 * S }, permit: { bytes: 2 * S, count: 0 } },
    groups: {},
    unknown_ns: 2 * S,
    provisional_ns: 0,
    provisional: {},
    legacy_efficiency: 0.9,
    legacy_sum: 1.1,
    worker_ns: { free: 0, waiting: 0, prepare: 0, device: 0, finish: 0, dead: 0 },
    workers: 2,
    wasted_kernel_ns: 0,
    steady: {
      from_ns: 20 * S,
      to_ns: 170 * S,
      proofs: 10,
      per_proof: {
        kernel_ns: 9.2 * S,
        idle_ns: noCauses({ in_lock: 0.9 * S, preamble: 0.8 * S, epilogue: 2 * S, starved: 1.2 * S, cross_sector: 0.5 * S }),
        groups: {},
        unknown_ns: 0.4 * S,
      },
    },
    ...fields,
  };
}

export function sampleIdle(devices: DeviceIdle[] = [sampleDevice()]): IdleReport {
  return {
    schema: IDLE_SCHEMA, run: 'r1', state: 'finished', engine: 'builtin', scheduler: SCHEDULER, wall_ns: 180 * S, s_per_proof: 15, devices,
    stretch: [], partial: false, notes: [],
  }; // prettier-ignore
}

export const SAMPLE_GAPS: Gap[] = [
  { device: 'cpu0', start_ns: 0, length_ns: 14 * S, cause: 'warm_up', parts: { warm_up: 8 * S, first_synthesis: 6 * S }, before: null, after: { proof: 'p1', attempt: 1, partition: 0 } },
  { device: 'cpu0', start_ns: 40 * S, length_ns: 6 * S, cause: 'epilogue', parts: { epilogue: 4 * S, preamble: 2 * S }, before: { proof: 'p1', attempt: 1, partition: 9 }, after: { proof: 'p2', attempt: 1, partition: 0 } },
  { device: 'cpu0', start_ns: 60 * S, length_ns: 3 * S, cause: 'starved', parts: { starved: 3 * S }, before: { proof: 'p2', attempt: 1, partition: 1 }, after: { proof: 'p2', attempt: 1, partition: 2 } },
]; // prettier-ignore
