import { describe, expect, test } from 'vitest';
import { CAUSES, type Cause, type IdleParts } from '../../../electron/contract/idle.ts';
import type { LiveFigures } from '../../../electron/contract/live.ts';
import { resolveScheduler, type SchedulerSpec } from '../../../electron/contract/scheduler.ts';
import type { SimulationReport } from '../../../electron/contract/what-if.ts';
import type { LivePicture } from '../../../renderer/live/live-model.ts';
import { actAgainst, type Act } from '../../../renderer/live/acts.ts';
import { computeVerdict, currentAct, isMemoryBound, type Prediction } from '../../../renderer/live/verdict.ts';
import { createDemoRun, DEMO_MACHINE } from '../../support/demo-run.ts';

const scheduler = (spec: SchedulerSpec) => resolveScheduler(spec, DEMO_MACHINE);
const one = scheduler({ preset: 'interlock', gpu_workers: 1 });
const noIdle = Object.fromEntries(CAUSES.map((cause) => [cause, 0])) as Record<Cause, number>;
const demo = createDemoRun({ proofs: 10 }).snapshotAt(60e9);

/** A picture of one device whose steady proofs go like this, s. */
function picture(idle: Partial<Record<Cause, number>>, change: Partial<LiveFigures> = {}): LivePicture {
  const ns = Object.fromEntries(Object.entries(idle).map(([cause, s]) => [cause, s * 1e9]));
  const perProof: IdleParts = { kernel_ns: 21e9, idle_ns: { ...noIdle, ...ns }, groups: {}, unknown_ns: 0 };
  const figures: LiveFigures = {
    ...demo.figures,
    sPerProof: { value: 45.4, n: 64, low: 45, high: 46, too_few_below: 5 },
    idle: [
      { device: 'gpu0', wall_ns: 60e9, kernel_ns: 20e9, idle_ns: {}, provisional: {}, groups: {}, unknown_ns: 0, steady: { from_ns: 0, to_ns: 60e9, proofs: 62, per_proof: perProof } },
    ],
    ...change,
  }; // prettier-ignore
  return { ...demo, figures, unknown: [], epoch: 1, endedNs: null, spansOf: () => [], spansReaching: () => [] };
}

function predicted(act: Act, value: number, low: number, high: number, base = 45.4): Prediction {
  const baseRange = { value: base, low: base, high: base };
  return {
    act,
    report: {
      s_per_proof: { value, low, high },
      base: { predicted_s_per_proof: baseRange, measured_s_per_proof: 45.4, error_ratio: base / 45.4 - 1 },
    } as unknown as SimulationReport,
  };
}
const plain = (text: string | undefined) => text?.replaceAll('\u00a0', ' ');
const CAUSES_45 = { in_lock: 11.2, handoff: 0.3, preamble: 1.4, epilogue: 7, starved: 4.5 };

describe('the next act', () => {
  test.each<[Cause, SchedulerSpec, object | null]>([
    ['epilogue', { preset: 'interlock', gpu_workers: 1 }, { gpu_workers: 2 }],
    ['preamble', { preset: 'interlock' }, { gpu_workers: 3 }],
    ['epilogue', { preset: 'interlock', gpu_workers: 4 }, null],
    ['epilogue', { preset: 'per-partition' }, { gpu_workers: 2, lock_scope: 'kernels' }],
    ['permit', { partitions_in_flight: 8 }, { partitions_in_flight: 10 }],
    ['starved', { synthesis_workers: 4 }, { synthesis_workers: 5 }],
    ['cross_sector', { synthesis_workers: 1 }, { synthesis_workers: 2 }],
    ['first_synthesis', { synthesis_workers: 128, partitions_in_flight: 200 }, null],
    ['dispatch', { preset: 'batch' }, { dispatch: 'partition' }],
    ['dispatch', { preset: 'interlock' }, null],
    ['handoff', {}, null],
    ['in_lock', {}, null],
    ['no_work', {}, null],
  ])('against %s under %o: %o', (cause, spec, change) => {
    expect(actAgainst(cause, scheduler(spec), false)?.change ?? null).toEqual(change);
  });

  test('a permit that waits for memory asks for memory', () => {
    expect(actAgainst('permit', scheduler({ memory_budget_bytes: 8 * 2 ** 30 }), true)?.change).toEqual({
      memory_budget_bytes: 10 * 2 ** 30,
    });
    const memory = { rssBytes: null, peakRssBytes: null, budgetBytes: 10, permitBytes: 8 };
    expect(isMemoryBound({ memory, permits: { used: 2, total: 9 } })).toBe(true);
    expect(isMemoryBound({ memory: { ...memory, budgetBytes: 12 }, permits: { used: 2, total: 9 } })).toBe(false);
    expect(isMemoryBound({ memory: { ...memory, permitBytes: null }, permits: { used: 2, total: 9 } })).toBe(false);
  });

  test('is against the biggest cause that a setting removes, not against the biggest cause', () => {
    expect(currentAct(picture(CAUSES_45).figures, one)).toMatchObject({ cause: 'epilogue', ns: 7e9, change: { gpu_workers: 2 } });
    expect(currentAct(picture({ in_lock: 11, handoff: 3 }).figures, one)).toBeNull();
    expect(currentAct(picture({ epilogue: 0.1 }).figures, one)).toBeNull();
  });

  test('is not chosen before there are enough proofs', () => {
    const few = picture(CAUSES_45, { sPerProof: { value: null, n: 3, low: null, high: null, too_few_below: 5 } });
    expect(currentAct(few.figures, one)).toBeNull();
  });
});

describe('the verdict line', () => {
  const act = currentAct(picture(CAUSES_45).figures, one)!;
  const say = (prediction: Prediction | null) => computeVerdict(picture(CAUSES_45), one, prediction);

  test('is one at best where the device is the CPU itself', () => {
    const prediction = predicted(act, 42.5, 41.9, 43.2);
    if ('report' in prediction) prediction.report.shares_cores = true;
    expect(plain(say(prediction)?.text)).toContain(
      'now 45.4, 64 proofs) at best, since the CPU device and the CPU stages share the same cores.',
    );
    expect(plain(say(predicted(act, 42.5, 41.9, 43.2))?.text)).not.toContain('at best');
  });

  test('names the cause, the act, the prediction with its range, and what it rests on', () => {
    const verdict = say(predicted(act, 42.5, 41.9, 43.2));
    expect(plain(verdict?.text)).toBe(
      'gpu0 waits 7.00 s a proof in epilogue; a second GPU worker: predicted 42.5 s/proof (41.9–43.2; now 45.4, 64 proofs).',
    );
    expect(verdict?.act?.change).toEqual({ gpu_workers: 2 });
    expect(plain(verdict?.explain)).toContain('the same simulation says 45.4 s/proof');
  });

  test('below 2 % it says that the act would not help, and does not offer it', () => {
    const verdict = say(predicted(act, 44.6, 44.2, 45));
    expect(plain(verdict?.text)).toContain(
      'a second GPU worker would not help here: predicted 44.6 s/proof (44.2–45.0; now 45.4, 64 proofs)',
    );
    expect(verdict?.act).toBeNull();
  });

  test('the simulation is held against itself: what it misses in both is no gain', () => {
    expect(say(predicted(act, 42, 41, 43, 42.2))?.act).toBeNull();
    expect(say(predicted(act, 42, 41, 43, 45))?.act).not.toBeNull();
  });

  test('a simulation that misses the run itself by a tenth says nothing of a change', () => {
    expect(plain(say(predicted(act, 30, 29, 31, 38))?.text)).toContain(
      'what a second GPU worker would bring cannot be said: the simulation makes 38.0 s/proof of the present scheduler (now 45.4, 64 proofs)',
    );
    expect(say(predicted(act, 30, 29, 31, 44))?.text).toContain('predicted');
  });

  test('without an answer it says what is known, and why in the explanation', () => {
    expect(plain(say(null)?.text)).toContain('what a second GPU worker would bring is being computed');
    const failed = say({ act, failed: 'The run has no partition.' });
    expect(plain(failed?.text)).toBe(
      'gpu0 waits 7.00 s a proof in epilogue; what a second GPU worker would bring could not be computed (now 45.4, 64 proofs).',
    );
    expect(failed?.explain).toContain('The run has no partition.');
  });

  test('an answer about another act is not shown for this one', () => {
    const other = { ...act, cause: 'starved' as const };
    expect(say(predicted(other, 30, 29, 31))?.text).toContain('being computed');
  });

  test('says that no setting removes in lock, and counts proofs before it says anything', () => {
    expect(plain(computeVerdict(picture({ in_lock: 11, handoff: 3 }), one, null)?.text)).toBe(
      'gpu0 waits 11.0 s a proof in the lock; no setting removes that (now 45.4, 64 proofs).',
    );
    const idle = [{ device: 'gpu0', wall_ns: 38e9, kernel_ns: 20e9, idle_ns: { starved: 10e9 }, provisional: { starved: 2e9 }, groups: {}, unknown_ns: 6e9, steady: null }];
    const few = picture({}, { idle, sPerProof: { value: null, n: 3, low: null, high: null, too_few_below: 5 } });
    expect(plain(computeVerdict(few, one, null)?.text)).toBe('Not enough proofs yet, 3 of 5; so far gpu0 waits most for the next partition (starved), 12.0 s of 38 s so far.');
  }); // prettier-ignore

  test('says where events are missing', () => {
    const lost = { ...picture(CAUSES_45), unknown: [{ device: null, startNs: 0, endNs: 1e9 }] };
    expect(computeVerdict(lost, one, null)?.explain).toContain('Events are missing');
  });
});
