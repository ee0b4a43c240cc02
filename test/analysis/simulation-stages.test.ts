/**
 * What the simulation takes from a run: a simulated run, told as events, gives back the stage times, the contention and the pauses between
 * stages that it was made with. And how a scheduler is changed, and found in a log's settings.
 */
import { describe, expect, it } from 'vitest';
import { changeScheduler, foundScheduler } from '../../electron/analysis/simulation/change.ts';
import { fitContention } from '../../electron/analysis/simulation/contention.ts';
import { Teller } from '../../electron/analysis/simulation/emit.ts';
import { simulateRun } from '../../electron/analysis/simulation/engine.ts';
import { NO_CONTENTION, type SimulationSetup } from '../../electron/analysis/simulation/model.ts';
import { sharesCores } from '../../electron/analysis/simulation/rests-on.ts';
import { drawProofs, sampleRun, sampleTable } from '../../electron/analysis/simulation/sample.ts';
import { StageCollector, type MeasuredRun } from '../../electron/analysis/simulation/stages.ts';
import { resolveScheduler, type Scheduler } from '../../electron/contract/scheduler.ts';
import type { EventOf } from '../../electron/contract/timeline-events.ts';
import { makeSetup, MS } from '../support/simulated-setup.ts';

function measure(setup: SimulationSetup): MeasuredRun {
  const collector = new StageCollector();
  const devices = setup.devices.map((device) => ({ device, kind: 'emulated' }));
  simulateRun(setup, new Teller(collector, { devices, backend: 'emulated', scheduler: setup.scheduler }));
  return collector.measure();
}

const STAGES = { synthesis: 100, prepare: 30, device: 50, finish: 20 };

describe('stage times', () => {
  it.each(['job', 'kernels'] as const)('come back as they went in, waits excluded: lock scope %s', (lock_scope) => {
    const setup = makeSetup({ lock_scope, synthesis_workers: 4, partitions_in_flight: 4 }, STAGES, {
      proofs: 3,
      partitions: 4,
      jitter: 0.3,
    });
    const proofs = setup.proofs.map((proof) => ({
      ...proof,
      partitions: proof.partitions.map((times) => ({ ...times, kernelNs: Math.round(times.deviceNs / 4), verifyNs: MS })),
    }));
    const { partitions, incomplete } = measure({ ...setup, proofs });
    const put = proofs.flatMap((proof) => proof.partitions).map((times) => [times.synthesisNs, times.prepareNs, times.deviceNs, times.finishNs, times.kernelNs]); // prettier-ignore
    const found = partitions.map(({ ns, kernelNs }) => [ns.synthesis, ns.prepare, ns.device, ns.finish, kernelNs]);
    const inOrder = (rows: (number | null)[][]) => rows.map((row) => row.join()).sort();
    expect(inOrder(found)).toEqual(inOrder(put));
    expect(incomplete).toBe(0);
  });

  it('so does what passes between stages', () => {
    const overheads = { turnaroundNs: 3 * MS, wakeNs: 2 * MS, handoffNs: MS, closeNs: 4 * MS };
    const run = measure(makeSetup({ synthesis_workers: 4, lock_scope: 'kernels' }, { ...STAGES, device: 90 }, { proofs: 6, overheads }));
    expect(run.overheads).toMatchObject({ turnaroundNs: 3 * MS, handoffNs: MS, closeNs: 4 * MS });
    const idle = measure(makeSetup({ synthesis_workers: 1 }, STAGES, { proofs: 6, overheads }));
    expect(idle.overheads).toMatchObject({ wakeNs: 2 * MS });
  });

  it('a partition that was picked up and never finished is left out and counted', () => {
    const setup = makeSetup({ synthesis_workers: 4 }, STAGES, { proofs: 1, partitions: 3 });
    const collector = new StageCollector();
    const cut = {
      beginProcess: collector.beginProcess.bind(collector),
      take: (event: Parameters<StageCollector['take']>[0]) => {
        if (!(event.e === 'put_down' && event.partition === 1)) collector.take(event);
      },
    };
    simulateRun(
      setup,
      new Teller(cut, { devices: [{ device: 'gpu0', kind: 'emulated' }], backend: 'emulated', scheduler: setup.scheduler }),
    );
    expect(collector.measure()).toMatchObject({ incomplete: 1, partitions: [{}, {}] });
  });

  it('what a partition did in a process that died is not mixed with what it did in the next', () => {
    const collector = new StageCollector();
    const hello = { seq: 0, t: 0, e: 'hello', wall_ns: '0', backend: 'cpu', devices: [] } as unknown as EventOf<'hello'>;
    const name = { proof: 'p1', attempt: 1, partition: 0 };
    collector.beginProcess(hello, 0);
    collector.take({ ...name, seq: 1, t: 5, e: 'synthesis_started', synthesiser: 0 });
    collector.take({ ...name, seq: 2, t: 9, e: 'synthesis_ended', synthesiser: 0 });
    collector.beginProcess(hello, 0);
    const at = { ...name, device: 'd', worker: 0 };
    const steps = ['picked_up', 'prepare_started', 'prepare_ended', 'lock_asked', 'lock_granted', 'device_started', 'device_ended', 'lock_released', 'finish_started', 'finish_ended', 'put_down'] as const; // prettier-ignore
    steps.forEach((e, index) => collector.take({ ...at, seq: index + 1, t: index + 20, e }));
    expect(collector.measure()).toMatchObject({ incomplete: 1, partitions: [] });
  });
});

describe('contention', () => {
  const slow = { synthesis: 0.05, prepare: 0.02, device: 0.03, finish: 0.02 };
  /** Proofs come one by one and then in crowds, so that the number of syntheses varies. */
  const varied = (contention: typeof slow, jitter: number, seed = 1) => {
    const setup = makeSetup({ synthesis_workers: 8, proofs_in_flight: 4, partitions_in_flight: 20 }, STAGES, { proofs: 30, partitions: 6, jitter, contention, seed });
    return { ...setup, proofs: setup.proofs.map((proof, index) => ({ ...proof, partitions: proof.partitions.slice(0, 1 + (index % 6)), submittedNs: index * 90 * MS })) };
  }; // prettier-ignore

  it('is found where the number of syntheses varied, to a fifth of it with 5 % jitter', () => {
    const fitted = fitContention(measure(varied(slow, 0.05)).partitions);
    console.log(`contention put in ${JSON.stringify(slow)}, found ${JSON.stringify(fitted)}`);
    for (const stage of ['synthesis', 'prepare', 'device', 'finish'] as const) {
      expect(Math.abs(fitted[stage] / slow[stage] - 1)).toBeLessThan(0.2);
    }
  });

  it('is zero where there is none, whatever the noise', () => {
    for (let seed = 1; seed <= 12; seed++) {
      expect(fitContention(measure(varied(NO_CONTENTION, 0.2, seed)).partitions), `seed ${seed}`).toEqual(NO_CONTENTION);
    }
  });

  it('is zero where the number hardly varied, however well a line fits', () => {
    const at = (index: number) => ({ synthesis: 7 + 0.3 * (index / 40), prepare: 0, device: 0, finish: 0 });
    const ns = (index: number) => ({ synthesis: 100 + 0.1 * index, prepare: 1, device: 1, finish: 1 });
    const partitions = Array.from({ length: 40 }, (_, index) => ({
      proof: 'p',
      partition: index,
      circuit: 'c',
      kernelNs: 1,
      verifyNs: 0,
      beside: at(index),
      ns: ns(index),
    }));
    expect(fitContention(partitions)).toEqual(NO_CONTENTION);
    const wide = partitions.map((partition, index) => ({ ...partition, beside: { ...partition.beside, synthesis: index / 10 } }));
    expect(fitContention(wide).synthesis).toBeCloseTo(0.01, 3);
  });

  it('is taken out of the times before they are drawn from, so that it is not counted twice', () => {
    const run = measure(varied(slow, 0));
    const sampler = sampleRun(run, slow, true);
    const drawn = drawProofs(sampler, 30, 1, 0).flatMap((proof) => proof.partitions);
    // Not to the nanosecond: a stage under a number that changes goes by the mean of 1 / stretch, and its average is of the stretch.
    const off = drawn.map(({ synthesisNs }) => Math.abs(synthesisNs / MS - 100));
    expect(Math.max(...off)).toBeLessThan(2);
    expect(off.reduce((sum, one) => sum + one, 0) / off.length).toBeLessThan(0.5);
  });
});

describe('drawing', () => {
  const run = measure(makeSetup({ synthesis_workers: 4 }, STAGES, { proofs: 3, partitions: 4, jitter: 0.5 }));
  const sampler = sampleRun(run, NO_CONTENTION, false);

  it('is the same for the same seed and round, and another for another', () => {
    expect(drawProofs(sampler, 5, 7, 2)).toEqual(drawProofs(sampler, 5, 7, 2));
    expect(drawProofs(sampler, 5, 7, 3)).not.toEqual(drawProofs(sampler, 5, 7, 2));
    expect(drawProofs(sampler, 5, 8, 2)).not.toEqual(drawProofs(sampler, 5, 7, 2));
  });

  it('takes partitions whole', () => {
    const seen = new Set(run.partitions.map(({ ns }) => `${ns.synthesis} ${ns.prepare} ${ns.device} ${ns.finish}`));
    for (const times of drawProofs(sampler, 9, 1, 0).flatMap((proof) => proof.partitions)) {
      expect(seen).toContain(`${times.synthesisNs} ${times.prepareNs} ${times.deviceNs} ${times.finishNs}`);
    }
  });

  it('of a table: rows where the lists are equally long, else each list by itself', () => {
    const rows = sampleTable({ synthesis: [1, 2], prepare: [1, 2], device: [1, 2], finish: [1, 2], partitions: 3 });
    const whole = drawProofs(rows, 4, 1, 0).flatMap((proof) => proof.partitions);
    expect(whole.every((times) => times.synthesisNs === times.deviceNs && times.prepareNs === times.finishNs)).toBe(true);
    expect(new Set(whole.map(({ deviceNs }) => deviceNs)).size).toBe(2);
    const single = sampleTable({ synthesis: [29, 36], prepare: [1.909], device: [1.824], finish: [0.484], partitions: 10 });
    expect(drawProofs(single, 1, 1, 0)[0]?.partitions).toHaveLength(10);
  });
});

describe('the scheduler that is asked about', () => {
  const own: Scheduler = resolveScheduler({ preset: 'per-partition', synthesis_workers: 3 }, { cpus: 8, memoryBytes: 2 ** 34 });

  it('is the run’s own with what is given', () => {
    expect(changeScheduler(own, undefined, { gpu_workers: 2 })).toEqual({
      ...own,
      gpu_workers: 2,
      overrides: ['gpu_workers', 'synthesis_workers'],
    });
    expect(changeScheduler(own, undefined, {})).toEqual(own);
  });

  it('a preset sets what it fixes and leaves the rest', () => {
    const changed = changeScheduler(own, 'interlock', { gpu_workers: undefined });
    expect(changed).toEqual({ ...own, preset: 'interlock', gpu_workers: 2, lock_scope: 'kernels', overrides: ['synthesis_workers'] });
    expect(changeScheduler(own, 'interlock', { gpu_workers: 3 })).toMatchObject({ gpu_workers: 3, overrides: ['gpu_workers', 'synthesis_workers'] }); // prettier-ignore
  });

  it('of a log: from its settings, from what was seen, from what is given; else refused, naming the flags', () => {
    const seen = { proofs: 3, syntheses: 2, locksLessThanJob: false };
    expect(() => foundScheduler({}, seen, {})).toThrow(
      /give --dispatch, --gpu-workers, --lock-scope, --partitions-in-flight, --synthesis-workers\./,
    );
    const given = { dispatch: 'partition', lock_scope: 'kernels', partitions_in_flight: 18, synthesis_workers: 2 } as const;
    expect(() => foundScheduler({}, seen, given)).toThrow(/does not say gpu_workers of its own scheduler; give --gpu-workers\./);
    const found = { gpu_workers_per_device: '1', synth_worker_count: '2', max_partitions_in_budget: '18', pipeline_enabled: 'true' };
    const own = foundScheduler(found, { ...seen, locksLessThanJob: true }, { gpu_workers: 2 });
    // What is given is what is asked about, not what the log's own scheduler was.
    expect(own).toMatchObject({ gpu_workers: 1, synthesis_workers: 2, partitions_in_flight: 18, proofs_in_flight: 3, lock_scope: 'kernels', preset: 'interlock', overrides: ['gpu_workers'] }); // prettier-ignore
  });
});

it('a CPU device shares its cores with the CPU stages, a GPU and an emulated one do not', () => {
  const device = (kind: string) => ({ devices: [{ device: 'd0', kind }] });
  expect(['cpu', 'cuda', 'emulated'].map((kind) => sharesCores(device(kind)))).toEqual([true, false, false]);
});
