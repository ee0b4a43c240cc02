/** The simulated pipeline: hand-worked lanes, the six regimes of PERFORMANCE.md's P4, and what holds of every run. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeBound } from '../../electron/analysis/simulation/bound.ts';
import { simulateRun } from '../../electron/analysis/simulation/engine.ts';
import { analyseSimulated } from '../../electron/analysis/simulation/outcome.ts';
import { CAUSES } from '../../electron/contract/idle.ts';
import { LOCK_SCOPES, ORDERS, type SchedulerSpec } from '../../electron/contract/scheduler.ts';
import type { TimelineEvent } from '../../electron/contract/timeline-events.ts';
import { makeSetup, MS, onlyNamed, simulateKept, type StageMs } from '../support/simulated-setup.ts';

const ms = (synthesis: number, prepare: number, device: number, finish: number): StageMs => ({ synthesis, prepare, device, finish });

function spans(events: readonly TimelineEvent[], start: 'kernel_started', end: 'kernel_ended'): string[] {
  const ends = onlyNamed(events, end);
  return onlyNamed(events, start).map(({ proof, partition, t, worker }) => {
    const { t: endT = Number.NaN } = ends.find((event) => event.proof === proof && event.partition === partition) ?? {};
    return `${proof}.${partition} w${worker} ${t / MS}-${endT / MS}`;
  });
}

describe('worked lanes (ms)', () => {
  it('one worker, scope job: prepare, kernels and finish in series', () => {
    const spec: SchedulerSpec = { preset: 'per-partition', synthesis_workers: 2 };
    const { events, ends } = simulateKept(makeSetup(spec, ms(10, 100, 200, 50), { proofs: 1, partitions: 2 }));
    // synthesis 0-10 of both; w0: lock 10, prepare -110, kernel -310, finish -360; again from 360
    expect(spans(events, 'kernel_started', 'kernel_ended')).toEqual(['p1.0 w0 110-310', 'p1.1 w0 460-660']);
    expect(ends).toMatchObject({ makespanNs: 710 * MS, endsNs: [710 * MS], latenciesNs: [710 * MS], mostSyntheses: 2 });
  });

  it('two workers, scope kernels: the second prepares beside the first and waits for the lock', () => {
    const { events, ends } = simulateKept(makeSetup({ synthesis_workers: 2 }, ms(0, 60, 120, 60), { proofs: 1, partitions: 2 }));
    expect(spans(events, 'kernel_started', 'kernel_ended')).toEqual(['p1.0 w0 60-180', 'p1.1 w1 180-300']);
    expect(ends.makespanNs).toBe(360 * MS);
  });

  it('batch: nothing is queued before the last synthesis', () => {
    const spec: SchedulerSpec = { preset: 'batch', synthesis_workers: 1 };
    const { events } = simulateKept(makeSetup(spec, ms(100, 0, 10, 0), { proofs: 1, partitions: 2 }));
    expect(onlyNamed(events, 'queued').map(({ t, partition }) => [t / MS, partition])).toEqual([[200, 0], [200, 1]]); // prettier-ignore
    expect(spans(events, 'kernel_started', 'kernel_ended')).toEqual(['p1.0 w0 200-210', 'p1.1 w0 210-220']);
  });

  it('one permit: the next synthesis starts when finish ends', () => {
    const spec: SchedulerSpec = { synthesis_workers: 2, partitions_in_flight: 1 };
    const { events } = simulateKept(makeSetup(spec, ms(30, 5, 10, 5), { proofs: 1, partitions: 2 }));
    expect(onlyNamed(events, 'permit_granted').map(({ t, waited_for }) => [t / MS, waited_for])).toEqual([[0, 'none'], [50, 'count']]); // prettier-ignore
  });

  it('memory: two permits where the count allows ten', () => {
    const memory = { partitionBytes: 10, totalBytes: 25 };
    const { events, ends } = simulateKept(makeSetup({ synthesis_workers: 8 }, ms(30, 0, 10, 0), { proofs: 1, partitions: 4, memory }));
    expect(ends.mostSyntheses).toBe(2);
    expect(onlyNamed(events, 'permit_granted').map(({ waited_for }) => waited_for)).toEqual(['none', 'none', 'bytes', 'bytes']);
  });

  it('two devices share one queue, each with a lock of its own', () => {
    const setup = makeSetup({ synthesis_workers: 4 }, ms(0, 0, 100, 0), { proofs: 1, partitions: 4, devices: ['gpu0', 'gpu1'] });
    const { events, ends } = simulateKept(setup);
    expect(ends.makespanNs).toBe(200 * MS);
    expect(onlyNamed(events, 'kernel_started').map(({ t, device }) => `${device} ${t / MS}`).sort()).toEqual(['gpu0 0', 'gpu0 100', 'gpu1 0', 'gpu1 100']); // prettier-ignore
  });

  it('a priority overtakes at the next partition', () => {
    const setup = makeSetup({ synthesis_workers: 1, proofs_in_flight: 2 }, ms(10, 0, 1, 0), { proofs: 2, partitions: 3 });
    const [first, second] = setup.proofs;
    const urgent = { ...setup, proofs: [first, { ...second, priority: 4, submittedNs: 5 * MS }] } as typeof setup;
    const { events } = simulateKept(urgent);
    expect(onlyNamed(events, 'synthesis_started').map(({ proof }) => proof)).toEqual(['p1', 'p2', 'p2', 'p2', 'p1', 'p1']);
  });

  it('an equal priority does not: a proof in flight keeps its place, whatever the order says', () => {
    const setup = makeSetup({ synthesis_workers: 1, proofs_in_flight: 1, order: 'shortest-first' }, ms(10, 0, 1, 0), {
      proofs: 2,
      partitions: 3,
    });
    const [first, second] = setup.proofs as [(typeof setup.proofs)[number], (typeof setup.proofs)[number]];
    const proofs = [first, { ...second, submittedNs: 5 * MS, partitions: second.partitions.slice(0, 1) }];
    const { events } = simulateKept({ ...setup, proofs });
    expect(onlyNamed(events, 'synthesis_started').map(({ proof }) => proof)).toEqual(['p1', 'p1', 'p1', 'p2']);
  });

  it('whoever was passed over 32 times goes first', () => {
    // One long proof among many short ones: each short one that starts before it counts.
    const setup = makeSetup({ synthesis_workers: 1, proofs_in_flight: 1, order: 'shortest-first' }, ms(10, 0, 1, 0), {
      proofs: 60,
      partitions: 1,
    });
    const proofs = setup.proofs.map((proof, index) => ({ ...proof, constraints: index === 0 ? 1000 : 1 }));
    const { events } = simulateKept({ ...setup, proofs });
    const order = onlyNamed(events, 'synthesis_started').map(({ proof }) => proof);
    expect(order.indexOf('p1')).toBe(32);
  });

  it('deadlines go before none, and the earliest first', () => {
    const setup = makeSetup({ synthesis_workers: 1, proofs_in_flight: 3, order: 'deadline' }, ms(10, 0, 1, 0), {
      proofs: 3,
      partitions: 1,
    });
    const proofs = setup.proofs.map((proof, index) => ({ ...proof, deadline: [null, 9, 5][index] ?? null }));
    expect(onlyNamed(simulateKept({ ...setup, proofs }).events, 'synthesis_started').map(({ proof }) => proof)).toEqual(['p3', 'p2', 'p1']);
  });

  it('the last permit is kept for priority 4 where the scheduler says so', () => {
    const setup = makeSetup({ synthesis_workers: 4, partitions_in_flight: 3, reserve_post: true }, ms(10, 0, 1, 0), {
      proofs: 1,
      partitions: 4,
    });
    expect(simulateRun(setup).mostSyntheses).toBe(2);
    expect(simulateRun({ ...setup, proofs: setup.proofs.map((proof) => ({ ...proof, priority: 4 })) }).mostSyntheses).toBe(3);
  });

  it('a batch that has begun is synthesised to its end, whatever comes', () => {
    const setup = makeSetup({ preset: 'batch', synthesis_workers: 1, partitions_in_flight: 4, proofs_in_flight: 2 }, ms(10, 0, 1, 0), {
      proofs: 2,
      partitions: 3,
    });
    const [first, second] = setup.proofs as [(typeof setup.proofs)[number], (typeof setup.proofs)[number]];
    const { events } = simulateKept({ ...setup, proofs: [first, { ...second, priority: 4, submittedNs: 5 * MS }] });
    expect(onlyNamed(events, 'synthesis_started').map(({ proof }) => proof)).toEqual(['p1', 'p1', 'p1', 'p2', 'p2', 'p2']);
  });

  it('the host leaves at most max(2 j, 4) proofs with the prover', () => {
    const before = (proofs_in_flight: number) => {
      const { events } = simulateKept(makeSetup({ proofs_in_flight }, ms(10, 0, 1, 0), { proofs: 12, partitions: 1 }));
      return onlyNamed(
        events.slice(
          0,
          events.findIndex(({ e }) => e === 'proof_ended'),
        ),
        'proof_accepted',
      ).length;
    };
    expect([before(1), before(2), before(3)]).toEqual([4, 4, 6]);
  });

  it('the lock is granted in the order of asking', () => {
    const { events } = simulateKept(makeSetup({ synthesis_workers: 3, gpu_workers: 3 }, ms(0, 10, 100, 10), { proofs: 1, partitions: 6 }));
    const asked = onlyNamed(events, 'lock_asked').map(({ partition }) => partition);
    expect(onlyNamed(events, 'lock_granted').map(({ partition }) => partition)).toEqual(asked);
  });

  it('what passes between stages takes its time', () => {
    const overheads = { turnaroundNs: 3 * MS, wakeNs: 2 * MS, handoffNs: MS, closeNs: 4 * MS };
    const spec: SchedulerSpec = { preset: 'per-partition', synthesis_workers: 2 };
    const { events, ends } = simulateKept(makeSetup(spec, ms(10, 0, 100, 0), { proofs: 1, partitions: 2, overheads }));
    expect(onlyNamed(events, 'picked_up').map(({ t }) => t / MS)).toEqual([12, 115]);
    expect(ends.endsNs).toEqual([219 * MS]);
  });

  it('a stage goes on at another speed when the number of syntheses changes', () => {
    // Two syntheses of 100 at once, each stretched by half; after one of 50 has ended the other runs at full speed.
    const setup = makeSetup({ synthesis_workers: 2 }, ms(100, 0, 0, 0), { proofs: 1, partitions: 2, contention: { synthesis: 0.5, prepare: 0, device: 0, finish: 0 } }); // prettier-ignore
    const [long, short] = (setup.proofs[0] as (typeof setup.proofs)[number]).partitions;
    const proofs = [{ ...setup.proofs[0], partitions: [long, { ...short, synthesisNs: 50 * MS }] }] as typeof setup.proofs;
    const { events } = simulateKept({ ...setup, proofs });
    // 0-75: both at 1/1.5 → the short one is done, the long one has 50 left → 125
    expect(onlyNamed(events, 'synthesis_ended').map(({ partition, t }) => [partition, t / MS])).toEqual([[1, 75], [0, 125]]); // prettier-ignore
  });

  it('refuses what could never start', () => {
    const setup = makeSetup({ preset: 'batch', partitions_in_flight: 9 }, ms(1, 1, 1, 1), { proofs: 1, partitions: 10 });
    expect(() => simulateRun(setup)).toThrow(/needs 10 partitions in flight/);
    const memory = { partitionBytes: 10, totalBytes: 9 };
    expect(() => simulateRun(makeSetup({}, ms(1, 1, 1, 1), { proofs: 1, memory }))).toThrow(/more memory/);
  });
});

describe('PERFORMANCE.md, P4: bound / makespan in six regimes of 200 partitions', () => {
  const roomy = { synthesis_workers: 8, partitions_in_flight: 20 };
  const regimes: [string, SchedulerSpec, StageMs, number, string][] = [
    ['device', roomy, ms(300, 20, 180, 70), 0, 'device'],
    ['synthesis', { ...roomy, synthesis_workers: 2 }, ms(300, 20, 60, 30), 0, 'synthesis'],
    ['worker', { ...roomy, gpu_workers: 1 }, ms(300, 60, 100, 60), 0, 'workers'],
    ['permit', { ...roomy, partitions_in_flight: 3 }, ms(300, 20, 50, 30), 0, 'permits'],
    ['job scope', { ...roomy, preset: 'per-partition' }, ms(300, 20, 100, 70), 0, 'device'],
    ['mixed with 10 % jitter', { synthesis_workers: 4, partitions_in_flight: 10 }, ms(300, 60, 80, 60), 0.1, 'workers'],
  ];
  it.each(regimes)('%s-bound', (name, spec, stages, jitter, term) => {
    const setup = makeSetup(spec, stages, { jitter });
    const bound = computeBound(setup);
    const ratio = bound.boundNs / simulateRun(setup).makespanNs;
    console.log(`${name}: bound / makespan ${ratio.toFixed(4)}, bound by ${bound.term}`);
    expect(bound.term).toBe(term);
    expect(ratio).toBeGreaterThanOrEqual(0.97);
    expect(ratio).toBeLessThanOrEqual(1);
  });
});

describe('of every run', () => {
  const anySpec = fc.record({
    preset: fc.constantFrom('batch' as const, 'per-partition' as const, 'interlock' as const),
    gpu_workers: fc.integer({ min: 1, max: 4 }),
    lock_scope: fc.constantFrom(...LOCK_SCOPES),
    partitions_in_flight: fc.integer({ min: 5, max: 12 }),
    proofs_in_flight: fc.integer({ min: 1, max: 3 }),
    synthesis_workers: fc.integer({ min: 1, max: 6 }),
    order: fc.constantFrom(...ORDERS),
    reserve_post: fc.boolean(),
  });
  const anyStages = fc.record({
    synthesis: fc.integer({ min: 0, max: 300 }),
    prepare: fc.integer({ min: 0, max: 60 }),
    device: fc.integer({ min: 0, max: 200 }),
    finish: fc.integer({ min: 0, max: 60 }),
  });
  const anySetup = fc
    .record({
      spec: anySpec, stages: anyStages, proofs: fc.integer({ min: 1, max: 6 }), partitions: fc.integer({ min: 1, max: 4 }),
      jitter: fc.constantFrom(0, 0.1, 0.8), seed: fc.nat(), devices: fc.constantFrom(['gpu0'], ['gpu0', 'gpu1']),
      slows: fc.constantFrom(0, 0.05), late: fc.constantFrom(0, 2 * MS),
      priorities: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 6, maxLength: 6 }),
    })
    .map(({ spec, stages, slows, late, priorities, ...shape }) => {
      const contention = { synthesis: slows, prepare: slows, device: slows, finish: slows };
      const overheads = { turnaroundNs: late, wakeNs: late, handoffNs: late, closeNs: late };
      const setup = makeSetup(spec, stages, { ...shape, contention, overheads });
      return { ...setup, proofs: setup.proofs.map((proof, index) => ({ ...proof, priority: priorities[index] ?? 2, deadline: -index })) };
    }); // prettier-ignore

  it('no makespan is below the bound', () => {
    fc.assert(
      fc.property(anySetup, (setup) => {
        const { makespanNs, endsNs } = simulateRun(setup);
        expect(endsNs).toHaveLength(setup.proofs.length);
        // Whole nanoseconds: a stretched stage is rounded each time its speed changes.
        expect(makespanNs).toBeGreaterThanOrEqual(computeBound(setup).boundNs - 1000);
      }),
      { numRuns: 300 },
    );
  });

  it('the lock has one holder, permits and workers are never more than there are, and all is told in order', () => {
    fc.assert(
      fc.property(anySetup, (setup) => {
        const { events } = simulateKept(setup);
        const { partitions_in_flight, synthesis_workers, gpu_workers, dispatch, reserve_post } = setup.scheduler;
        const held = new Map<string, number>();
        const count = { permits: 0, syntheses: 0, jobs: new Map<string, number>() };
        const ended = new Set<string>();
        events.forEach((event, index) => {
          expect(event.seq).toBe(index);
          expect(event.t).toBeGreaterThanOrEqual(events[index - 1]?.t ?? 0);
          const jobs = (device: string, by: number) => count.jobs.set(device, (count.jobs.get(device) ?? 0) + by);
          switch (event.e) {
            case 'permit_granted':
              count.permits += 1;
              break;
            case 'permit_released':
              count.permits -= 1;
              break;
            case 'synthesis_started':
              count.syntheses += 1;
              break;
            case 'synthesis_ended':
              count.syntheses -= 1;
              break;
            case 'queued':
              if (dispatch === 'batch') {
                const open = onlyNamed(events.slice(0, index), 'synthesis_ended').filter(({ proof }) => proof === event.proof).length;
                expect(open).toBe(setup.proofs[0]?.partitions.length);
              }
              break;
            case 'picked_up':
              jobs(event.device, 1);
              break;
            case 'put_down':
              jobs(event.device, -1);
              break;
            case 'lock_granted':
              expect(held.get(event.device)).toBeUndefined();
              held.set(event.device, event.worker);
              break;
            case 'lock_released':
              expect(held.get(event.device)).toBe(event.worker);
              held.delete(event.device);
              break;
            case 'kernel_started':
              expect(held.get(event.device)).toBe(event.worker);
              break;
            case 'partition_ended':
              ended.add(`${event.proof} ${event.partition}`);
              break;
          }
          expect(count.permits).toBeLessThanOrEqual(partitions_in_flight - (reserve_post && setup.proofs.every(({ priority }) => priority < 4) ? 1 : 0)); // prettier-ignore
          expect(count.syntheses).toBeLessThanOrEqual(synthesis_workers);
          for (const at of count.jobs.values()) expect(at).toBeLessThanOrEqual(gpu_workers);
        });
        expect(ended.size).toBe(setup.proofs.reduce((sum, { partitions }) => sum + partitions.length, 0));
        expect([count.permits, count.syntheses, held.size]).toEqual([0, 0, 0]);
      }),
      { numRuns: 100 },
    );
  });

  it('windows and causes of its events add up, and nothing is unknown, down or fault', () => {
    fc.assert(
      fc.property(anySetup, (setup) => {
        const devices = analyseSimulated(setup, {
          devices: setup.devices.map((device) => ({ device, kind: 'cuda' })),
          backend: 'cuda',
          knowsKernels: true,
        });
        expect(devices).toHaveLength(setup.devices.length);
        let kernels = 0;
        for (const { wall_ns, kernel_ns, idle_ns, unknown_ns, windows, groups } of devices) {
          expect(CAUSES.reduce((sum, cause) => sum + idle_ns[cause], (kernel_ns ?? 0) + unknown_ns)).toBe(wall_ns);
          expect([unknown_ns, idle_ns.down, idle_ns.fault, idle_ns.warm_up, groups]).toEqual([0, 0, 0, 0, {}]);
          const [kernel, lock, job] = [windows.kernel.ns ?? NaN, windows.lock.ns ?? NaN, windows.job.ns ?? NaN];
          expect(kernel <= lock && lock <= job && job <= wall_ns).toBe(true);
          kernels += kernel;
        }
        if (setup.contention.device > 0) return;
        expect(kernels).toBe(setup.proofs.flatMap(({ partitions }) => partitions).reduce((sum, { kernelNs }) => sum + kernelNs, 0));
      }),
      { numRuns: 100 },
    );
  });

  it('the same input gives the same run, with and without being told', () => {
    fc.assert(
      fc.property(anySetup, (setup) => {
        const first = simulateKept(setup);
        expect(simulateKept(setup)).toEqual(first);
        expect(simulateRun(setup)).toEqual(first.ends);
      }),
      { numRuns: 50 },
    );
  });

  it('of equal partitions in fifo order, more permits are never slower', () => {
    // Not so in general: with unequal times a list scheduler may lose by having more choice (Graham's anomalies).
    fc.assert(
      fc.property(anyStages, fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 6 }), fc.constantFrom(...LOCK_SCOPES), (stages, permits, workers, scope) => {
        const at = (partitions_in_flight: number) =>
          simulateRun(makeSetup({ lock_scope: scope, partitions_in_flight, synthesis_workers: workers }, stages, { proofs: 4, partitions: 3 })).makespanNs;
        expect(at(permits + 1)).toBeLessThanOrEqual(at(permits));
      }),
      { numRuns: 200 },
    ); // prettier-ignore
  });
});
