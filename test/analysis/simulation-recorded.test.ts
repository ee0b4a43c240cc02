/**
 * The recorded daemon with two workers (`gw2a`), predicted from its run with one (`gw1a`). Another process left the machine in the middle of
 * gw1a: its first six partitions were 34 to 40 s in lock, its last six 18 to 25 s. What that does to a prediction is printed, not mended.
 */
import path from 'node:path';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { RunFeed } from '../../electron/analysis/run-feed.ts';
import { RunReportBuilder } from '../../electron/analysis/run-report.ts';
import { answerRun, type SimulatedSource } from '../../electron/analysis/simulation/answer.ts';
import { simulateRun } from '../../electron/analysis/simulation/engine.ts';
import { NO_CONTENTION } from '../../electron/analysis/simulation/model.ts';
import { setupOf, type Question } from '../../electron/analysis/simulation/predict.ts';
import { sampleRun } from '../../electron/analysis/simulation/sample.ts';
import { StageCollector, type MeasuredRun } from '../../electron/analysis/simulation/stages.ts';
import { changeScheduler, foundScheduler } from '../../electron/analysis/simulation/change.ts';
import { computePercentile } from '../../electron/analysis/statistics.ts';
import { CALLS } from '../../electron/contract/api.ts';
import type { TimelineEvent } from '../../electron/contract/timeline-events.ts';
import { markdownTable, percentText, readSection, writeSection } from '../support/doc-section.ts';
import { feedLog } from '../support/fed-run.ts';
import { ROOT } from '../support/host-process.ts';

interface Recorded extends SimulatedSource {
  /** From the first acceptance to the last end, s. */
  wholeS: number;
}

class Ends implements RunFeed {
  firstNs = Number.POSITIVE_INFINITY;
  lastNs = 0;
  beginProcess(): void {}
  take(event: TimelineEvent): void {
    if (event.e === 'proof_accepted') this.firstNs = Math.min(this.firstNs, event.t);
    if (event.e === 'proof_ended') this.lastNs = Math.max(this.lastNs, event.t);
  }
}

function record(name: string): Recorded {
  const [collector, builder, ends] = [new StageCollector(), new RunReportBuilder(), new Ends()];
  const run = feedLog(path.join(ROOT, `test/fixtures/cuzk/${name}.log`), collector, builder, ends);
  const facts = {
    run: name, uid: run.uid, state: 'finished', endedBy: null, engine: run.engine, backend: run.backend, emulate: null, scheduler: run.scheduler,
    found: run.found, importedFrom: name, lost: 0, unparsed: 0, peakRssBytes: null, processes: [],
  } as const; // prettier-ignore
  const report = builder.build({ ...facts, processes: [] }, null);
  expect(report.proofs.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 6 }, () => 'valid'));
  return {
    run: name,
    measured: collector.measure(),
    scheduler: run.scheduler,
    found: run.found,
    sPerProof: report.s_per_proof,
    mostProofs: report.s_per_proof_detail.too_few_below >> 1,
    wholeS: (ends.lastNs - ends.firstNs) / 1e9,
  };
}

/** Seconds for six proofs: median, 5th and 95th percentile of 200 draws. */
function predictWhole(source: Recorded, measured: MeasuredRun, change: { gpu_workers: number; proofs_in_flight: number }): string[] {
  const seen = { proofs: source.mostProofs, syntheses: measured.mostSyntheses, locksLessThanJob: true };
  const question: Question = {
    sampler: sampleRun(measured, NO_CONTENTION, false),
    scheduler: changeScheduler(foundScheduler(source.found, seen, {}), undefined, change),
    devices: measured.devices,
    backend: 'cpu',
    overheads: measured.overheads,
    memory: null,
    proofs: 6,
    rounds: 200,
    seed: 1,
    knowsKernels: false,
  };
  const whole = Array.from({ length: question.rounds }, (_, round) => (simulateRun(setupOf(question, round)).endsNs.at(-1) ?? 0) / 1e9);
  return [0.5, 0.05, 0.95].map((share) => (computePercentile(whole, share) ?? 0).toFixed(0));
}

describe('the recorded daemon', () => {
  const [gw1a, gw2a] = [record('gw1a'), record('gw2a')];

  it('answers a what-if from its log, and says what the log does not tell', () => {
    const { run: _, ...input } = v.parse(CALLS.simulate.input, { run: 'gw1a', change: { gpu_workers: 2 } });
    const report = answerRun(gw1a, input);
    expect(report.base?.scheduler).toMatchObject({ gpu_workers: 1, synthesis_workers: 2, partitions_in_flight: 18, lock_scope: 'kernels' });
    expect(report.devices[0]?.windows.kernel).toEqual({ ns: null, sum_ns: null, recorded: false, error_ns: 0 });
    expect(report.devices[0]?.idle_ns.in_lock).toBe(0);
    expect(report.devices[0]?.groups.lock_or_kernel?.ns).toBeGreaterThan(300e9);
    expect(report.base?.measured_s_per_proof).toBeNull();
    expect(report.rests_on.join('\n')).toMatch(/no kernel lines/);
    expect(report.rests_on.join('\n')).toMatch(/12 partitions are few/);
    expect(report.rests_on.join('\n')).toMatch(/device stage took 36\.3 s in the first half of the run and 19\.5 s in the second/);
    expect(answerRun(gw2a, input).rests_on.join('\n')).not.toMatch(/device stage took/);
  });

  it('refuses what would keep the reading thread for minutes', () => {
    const { run: _, ...input } = v.parse(CALLS.simulate.input, { run: 'gw1a', proofs: 1000, rounds: 200 });
    expect(() => answerRun(gw1a, { ...input, rounds: 201 })).toThrow(/201 rounds of 1000 proofs of 2 partitions are more than/);
  });

  it('gw2a from gw1a, row by row', () => {
    const late: MeasuredRun = { ...gw1a.measured, partitions: gw1a.measured.partitions.slice(6) };
    const as = (gpu_workers: number, proofs_in_flight: number) => ({ gpu_workers, proofs_in_flight });
    const rows: [string, string, Recorded, MeasuredRun, ReturnType<typeof as>][] = [
      ['gw1a', 'gw1a itself', gw1a, gw1a.measured, as(1, 3)],
      ['gw2a', 'all of gw1a', gw2a, gw1a.measured, as(2, 6)],
      ['gw2a', 'the last six partitions of gw1a', gw2a, late, as(2, 6)],
      ['gw2a', 'gw2a itself', gw2a, gw2a.measured, as(2, 6)],
    ];
    const cells = rows.map(([what, from, measured, run, change]) => {
      const [value = '', low, high] = predictWhole(gw1a, run, change);
      return [
        what,
        from,
        `${measured.wholeS.toFixed(0)} s`,
        `${value} s (${low} to ${high})`,
        percentText(Number(value) / measured.wholeS - 1),
      ];
    });
    const text = [
      'Six PoReps of two partitions each, on two CPU cores; seconds from the first acceptance to the last result (six proofs are too few for s/proof).',
      '',
      markdownTable(['run', 'predicted from', 'measured', 'predicted (5 to 95 %)', 'error'], cells),
      '',
      'Another process left the machine in the middle of gw1a: its partitions held the lock for 34 to 40 s before and 18 to 25 s after. The simulation draws from both alike, so it',
      'predicts a machine that is busy with something else half of the time; gw2a had it to itself. The answer says so (“the device stage took 36.3 s in the first half of the run”); it',
      'does not mend it. That a second worker brings nothing here, since the lock covers nearly all of a partition, is right in either case.',
    ].join('\n'); // prettier-ignore
    console.log(text);
    writeSection('docs/what-if.md', 'recorded', text);
    expect(readSection('docs/what-if.md', 'recorded'), 'docs/what-if.md is not what the simulation says now: UPDATE_DOCS=1').toBe(text);
  });
});
