/** Idle causes, gaps and what-if of a demo run, computed by the product's own analysis from the events it would have written. */
import { IdleAnalysis } from '../../electron/analysis/idle/idle-analysis.ts';
import { answerRun } from '../../electron/analysis/simulation/answer.ts';
import { StageCollector } from '../../electron/analysis/simulation/stages.ts';
import type { CheckedInput } from '../../electron/contract/api.ts';
import { CAUSES, GROUPS, type DeviceIdle, type GapsReport, type IdleReport } from '../../electron/contract/idle.ts';
import type { DeviceIdleLive } from '../../electron/contract/live.ts';
import type { SimulationReport } from '../../electron/contract/what-if.ts';
import type { DemoEvents } from './demo-events.ts';
import type { DemoTimeline } from './demo-simulation.ts';

export interface DemoIdle {
  idleAt(ns: number): IdleReport;
  gapsAt(ns: number, minNs: number, limit: number): GapsReport;
  liveAt(ns: number): DeviceIdleLive[];
  simulateAt(ns: number, sPerProof: number | null, input: Omit<CheckedInput<'simulate'>, 'run' | 'stages'>): SimulationReport;
}

export function createDemoIdle(run: string, timeline: DemoTimeline, { tell }: DemoEvents): DemoIdle {
  const { scheduler } = timeline.options;
  const analyse = (ns: number) => {
    const over = ns >= timeline.endNs;
    const analysis = new IdleAnalysis();
    tell(analysis, over ? null : ns);
    const report = analysis.build(
      { run, state: over ? 'finished' : 'running', engine: 'builtin', scheduler, proofsInFlight: scheduler.proofs_in_flight },
      over ? null : ns,
    );
    return { analysis, report };
  };
  // The newest few answers: screens ask for the same instant again and again.
  const kept = new Map<number, ReturnType<typeof analyse>>();
  const at = (ns: number) => {
    const key = Math.min(ns, timeline.endNs);
    const found = kept.get(key) ?? analyse(key);
    kept.delete(key);
    kept.set(key, found);
    if (kept.size > 4) kept.delete(kept.keys().next().value!);
    return found;
  };
  return {
    idleAt: (ns) => at(ns).report,
    gapsAt: (ns, minNs, limit) => at(ns).analysis.gaps(minNs, limit),
    liveAt: (ns) => at(ns).report.devices.map(toLive),
    simulateAt(ns, sPerProof, input) {
      const collector = new StageCollector();
      tell(collector, ns >= timeline.endNs ? null : ns);
      return answerRun(
        { run, measured: collector.measure(), scheduler, found: {}, sPerProof, mostProofs: scheduler.proofs_in_flight },
        input,
      );
    },
  };
}

/** As the live figures have it: what is final apart from what is provisional, and nothing that is 0. */
function toLive(device: DeviceIdle): DeviceIdleLive {
  const final = CAUSES.map((cause) => [cause, device.idle_ns[cause] - (device.provisional[cause] ?? 0)] as const);
  return {
    device: device.device,
    wall_ns: device.wall_ns,
    kernel_ns: device.kernel_ns,
    idle_ns: Object.fromEntries(final.filter(([, ns]) => ns > 0)),
    provisional: device.provisional,
    groups: Object.fromEntries(GROUPS.flatMap((group) => (device.groups[group] ? [[group, device.groups[group].ns]] : []))),
    unknown_ns: device.unknown_ns,
    steady: device.steady,
  };
}
