import { describe, expect, it } from 'vitest';
import type { ProverState } from '../../electron/engines/engine.ts';
import { StageHistory, Watchdog, type WatchdogLimits } from '../../electron/engines/supervision/watchdog.ts';

const limits: WatchdogLimits = { periodMs: 2_000, floorMs: 30_000, withoutHistoryMs: 600_000 };
const S = 1e9;

function state(worker: Partial<ProverState['workers'][number]> = {}, more: Partial<ProverState> = {}): ProverState {
  return {
    phase: 'ready',
    run: 'r1',
    workers: [{ worker: 0, device: 'cpu0', is: 'device', proof: 'p1', partition: 0, since: 0, progress: 1, ...worker }],
    synthesisers: [],
    proofs: [{ proof: 'p1', attempt: 1, partitions: 10, done: 0 }],
    params: [],
    ...more,
  };
}

/** Ticks each period up to `toS`; `answer` says what the prover answers then (null: nothing). Gives the first verdict that is not well. */
function watch(dog: Watchdog, toS: number, answer: (second: number) => ProverState | null, fromS = 0) {
  for (let second = fromS + 2; second <= toS; second += 2) {
    const answered = answer(second);
    if (answered) dog.observe(answered, second * S);
    const verdict = dog.tick(second * S);
    if (verdict.is !== 'well') return { second, ...verdict };
  }
  return null;
}

const busyHistory = () =>
  new StageHistory({ device: Array.from({ length: 20 }, () => 2_000), synthesis: Array.from({ length: 20 }, () => 40_000) });

describe('the watchdog', () => {
  it('is content while answers come and counters move', () => {
    expect(watch(new Watchdog(0, busyHistory(), limits), 3_600, (second) => state({ progress: second }))).toBeNull();
  });

  it('flags silence just after its limit', () => {
    const verdict = watch(new Watchdog(0, busyHistory(), limits), 600, (second) => (second <= 10 ? state({ progress: second }) : null));
    expect(verdict).toMatchObject({ is: 'silent', second: 42, limitMs: 30_000 });
  });

  it('flags answers without progress: alive is not enough', () => {
    const verdict = watch(new Watchdog(0, busyHistory(), limits), 600, (second) => state({ progress: Math.min(second, 10) }));
    expect(verdict).toMatchObject({ is: 'no_progress', second: 42, proof: 'p1', partition: 0 });
    expect(verdict).toHaveProperty(
      'message',
      expect.stringMatching(/GPU worker 0 of cpu0 in device has stood still for 32 s \(limit 30 s\)/),
    );
  });

  it('takes its limits from what this machine has needed, with a floor', () => {
    const history = new StageHistory({
      synthesis: Array.from({ length: 50 }, () => 40_000),
      device: Array.from({ length: 50 }, () => 500),
    });
    expect(history.limitMs('synthesis', limits)).toBe(120_000);
    expect(history.limitMs('device', limits)).toBe(30_000);
    expect(history.limitMs('finish', limits)).toBe(600_000);
  });

  it('learns from the stages it sees', () => {
    const history = new StageHistory();
    watch(new Watchdog(0, history, limits), 40 * 15, (second) => state({ partition: Math.floor(second / 40) }));
    expect(history.limitMs('device', limits)).toBe(120_000);
  });

  it('does not judge a large circuit by a small one', () => {
    const history = new StageHistory();
    const workOf = (proof: string) => (proof === 'p1' ? 'cpu squarings-1000' : 'cpu squarings-9000000');
    // A hundred partitions of the small circuit, two seconds each.
    expect(watch(new Watchdog(0, history, limits, workOf), 200, (second) => state({ partition: second }))).toBeNull();
    expect(history.limitMs('device cpu squarings-1000', limits)).toBe(30_000);
    const large = { proof: 'p2', partition: 0, progress: 1 };
    expect(watch(new Watchdog(0, history, limits, workOf), 300, () => state(large))).toBeNull();
    const small = { proof: 'p1', partition: 0, progress: 1 };
    expect(watch(new Watchdog(0, history, limits, workOf), 300, () => state(small))).toMatchObject({ is: 'no_progress', limitMs: 30_000 });
  });

  it('expects nothing of workers that wait, nor while params load', () => {
    expect(
      watch(new Watchdog(0, busyHistory(), limits), 7_200, () => state({ is: 'waiting' }, { params: [{ circuit: 'c', is: 'loading' }] })),
    ).toBeNull();
    expect(watch(new Watchdog(0, busyHistory(), limits), 7_200, () => state({ is: 'free', proof: null }, { proofs: [] }))).toBeNull();
  });

  it('flags a prover that has proofs and does nothing with them', () => {
    expect(watch(new Watchdog(0, busyHistory(), limits), 3_600, () => state({ is: 'free', proof: null }))).toMatchObject({
      is: 'no_progress',
    });
  });

  it('never judges over a gap in its own ticks: 0 false kills however long the host stood still', () => {
    for (const gapS of [5, 60, 600, 86_400]) {
      const dog = new Watchdog(0, busyHistory(), limits);
      expect(watch(dog, 20, (second) => state({ progress: second }))).toBeNull();
      const back = 20 + gapS;
      // The first tick after the gap comes before any answer.
      expect(dog.tick(back * S).is).toBe('well');
      expect(dog.graces).toBe(1);
      expect(watch(dog, back + 28, () => null, back)).toBeNull();
      expect(watch(dog, back + 60, () => null, back + 28)).toMatchObject({ is: 'silent' });
    }
  });
});
