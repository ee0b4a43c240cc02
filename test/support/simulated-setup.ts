/** Simulated pipelines for tests: a scheduler, equal or jittered stage times in ms, and a feed that keeps what it is told. */
import type { RunFeed } from '../../electron/analysis/run-feed.ts';
import { Teller } from '../../electron/analysis/simulation/emit.ts';
import { simulateRun, type SimulatedEnds } from '../../electron/analysis/simulation/engine.ts';
import { NO_CONTENTION, NO_OVERHEADS, type SimulatedProof, type SimulationSetup } from '../../electron/analysis/simulation/model.ts';
import { SeededRandom } from '../../electron/analysis/simulation/random.ts';
import { resolveScheduler, type SchedulerSpec } from '../../electron/contract/scheduler.ts';
import type { EventName, EventOf, TimelineEvent } from '../../electron/contract/timeline-events.ts';

export const MS = 1e6;

export interface StageMs {
  synthesis: number;
  prepare: number;
  device: number;
  finish: number;
}

export interface Shape {
  proofs?: number;
  partitions?: number;
  /** Share of each time, up or down. */
  jitter?: number;
  seed?: number;
}

export function makeSetup(
  spec: SchedulerSpec,
  ms: StageMs,
  { proofs = 20, partitions = 10, jitter = 0, seed = 1, ...more }: Shape & Partial<Omit<SimulationSetup, 'proofs'>> = {},
): SimulationSetup {
  const random = new SeededRandom(seed);
  const around = (length: number) => Math.round(length * MS * (1 - jitter + 2 * jitter * random.next()));
  const times = () => {
    const deviceNs = around(ms.device);
    return {
      synthesisNs: around(ms.synthesis),
      prepareNs: around(ms.prepare),
      deviceNs,
      kernelNs: deviceNs,
      finishNs: around(ms.finish),
      verifyNs: 0,
    };
  };
  const proof = (): SimulatedProof => ({
    circuit: 'c-1', constraints: 1, priority: 2, deadline: null, submittedNs: 0, partitions: Array.from({ length: partitions }, times),
  }); // prettier-ignore
  return {
    scheduler: resolveScheduler(spec, { cpus: 8, memoryBytes: 64 * 2 ** 30 }),
    devices: ['gpu0'],
    proofs: Array.from({ length: proofs }, proof),
    contention: NO_CONTENTION,
    overheads: NO_OVERHEADS,
    memory: null,
    ...more,
  };
}

export class Kept implements RunFeed {
  readonly events: TimelineEvent[] = [];
  beginProcess(): void {}
  take(event: TimelineEvent): void {
    this.events.push(event);
  }
}

export function simulateKept(setup: SimulationSetup): { ends: SimulatedEnds; events: TimelineEvent[] } {
  const kept = new Kept();
  const devices = setup.devices.map((device) => ({ device, kind: 'emulated' }));
  const ends = simulateRun(setup, new Teller(kept, { devices, backend: 'emulated', scheduler: setup.scheduler }));
  return { ends, events: kept.events };
}

export function onlyNamed<E extends EventName>(events: readonly TimelineEvent[], ...names: E[]): EventOf<E>[] {
  return events.filter((event): event is EventOf<E> => (names as string[]).includes(event.e));
}
