/** One device's account in the words of `interlock idle`. */
import { GROUPS, type Cause, type DeviceIdle, type Group, type IdleParts, type WindowMeasure, WORKER_STATES } from '../../contract/idle.ts';
import { hasJobSpans, hasLockWindows } from '../windows.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import type { ProcessStream } from './stream.ts';
import type { Sweep, SweptDevice } from './sweep.ts';
import type { Tally } from './tally.ts';
import * as term from './terms.ts';

export interface DeviceContext {
  wallNs: Nanoseconds;
  isOver: boolean;
  isLog: boolean;
  /** Proofs in flight. */
  j: number;
  streams: readonly ProcessStream[];
}

const MAY_BE: Record<Group, (Cause | 'kernel')[]> = {
  lock_or_kernel: ['kernel', 'in_lock'],
  inside_job: ['kernel', 'in_lock', 'handoff', 'preamble', 'epilogue'],
  outside_lock: ['handoff', 'preamble', 'epilogue', 'dispatch'],
  between_work: ['permit', 'first_synthesis', 'starved', 'cross_sector'],
};

export function reportDevice(sweep: Sweep, device: SweptDevice, context: DeviceContext): DeviceIdle {
  const { wallNs, isOver, isLog, j, streams } = context;
  const { account } = device;
  const { all, provisional } = sweep.shares(device, wallNs, isOver);
  const provisionalParts = provisionalOf(provisional);
  const { efficiency, sum } = device.sums.legacyFigures();
  return {
    device: account.name,
    kind: account.kind,
    wall_ns: wallNs,
    windows: windowsOf(sweep, device, context),
    kernel_ns: isLog ? null : (all.totals[term.KERNEL] as number),
    idle_ns: term.sumCauses(all.totals),
    details: detailsOf(all),
    groups: groupsOf(all, account.hasAccepts),
    unknown_ns: all.totals[term.UNKNOWN] as number,
    provisional_ns: Object.values(provisionalParts).reduce((total, ns) => total + ns, 0),
    provisional: provisionalParts,
    legacy_efficiency: efficiency,
    legacy_sum: sum,
    worker_ns: Object.fromEntries(WORKER_STATES.map((state, index) => [state, all.workers[index]])) as DeviceIdle['worker_ns'],
    workers: device.slots,
    wasted_kernel_ns: wastedOf(device.number, streams, isOver),
    steady: steadyOf(all, sweep.validEnds, j),
  };
}

/** Σ of a stretch of steady work, by proof. `ends`: of valid proofs, ascending. Null below N = 2j + 1. */
export function steadyOf(tally: Tally, ends: readonly Nanoseconds[], j: number): DeviceIdle['steady'] {
  if (ends.length < 2 * j + 1) return null;
  const proofs = ends.length - j;
  const perProof: IdleParts = term.asParts(tally.steady.map((ns) => ns / proofs));
  return { from_ns: ends[j - 1] as number, to_ns: ends[ends.length - 1] as number, proofs, per_proof: perProof };
}

/** Idle causes only: a kernel that may still turn out to have no end, and what is unknown, are not shown as provisional. */
export function provisionalOf(tally: Tally): Partial<Record<Cause, Nanoseconds>> {
  return Object.fromEntries(Object.entries(term.sumCauses(tally.totals)).filter(([, ns]) => ns > 0));
}

export function detailsOf({ details }: Tally): DeviceIdle['details'] {
  const [copy = 0, barrier = 0, alloc = 0, host = 0, bytes = 0, count = 0] = details;
  return { in_lock: { copy, barrier, alloc, host }, permit: { bytes, count } };
}

function groupsOf(all: Tally, hasAccepts: boolean): DeviceIdle['groups'] {
  const groups: DeviceIdle['groups'] = {};
  const found = term.sumGroups(all.totals);
  for (const group of GROUPS) {
    const ns = found[group];
    if (ns === undefined) continue;
    const more: Cause[] = group === 'between_work' && !hasAccepts ? ['held', 'no_work'] : [];
    groups[group] = { ns, may_be: [...more, ...MAY_BE[group]] };
  }
  return groups;
}

function windowsOf(sweep: Sweep, device: SweptDevice, { wallNs, isOver, isLog }: DeviceContext): DeviceIdle['windows'] {
  const { sums } = device;
  const open = isOver ? { kernel: [], lock: [], job: [], copy: [] } : sweep.openStarts(device);
  const measure = (name: 'kernel' | 'lock' | 'job' | 'copy', recorded: boolean, error = 0): WindowMeasure => {
    if (!recorded) return { ns: null, sum_ns: null, recorded, error_ns: 0 };
    const { union, sum } = sums[name].total(wallNs, open[name]);
    return { ns: union, sum_ns: sum, recorded, error_ns: error };
  };
  return {
    kernel: measure('kernel', !isLog),
    // As in `show`: a union of some of the windows would say less than was held.
    lock: measure('lock', !isLog || hasLockWindows(sums.spans), sums.lockErrorNs),
    job: measure('job', !isLog || hasJobSpans(sums.spans)),
    copy: measure('copy', !isLog),
  };
}

function wastedOf(device: number, streams: readonly ProcessStream[], isOver: boolean): Nanoseconds {
  let wasted = 0;
  for (const { book, isEnded } of streams) {
    for (const record of book.records()) {
      const isLost = record.outcome === null ? isEnded || isOver : record.outcome !== 'valid';
      for (const part of record.parts.values()) {
        if (part.device !== device) continue;
        wasted += part.wastedNs;
        if (isLost || (part.outcome !== null && part.outcome !== 'valid')) wasted += part.kernelNs;
      }
    }
  }
  return wasted;
}

/** Words about what is defined but unusual. */
export function wordsOf(sweep: Sweep, isLog: boolean, inexact: readonly number[]): string[] {
  const words: string[] = [];
  if (isLog) words.push('this log has no kernel lines: kernels and the time between them cannot be told apart inside the lock');
  for (const step of sweep.clockSteps) words.push(`the wall clock stepped ${formatSeconds(step)}: nothing here depends on it`);
  for (const number of inexact) words.push(`clock break: process ${number} is placed by the wall clock, the time before it may be wrong`);
  for (const { account, unmatched, reversed, sums } of sweep.devices) {
    if (reversed > 0)
      words.push(`${account.name}: ${reversed} ${reversed === 1 ? 'kernel ends' : 'kernels end'} before the start, so the time is unknown`);
    if (unmatched > 0) words.push(`${account.name}: ${unmatched} ${unmatched === 1 ? 'end' : 'ends'} without a start`);
    const { spans } = sums;
    if (isLog && sums.unplaced > 0 && !hasLockWindows(spans)) {
      const [unplaced, due] = spans.called > 0 ? [sums.unplacedCalled, spans.called] : [sums.unplaced, spans.job];
      words.push(`${account.name}: ${unplaced} of ${due} lock windows could not be placed, so the time that the lock was held is not told`);
    }
  }
  return words;
}

/** Decimal ns, perhaps negative, as seconds with a sign. */
function formatSeconds(ns: string): string {
  const seconds = Number(ns) / 1e9;
  return `${seconds < 0 ? '−' : '+'}${Math.abs(seconds)} s`;
}
