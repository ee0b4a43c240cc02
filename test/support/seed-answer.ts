/** The seed story's account, and what the what-if says of a second worker for it. */
import * as v from 'valibot';
import { IdleAnalysis } from '../../electron/analysis/idle/idle-analysis.ts';
import { RunReportBuilder } from '../../electron/analysis/run-report.ts';
import { answerRun } from '../../electron/analysis/simulation/answer.ts';
import { StageCollector } from '../../electron/analysis/simulation/stages.ts';
import { CALLS } from '../../electron/contract/api.ts';
import type { GapsReport, IdleReport } from '../../electron/contract/idle.ts';
import type { RunReport } from '../../electron/contract/run-report.ts';
import type { Scheduler } from '../../electron/contract/scheduler.ts';
import type { SimulationReport } from '../../electron/contract/what-if.ts';
import { feedEvents, makeSeedStory, SEED_SCHEDULER } from './seed-story.ts';

export interface SeedAnswer {
  report: RunReport;
  idle: IdleReport;
  gaps: GapsReport;
  /** A second worker and the lock around the device stage alone. */
  whatIf: SimulationReport;
}

/** `recorded`: what the record says of the scheduler instead. */
export function answerSeed(recorded: Partial<Scheduler> = {}): SeedAnswer {
  const [builder, idle, collector] = [new RunReportBuilder(), new IdleAnalysis(), new StageCollector()];
  feedEvents(makeSeedStory(), builder, idle, collector);
  const scheduler = { ...SEED_SCHEDULER, ...recorded };
  const report = builder.build(
    {
      run: 'seed', uid: 'seed', state: 'finished', endedBy: 'drained', engine: 'builtin', backend: 'emulated', emulate: null, scheduler, found: {},
      importedFrom: null, lost: 0, unparsed: 0, peakRssBytes: null, processes: [],
    },
    null,
  ); // prettier-ignore
  const idleReport = idle.build({ run: 'seed', state: 'finished', engine: 'builtin', scheduler, proofsInFlight: 2 }, null);
  const { run: _, stages: __, ...input } = v.parse(CALLS.simulate.input, { run: 'seed', preset: 'interlock' });
  return {
    report,
    idle: idleReport,
    gaps: idle.gaps(0, 1000),
    whatIf: answerRun(
      { run: 'seed', measured: collector.measure(), scheduler, found: {}, sPerProof: report.s_per_proof, mostProofs: 2 },
      input,
    ),
  };
}
