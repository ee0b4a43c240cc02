/**
 * Two schedulers in turns: the order of the blocks, what one block says, and what all of them say together.
 *
 *   round      –    1     2     3
 *   side       a    a b   b a   a b     which comes first alternates, so a machine that slowly warms up favours neither
 *   counts     no   yes …
 *
 *   one block  |–fill–|–––– counted ––––|      the first proofs fill the pipeline and are in no figure
 */
import type { Scheduler } from '../contract/scheduler.ts';
import { NS_PER_S, type Nanoseconds } from '../contract/units.ts';
import { EXPERIMENT_SCHEMA, type ExperimentReport, type Range } from '../contract/what-if.ts';
import { pairedInterval } from './statistics.ts';

export type Side = 'a' | 'b';
export interface BlockPlan {
  /** From 1; 0 for the one that only loads the params. */
  round: number;
  side: Side;
  warmUp: boolean;
}
export type Block = ExperimentReport['blocks'][number];

/** Everything about an experiment that is stored; the rest of its report follows. */
export type ExperimentFacts = Omit<ExperimentReport, 'schema' | 'difference_s' | 'ratio' | 'verdict'>;

export function planBlocks(rounds: number): BlockPlan[] {
  const blocks: BlockPlan[] = [{ round: 0, side: 'a', warmUp: true }];
  for (let round = 1; round <= rounds; round++) {
    const [first, second]: Side[] = round % 2 === 1 ? ['a', 'b'] : ['b', 'a'];
    blocks.push({ round, side: first as Side, warmUp: false }, { round, side: second as Side, warmUp: false });
  }
  return blocks;
}

/** Proofs at the beginning of each block that fill the pipeline: the same number on both sides. */
export function countWarmUp(a: Scheduler, b: Scheduler): number {
  return Math.max(1, a.proofs_in_flight, b.proofs_in_flight);
}

/** (End of the last − end of the last that filled the pipeline) over the proofs between. `endsNs` in any order; null where there are too few. */
export function blockSecondsPerProof(endsNs: readonly Nanoseconds[], warmUpProofs: number): number | null {
  const sorted = [...endsNs].sort((x, y) => x - y);
  const counted = sorted.length - warmUpProofs;
  const from = sorted[warmUpProofs - 1];
  const to = sorted.at(-1);
  return counted < 1 || from === undefined || to === undefined ? null : (to - from) / counted / NS_PER_S;
}

/** Only rounds of which both blocks have ended. */
export function judgeBlocks(blocks: readonly Block[]): Pick<ExperimentReport, 'difference_s' | 'ratio' | 'verdict'> {
  const pairs = new Map<number, Partial<Record<Side, number>>>();
  for (const { round, side, s_per_proof } of blocks) {
    if (s_per_proof === null) continue;
    pairs.set(round, { ...pairs.get(round), [side]: s_per_proof });
  }
  const whole = [...pairs.values()].filter((pair): pair is Record<Side, number> => pair.a !== undefined && pair.b !== undefined);
  const sum = (side: Side) => whole.reduce((total, pair) => total + pair[side], 0);
  const ratio = whole.length > 0 && sum('a') > 0 ? sum('b') / sum('a') : null;
  const difference = pairedInterval(
    whole.map((pair) => pair.a),
    whole.map((pair) => pair.b),
  );
  return { difference_s: difference, ratio, verdict: difference === null ? 'too_few' : verdictOf(difference) };
}

function verdictOf({ low, high }: Range): ExperimentReport['verdict'] {
  if (high < 0) return 'b_faster';
  return low > 0 ? 'a_faster' : 'no_difference_seen';
}

export function reportExperiment(facts: ExperimentFacts): ExperimentReport {
  return { schema: EXPERIMENT_SCHEMA, ...facts, ...judgeBlocks(facts.blocks) };
}
