/** Windows and causes of a simulated run: its events, put through the analysis of real runs. */
import type { DeviceIdle } from '../../contract/idle.ts';
import { IdleAnalysis } from '../idle/idle-analysis.ts';
import { Teller } from './emit.ts';
import { simulateRun } from './engine.ts';
import type { SimulationSetup } from './model.ts';

export interface ImitatedRun {
  devices: readonly { device: string; kind: string }[];
  backend: string;
  /** False where the imitated log has no kernel lines. */
  knowsKernels: boolean;
}

export function analyseSimulated(setup: SimulationSetup, run: ImitatedRun): DeviceIdle[] {
  const analysis = new IdleAnalysis();
  simulateRun(setup, new Teller(analysis, { ...run, scheduler: setup.scheduler }));
  const { scheduler } = setup;
  const facts = { run: 'simulated', state: 'finished', engine: 'builtin', scheduler, proofsInFlight: scheduler.proofs_in_flight } as const;
  const { devices } = analysis.build(facts, null);
  return run.knowsKernels ? devices : devices.map(withoutKernels);
}

/** The device stage was simulated as one kernel, for want of anything better: what it covers is "lock or kernel", as in the log itself. */
function withoutKernels(device: DeviceIdle): DeviceIdle {
  const joined = (device.kernel_ns ?? 0) + device.idle_ns.in_lock;
  const { steady } = device;
  return {
    ...device,
    windows: { ...device.windows, kernel: { ns: null, sum_ns: null, recorded: false, error_ns: 0 } },
    kernel_ns: null,
    idle_ns: { ...device.idle_ns, in_lock: 0 },
    details: { ...device.details, in_lock: { copy: 0, barrier: 0, alloc: 0, host: 0 } },
    groups: { ...device.groups, lock_or_kernel: { ns: joined, may_be: ['kernel', 'in_lock'] } },
    steady: steady && {
      ...steady,
      per_proof: {
        ...steady.per_proof,
        kernel_ns: 0,
        idle_ns: { ...steady.per_proof.idle_ns, in_lock: 0 },
        groups: { ...steady.per_proof.groups, lock_or_kernel: steady.per_proof.kernel_ns + steady.per_proof.idle_ns.in_lock },
      },
    },
  };
}
