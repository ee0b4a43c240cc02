/** Windows and causes of a simulated run: its events, put through the analysis of real runs. */
import type { DeviceIdle } from '../../contract/idle.ts';
import type { SimulationSetup } from './model.ts';

export function analyseSimulated(
  _setup: SimulationSetup,
  _run: { devices: readonly { device: string; kind: string }[]; backend: string; knowsKernels: boolean },
): DeviceIdle[] {
  return [];
}
