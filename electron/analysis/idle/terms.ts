/** The terms of the identity as numbers: kernels, unknown, the causes in the table's order, then the groups. */
import { CAUSES, GROUPS, type Cause, type Group, type IdleParts } from '../../contract/idle.ts';
import type { Nanoseconds } from '../../contract/units.ts';

export const KERNEL = 0;
export const UNKNOWN = 1;
export const FIRST_CAUSE = 2;
export const FIRST_GROUP = FIRST_CAUSE + CAUSES.length;
export const TERMS: readonly ('kernel' | 'unknown' | Cause | Group)[] = ['kernel', 'unknown', ...CAUSES, ...GROUPS];

export function termOf(name: Cause | Group): number {
  return TERMS.indexOf(name);
}

export const IN_LOCK = termOf('in_lock');
export const PERMIT = termOf('permit');
export const DOWN = termOf('down');
export const NO_WORK = termOf('no_work');
export const WARM_UP = termOf('warm_up');
export const DISPATCH = termOf('dispatch');
export const LOCK_OR_KERNEL = termOf('lock_or_kernel');
export const INSIDE_JOB = termOf('inside_job');
export const OUTSIDE_LOCK = termOf('outside_lock');
export const BETWEEN_WORK = termOf('between_work');

/** Details of `in_lock`, then of `permit`. */
export const DETAILS = ['copy', 'barrier', 'alloc', 'host', 'bytes', 'count'] as const;
export const HOST_DETAIL = 3;
export const COUNT_DETAIL = 5;

/** One sum a term. */
export function makeTotals(): Float64Array {
  return new Float64Array(TERMS.length);
}

export function sumCauses(totals: Float64Array): Record<Cause, Nanoseconds> {
  return Object.fromEntries(CAUSES.map((cause, index) => [cause, totals[FIRST_CAUSE + index]])) as Record<Cause, Nanoseconds>;
}

/** Only what there is. */
export function sumGroups(totals: Float64Array): Partial<Record<Group, Nanoseconds>> {
  const found: Partial<Record<Group, Nanoseconds>> = {};
  GROUPS.forEach((group, index) => {
    const ns = totals[FIRST_GROUP + index] as number;
    if (ns > 0) found[group] = ns;
  });
  return found;
}

export function asParts(totals: Float64Array): IdleParts {
  return {
    kernel_ns: totals[KERNEL] as number,
    idle_ns: sumCauses(totals),
    groups: sumGroups(totals),
    unknown_ns: totals[UNKNOWN] as number,
  };
}

export function addTotals(to: Float64Array, from: Float64Array): void {
  for (let term = 0; term < to.length; term++) to[term] = (to[term] as number) + (from[term] as number);
}
