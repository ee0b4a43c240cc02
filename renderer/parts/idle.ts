/**
 * A device's account as the screens draw it: the parts that add up to its length, in the one fixed order, with their words. Pure.
 *
 *   |  kernels  | down … cross-sector, as CAUSES has them | groups of a log that cannot tell | unknown |
 */
import { CAUSE_WORDS, CAUSES, GROUPS, type Cause, type DeviceIdle, type Group, type IdleParts } from '../../electron/contract/idle.ts';
import type { DeviceIdleLive } from '../../electron/contract/live.ts';
import { formatDuration, formatPercent, NONE } from './durations.ts';

export const PART_ORDER = ['kernel', ...CAUSES, ...GROUPS, 'unknown'] as const;
export type PartName = (typeof PART_ORDER)[number];

export interface IdlePart {
  name: PartName;
  /** Provisional time included. */
  ns: number;
  /** How much of it may still get another name. */
  provisionalNs: number;
}

/** Parts that are not 0, in the fixed order; they add up to `lengthNs`. */
export interface IdleAccount {
  device: string;
  parts: IdlePart[];
  lengthNs: number;
  /** Proofs that the account is an average over; null: it is a whole stretch of time. */
  proofs: number | null;
  /** False: kernels are not recorded, so no part stands for them. */
  kernels: boolean;
}

type Named = Partial<Record<PartName, number>>;

function make(device: string, all: Named, provisional: Named, proofs: number | null, kernels: boolean): IdleAccount {
  const parts = PART_ORDER.map((name) => {
    const provisionalNs = provisional[name] ?? 0;
    return { name, ns: (all[name] ?? 0) + provisionalNs, provisionalNs };
  }).filter((part) => part.ns > 0);
  return { device, parts, lengthNs: parts.reduce((sum, part) => sum + part.ns, 0), proofs, kernels };
}

const named = (parts: IdleParts): Named => ({
  kernel: parts.kernel_ns,
  ...parts.idle_ns,
  ...parts.groups,
  unknown: parts.unknown_ns,
});

/** Per proof of the steady stretch where there are enough proofs, else of the wall so far. */
export function accountOfLive(idle: DeviceIdleLive): IdleAccount {
  const kernels = idle.kernel_ns !== null;
  if (idle.steady) return make(idle.device, named(idle.steady.per_proof), {}, idle.steady.proofs, kernels);
  return wallOfLive(idle);
}

/** Of the wall so far, with what is provisional apart. */
export function wallOfLive(idle: DeviceIdleLive): IdleAccount {
  const all: Named = { kernel: idle.kernel_ns ?? 0, ...idle.idle_ns, ...idle.groups, unknown: idle.unknown_ns };
  return make(idle.device, all, idle.provisional, null, idle.kernel_ns !== null);
}

/** Of a run: `per_proof` is null where there are too few proofs. */
export function accountOfRun(idle: DeviceIdle, span: 'per_proof' | 'all'): IdleAccount | null {
  const kernels = idle.kernel_ns !== null;
  if (span === 'per_proof') return idle.steady && make(idle.device, named(idle.steady.per_proof), {}, idle.steady.proofs, kernels);
  const groups = Object.fromEntries(Object.entries(idle.groups).map(([name, group]) => [name, group.ns]));
  const final = Object.fromEntries(CAUSES.map((cause) => [cause, idle.idle_ns[cause] - (idle.provisional[cause] ?? 0)]));
  return make(idle.device, { kernel: idle.kernel_ns ?? 0, ...final, ...groups, unknown: idle.unknown_ns }, idle.provisional, null, kernels);
}

/** The accounts of several devices as one: device time, longer than the wall by as many. */
export function sumAccounts(accounts: readonly IdleAccount[]): IdleAccount | null {
  const [first] = accounts;
  if (!first || accounts.some((account) => (account.proofs === null) !== (first.proofs === null))) return null;
  const all: Named = {};
  const provisional: Named = {};
  for (const { parts } of accounts) {
    for (const part of parts) {
      all[part.name] = (all[part.name] ?? 0) + part.ns - part.provisionalNs;
      provisional[part.name] = (provisional[part.name] ?? 0) + part.provisionalNs;
    }
  }
  return make(
    accounts.map((account) => account.device).join(', '),
    all,
    provisional,
    first.proofs,
    accounts.every((one) => one.kernels),
  );
}

/** Seconds of a part as its label has them: `21.0`, `7.02`, `0.03`; what is there but less is `<0.01`, never 0. */
export function partSeconds(ns: number): string {
  const seconds = ns / 1e9;
  if (ns > 0 && seconds < 0.005) return '<0.01';
  return seconds < 9.995 ? seconds.toFixed(2) : seconds < 999.95 ? seconds.toFixed(1) : Math.round(seconds).toLocaleString('en');
}

/** A part's measure as its label has it: bare seconds where the account is per proof (its head has the unit), else with its unit. */
export function partText(account: IdleAccount, ns: number): string {
  return account.proofs === null ? formatDuration(ns) : partSeconds(ns);
}

/** `of 9.76 s/proof`, `of 38 s so far`, `of 4 min 2 s`. */
export function spanWords(account: IdleAccount, ended: boolean): string {
  if (account.proofs !== null) return `of ${partSeconds(account.lengthNs)}\u00a0s/proof`;
  const length =
    account.lengthNs < 60e9
      ? `${(account.lengthNs / 1e9).toFixed(account.lengthNs < 1e9 ? 2 : account.lengthNs < 10e9 ? 1 : 0)}\u00a0s`
      : formatDuration(account.lengthNs);
  return ended ? `of ${length}` : `of ${length} so far`;
}

const mayBe = (name: PartName): string => {
  const groups: Record<Group, string> = {
    lock_or_kernel: 'kernels or in lock',
    inside_job: 'kernels, in lock, handoff, preamble or epilogue',
    outside_lock: 'handoff, preamble, epilogue or dispatch',
    between_work: 'permit, first synthesis, starved or cross-sector; without lines of acceptance also held or no work',
  };
  return name in groups ? ` May be ${groups[name as Group]}.` : '';
};

/** Definition, measure and count behind one part: what a reader gets on hover and on focus. */
export function explainPart(account: IdleAccount, part: IdlePart): string {
  const share = account.lengthNs > 0 ? `${formatPercent(part.ns / account.lengthNs)} %` : NONE;
  const over =
    account.proofs === null ? `of ${formatDuration(account.lengthNs)}` : `per proof, over ${account.proofs} proofs of the steady stretch`;
  const still =
    part.provisionalNs > 0
      ? ` ${formatDuration(part.provisionalNs)} of it may still get another cause when the device picks up its next partition.`
      : '';
  return `${CAUSE_WORDS[part.name].name}: ${formatDuration(part.ns)} ${over}, ${share} on ${account.device}.\n${CAUSE_WORDS[part.name].says}${mayBe(part.name)}${still}`;
}

/** What is listed where a part's own name has to stand for itself. */
export const partName = (name: PartName | Cause | Group): string => CAUSE_WORDS[name].name;
