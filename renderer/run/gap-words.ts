/** A gap in words: where it lies, and between which partitions. Pure. */
import type { Gap, GapEnd } from '../../electron/contract/idle.ts';
import { visibleText } from '../../electron/contract/visible-text.ts';
import type { IdleAccount } from '../parts/idle.ts';
import { PART_ORDER } from '../parts/idle.ts';

/** `s-t01000-12.9`; a repeated attempt is named. */
export function endName(end: GapEnd): string {
  return `${visibleText(end.proof)}.${end.partition}${end.attempt > 1 ? ` (attempt ${end.attempt})` : ''}`;
}

/** `between p1.9 and p2.0`, `before p1.0`, `after p9.9`, `no kernel ran`. */
export function placeOf(gap: Pick<Gap, 'before' | 'after'>): string {
  if (gap.before && gap.after) return `between ${endName(gap.before)} and ${endName(gap.after)}`;
  if (gap.after) return `before ${endName(gap.after)}, the first`;
  if (gap.before) return `after ${endName(gap.before)}, the last`;
  return 'no kernel ran before or after it';
}

/** The gap's parts as an account, to be drawn by the same bar as a run's. */
export function accountOfGap(gap: Gap): IdleAccount {
  const parts = PART_ORDER.flatMap((name) => {
    const ns = name === 'kernel' || name === 'unknown' ? 0 : (gap.parts[name] ?? 0);
    return ns > 0 ? [{ name, ns, provisionalNs: 0 }] : [];
  });
  return { device: gap.device, parts, lengthNs: gap.length_ns, proofs: null, kernels: true };
}
