/** What a comparison takes in, and what a log is able to tell. */
import { GROUPS, type Cause, type Group, type IdleReport } from '../contract/idle.ts';
import type { ProofReport, RunReport } from '../contract/run-report.ts';
import type { EventOf } from '../contract/timeline-events.ts';

/** All that is known of one of them. */
export interface ComparedFacts {
  report: RunReport;
  idle: IdleReport;
  /** What its processes said of themselves, in order; empty where no event of it is stored. */
  hellos: readonly EventOf<'hello'>[];
}

/** The proofs that say what the work was: the valid ones, for one that was cut off may lack partitions; all of them where none is valid. */
export function workOf(report: RunReport): ProofReport[] {
  const valid = report.proofs.filter((proof) => proof.outcome === 'valid');
  return valid.length > 0 ? valid : report.proofs;
}

/** What the groups of a report may be: there its causes say nothing. */
export function blindTo(idle: IdleReport): Set<Cause | 'kernel'> {
  return new Set(idle.devices.flatMap((device) => Object.values(device.groups).flatMap((group) => group.may_be)));
}

/** True where both logs tell the same things apart. */
export function isBlindAlike(a: IdleReport, b: IdleReport): boolean {
  const [blindA, blindB] = [blindTo(a), blindTo(b)];
  return blindA.size === blindB.size && [...blindA].every((cause) => blindB.has(cause));
}

/** Names of the groups in a report, for a sentence. */
export function groupsIn(idle: IdleReport): Group[] {
  return GROUPS.filter((group) => idle.devices.some((device) => device.groups[group] !== undefined));
}
