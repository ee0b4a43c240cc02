/** Two schedulers in turns: the order, the figure of a block, and a verdict that is seldom wrong. All randomness is seeded. */
import { describe, expect, it } from 'vitest';
import {
  blockSecondsPerProof, countWarmUp, judgeBlocks, planBlocks, reportExperiment, type Block,
} from '../../electron/analysis/experiment.ts'; // prettier-ignore
import { randomSource } from '../support/host-process.ts';
import { SCHEDULER } from '../support/journal.ts';

const letters = (rounds: number) => planBlocks(rounds).map(({ side, warmUp }) => (warmUp ? side : side.toUpperCase()));

/** Blocks as they ran, with the seconds that `seconds` gives for the n-th of them. */
function blocksOf(rounds: number, seconds: (side: 'a' | 'b', position: number) => number | null): Block[] {
  return planBlocks(rounds).map(({ round, side, warmUp }, position) => ({
    round,
    side,
    run: 'r1',
    s_per_proof: warmUp ? null : seconds(side, position),
    proofs: 5,
    warm_up: warmUp,
  }));
}

describe('a block', () => {
  it('comes in turns of which the first alternates, after one that only warms up', () => {
    expect(letters(4).join('')).toBe('aABBAABBA');
    expect(planBlocks(2).map((block) => block.round)).toEqual([0, 1, 1, 2, 2]);
  });

  it('counts from the end of the proof that fills the pipeline, whatever came before', () => {
    const ends = [100, 10, 20, 40, 30].map((s) => s * 1e9);
    expect(blockSecondsPerProof(ends, 1)).toBeCloseTo((100 - 10) / 4, 12);
    expect(blockSecondsPerProof(ends, 2)).toBeCloseTo((100 - 20) / 3, 12);
    expect([blockSecondsPerProof(ends, 5), blockSecondsPerProof([], 1), blockSecondsPerProof(ends, 0)]).toEqual([null, null, null]);
  });

  it('warms up with as many proofs as either side may have in flight, and one at least', () => {
    expect(countWarmUp({ ...SCHEDULER, proofs_in_flight: 1 }, { ...SCHEDULER, proofs_in_flight: 3 })).toBe(3);
    expect(countWarmUp({ ...SCHEDULER, proofs_in_flight: 1 }, { ...SCHEDULER, proofs_in_flight: 1 })).toBe(1);
  });
});

describe('the verdict', () => {
  it('is that of the paired differences: a slow half hour that both sides saw does not hide it', () => {
    const slow = [0, 0, 0, 40, 40, 90, 90, 10, 10];
    const blocks = blocksOf(4, (side, position) => 50 + (slow[position] ?? 0) - (side === 'b' ? 3 + 0.1 * position : 0));
    const { difference_s: difference, ratio, verdict } = judgeBlocks(blocks);
    expect(verdict).toBe('b_faster');
    expect(difference?.value).toBeCloseTo(-3.45, 1);
    expect(difference?.high).toBeLessThan(-2.5);
    expect(ratio).toBeCloseTo(1 - 3.45 / 85, 2);
    const turned = blocks.map((block) => ({ ...block, side: block.side === 'a' ? ('b' as const) : ('a' as const) }));
    expect(judgeBlocks(turned).verdict).toBe('a_faster');
  });

  it('needs two whole rounds: half of one, and the warm-up, are in nothing', () => {
    const all = blocksOf(2, (side) => (side === 'a' ? 10 : 8));
    expect(judgeBlocks(all.slice(0, 4))).toEqual({ difference_s: null, ratio: 0.8, verdict: 'too_few' });
    expect(judgeBlocks(all.slice(0, 2))).toEqual({ difference_s: null, ratio: null, verdict: 'too_few' });
    const warm = all.map((block) => (block.warm_up ? { ...block, s_per_proof: 1000 } : block));
    expect(judgeBlocks(warm)).toEqual({ difference_s: { value: -2, low: -2, high: -2 }, ratio: 0.8, verdict: 'b_faster' });
  });

  it('of two that do not differ is “no difference seen” in 93 to 97 of 100 seeded trials', () => {
    const random = randomSource(3);
    const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    let seen = 0;
    for (let trial = 0; trial < 2000; trial++) {
      let drift = 0;
      const { verdict } = judgeBlocks(blocksOf(5, () => 50 + (drift += 0.2 * normal()) + normal()));
      if (verdict === 'no_difference_seen') seen++;
    }
    expect(seen / 20).toBeGreaterThanOrEqual(93);
    expect(seen / 20).toBeLessThanOrEqual(97);
  });

  it('does not take a machine that slows down steadily for a slower scheduler, since the order alternates', () => {
    const { difference_s: difference, verdict } = judgeBlocks(blocksOf(6, (_, position) => 50 + position));
    expect(verdict).toBe('no_difference_seen');
    expect(difference?.value).toBeCloseTo(0, 9);
    // Always A first would have seen one that is not there.
    const always = blocksOf(6, (_, position) => 50 + position).map((block, index) => ({
      ...block,
      side: index % 2 ? ('a' as const) : ('b' as const),
    }));
    expect(judgeBlocks(always).verdict).toBe('a_faster');
  });

  it('stands in the report beside all that it rests on', () => {
    const blocks = blocksOf(2, (side) => (side === 'a' ? 10 : 8));
    const facts = { experiment: 'x1', state: 'done', a: SCHEDULER, b: SCHEDULER, rounds: 2, proofs_per_block: 5, warm_up_proofs: 2, blocks, message: null } as const; // prettier-ignore
    expect(reportExperiment(facts)).toMatchObject({ schema: 1, verdict: 'b_faster', ratio: 0.8, blocks });
  });
});
