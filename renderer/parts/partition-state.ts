/**
 * How a partition's state looks and what it is called. Shape tells as much as colour does: what waits is hollow, what is worked on is
 * half filled, what is on the device has a ring, what is done is solid, what went wrong has a cross.
 */
import type { PartitionState } from '../../electron/contract/live.ts';

export type Glyph =
  | 'hollow' | 'hollow-dot' | 'half-up' | 'bars' | 'diamond' | 'half-left' | 'hatched' | 'ringed' | 'half-right' | 'solid' | 'cross' | 'cross-solid' | 'slash'; // prettier-ignore

export interface StateLook {
  label: string;
  glyph: Glyph;
  /** Name of a colour token. */
  colour: string;
  meaning: string;
}

export const STATE_LOOKS: Record<PartitionState, StateLook> = {
  pending: { label: 'pending', glyph: 'hollow', colour: 'line-strong', meaning: 'not begun' },
  permit: { label: 'permit', glyph: 'hollow-dot', colour: 'ink-3', meaning: 'waits for a permit (memory or count)' },
  synthesis: { label: 'synthesis', glyph: 'half-up', colour: 'synthesis', meaning: 'its circuit becomes an assignment, on the CPU' },
  withheld: { label: 'withheld', glyph: 'bars', colour: 'synthesis', meaning: 'synthesised; batch keeps it back until the whole proof is' },
  queued: { label: 'queued', glyph: 'diamond', colour: 'synthesis', meaning: 'synthesised; waits for a GPU worker' },
  prepare: { label: 'prepare', glyph: 'half-left', colour: 'finish', meaning: 'a worker prepares it on the CPU, before the device' },
  waiting: { label: 'waiting', glyph: 'hatched', colour: 'finish', meaning: 'its worker waits for the device lock' },
  device: { label: 'device', glyph: 'ringed', colour: 'kernel', meaning: 'on the device, under the lock' },
  finish: { label: 'finish', glyph: 'half-right', colour: 'finish', meaning: 'a worker finishes it on the CPU, after the device' },
  valid: { label: 'valid', glyph: 'solid', colour: 'ok', meaning: 'done, and its proof verifies' },
  invalid: { label: 'invalid', glyph: 'cross-solid', colour: 'bad', meaning: 'done, but its proof does not verify' },
  failed: { label: 'failed', glyph: 'cross', colour: 'bad', meaning: 'a stage failed' },
  cancelled: { label: 'cancelled', glyph: 'slash', colour: 'ink-3', meaning: 'given up, because its proof ended' },
};

/** The order in which a summary names states: nearest to the device first. */
const SUMMARY: [string, PartitionState[]][] = [
  ['device', ['device']],
  ['finish', ['finish']],
  ['prepare', ['prepare', 'waiting']],
  ['queued', ['queued']],
  ['withheld', ['withheld']],
  ['synthesis', ['synthesis']],
  ['permit', ['permit']],
];

export interface PartitionSummary {
  done: number;
  bad: number;
  of: number;
  /** `device 1 · queued 2 · synthesis 3`; empty when nothing is under way. */
  underWay: string;
}

export function summarisePartitions(partitions: readonly PartitionState[]): PartitionSummary {
  const count = (states: PartitionState[]) => partitions.filter((state) => states.includes(state)).length;
  return {
    done: count(['valid']),
    bad: count(['invalid', 'failed']),
    of: partitions.length,
    underWay: SUMMARY.map(([word, states]) => [word, count(states)] as const)
      .filter(([, found]) => found > 0)
      .map(([word, found]) => `${word} ${found}`)
      .join(' · '),
  };
}
