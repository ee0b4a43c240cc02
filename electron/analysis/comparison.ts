/**
 * Runs beside each other: which settings differ, what a proof cost under each, and how sure the difference is. Every run is set against
 * the first. Nothing here says why one is faster; the causes say where the device's time went instead.
 */
import { CAUSES, GROUPS, type Cause, type DeviceIdle, type IdleReport } from '../contract/idle.ts';
import type { SecondsPerProof } from '../contract/run-report.ts';
import type { Scheduler, SchedulerSettings } from '../contract/scheduler.ts';
import type { EventOf } from '../contract/timeline-events.ts';
import { NS_PER_S } from '../contract/units.ts';
import { COMPARISON_SCHEMA, type ComparedRun, type ComparisonReport } from '../contract/what-if.ts';
import { blindTo, isBlindAlike, workOf, type ComparedFacts } from './comparison-facts.ts';
import { warnAbout } from './comparison-warnings.ts';
import { welchInterval } from './statistics.ts';
import { estimateBehind } from './throughput.ts';

type Value = string | number | boolean | null;
type Delta = ComparisonReport['deltas'][number];

/** In the order of the table. Names are those of the journal. */
const SCHEDULER_KEYS: readonly ('preset' | keyof SchedulerSettings)[] = [
  'preset', 'dispatch', 'gpu_workers', 'lock_scope', 'partitions_in_flight', 'proofs_in_flight', 'synthesis_workers', 'synthesis_threads',
  'device_threads', 'memory_budget_bytes', 'order', 'reserve_post',
]; // prettier-ignore

export function compareRuns(sides: readonly ComparedFacts[]): ComparisonReport {
  const runs = sides.map(toComparedRun);
  const [first, ...others] = sides;
  const deltas = first
    ? others.map((other, index) => compareTwo(first, other, runs[0] as ComparedRun, runs[index + 1] as ComparedRun))
    : [];
  return { schema: COMPARISON_SCHEMA, runs, settings: differingSettings(sides), deltas, warnings: warnAbout(sides).warnings };
}

function toComparedRun({ report, idle }: ComparedFacts): ComparedRun {
  const { run, engine, backend, scheduler, s_per_proof_detail } = report;
  return {
    run,
    engine,
    backend,
    scheduler,
    n: s_per_proof_detail.n,
    s_per_proof: s_per_proof_detail,
    per_proof: isOfSameProofs(s_per_proof_detail, idle.devices) ? perProofOf(idle.devices) : null,
  };
}

/**
 * Of a run that lasts, the account reaches to the horizon, and a proof's end may be known a moment before: then the causes are of fewer
 * proofs than s/proof is, and are left out rather than set beside it.
 */
function isOfSameProofs({ value }: SecondsPerProof, devices: readonly DeviceIdle[]): boolean {
  return devices.every(({ steady }) => {
    if (steady === null || value === null) return true;
    return Math.abs((steady.to_ns - steady.from_ns) / steady.proofs - value * NS_PER_S) < 1;
  });
}

/** Summed over the devices whose steady stretch is known; null where there is none. Null kernels: one of them has no kernel lines. */
function perProofOf(devices: readonly DeviceIdle[]): ComparedRun['per_proof'] {
  const steady = devices.filter((device) => device.steady !== null);
  if (steady.length === 0) return null;
  const sum = (of: (device: DeviceIdle) => number) => Math.round(steady.reduce((total, device) => total + of(device), 0));
  const recorded = steady.every((device) => device.kernel_ns !== null);
  const groups = GROUPS.filter((group) => steady.some((device) => device.steady?.per_proof.groups[group] !== undefined));
  return {
    kernel_ns: recorded ? sum((device) => device.steady?.per_proof.kernel_ns ?? 0) : null,
    idle_ns: Object.fromEntries(CAUSES.map((cause) => [cause, sum((device) => device.steady?.per_proof.idle_ns[cause] ?? 0)])),
    groups: Object.fromEntries(groups.map((group) => [group, sum((device) => device.steady?.per_proof.groups[group] ?? 0)])),
    unknown_ns: sum((device) => device.steady?.per_proof.unknown_ns ?? 0),
  };
}

function differingSettings(sides: readonly ComparedFacts[]): ComparisonReport['settings'] {
  const tables = sides.map(settingsOf);
  const keys = [...new Set(tables.flatMap((table) => [...table.keys()]))];
  return keys
    .map((key) => ({ key, values: tables.map((table) => table.get(key) ?? null) }))
    .filter(({ values }) => values.some((value) => value !== values[0]));
}

/** Null: not recorded. */
function settingsOf({ report, hellos }: ComparedFacts): Map<string, Value> {
  const table = new Map<string, Value>();
  const distinct = (of: (hello: EventOf<'hello'>) => string | number) => joined(hellos.map(of));
  table.set('engine', report.engine);
  table.set(
    'version',
    distinct((hello) => hello.version),
  );
  table.set('backend', report.backend);
  table.set('emulate', report.emulate);
  table.set(
    'host_cpus',
    distinct((hello) => hello.host_cpus),
  );
  table.set(
    'memory_total_bytes',
    distinct((hello) => hello.memory_total_bytes),
  );
  table.set('devices', devicesOf(hellos));
  table.set('circuit', joined(workOf(report).map((proof) => proof.circuit)));
  table.set('partitions', joined(workOf(report).map((proof) => proof.partitions.length)));
  for (const key of SCHEDULER_KEYS) table.set(key, (report.scheduler as Scheduler | null)?.[key] ?? null);
  for (const [key, value] of Object.entries(report.found).sort(([a], [b]) => (a < b ? -1 : 1))) table.set(`found.${key}`, value);
  return table;
}

/** The one value, several of them in words, or null of none. What an importer could not know (0, an empty text) counts as none. */
function joined(values: readonly (string | number)[]): string | number | null {
  const distinct = [...new Set(values.filter((value) => value !== 0 && value !== ''))];
  return distinct.length <= 1 ? (distinct[0] ?? null) : distinct.join(', ');
}

function devicesOf(hellos: readonly EventOf<'hello'>[]): string | null {
  const named = hellos.flatMap((hello) => hello.devices as { device: string; kind?: string; name?: string }[]);
  const words = named.map(({ device, kind, name }) => (name ? `${device} ${name}` : kind ? `${device} ${kind}` : device));
  return [...new Set(words)].join(', ') || null;
}

function compareTwo(first: ComparedFacts, other: ComparedFacts, a: ComparedRun, b: ComparedRun): Delta {
  const [ea, eb] = [estimateBehind(a.s_per_proof), estimateBehind(b.s_per_proof)];
  const difference = ea && eb && welchInterval(ea, eb);
  const ratio = ea && eb && ea.mean > 0 ? eb.mean / ea.mean : null;
  const comparable = warnAbout([first, other]).sameWork;
  return {
    run: b.run,
    s_per_proof: difference,
    ratio,
    n: [a.n, b.n],
    causes: causeDeltas(first.idle, other.idle, a, b),
    verdict: !comparable ? 'not_comparable' : difference === null ? 'too_few' : verdictOf(difference),
  };
}

function verdictOf({ low, high }: { low: number; high: number }): Delta['verdict'] {
  if (high < 0) return 'faster';
  return low > 0 ? 'slower' : 'no_difference_seen';
}

/**
 * Largest first; what is 0 on both sides is left out. A cause that a group of either side may hide is 0 there for want of knowledge, so it
 * is compared only where both sides' logs are blind alike.
 */
function causeDeltas(idleA: IdleReport, idleB: IdleReport, a: ComparedRun, b: ComparedRun): Delta['causes'] {
  const [pa, pb] = [a.per_proof, b.per_proof];
  if (!pa || !pb) return [];
  const [blindA, blindB] = [blindTo(idleA), blindTo(idleB)];
  const hidden = (name: Cause | 'kernel') => blindA.has(name) || blindB.has(name);
  const deltas: Delta['causes'] = [];
  const add = (cause: Delta['causes'][number]['cause'], from: number, to: number) => {
    if (from !== 0 || to !== 0) deltas.push({ cause, delta_ns: to - from });
  };
  if (pa.kernel_ns !== null && pb.kernel_ns !== null && !hidden('kernel')) add('kernel', pa.kernel_ns, pb.kernel_ns);
  for (const cause of CAUSES) if (!hidden(cause)) add(cause, pa.idle_ns[cause] ?? 0, pb.idle_ns[cause] ?? 0);
  if (isBlindAlike(idleA, idleB)) for (const group of GROUPS) add(group, pa.groups[group] ?? 0, pb.groups[group] ?? 0);
  add('unknown', pa.unknown_ns, pb.unknown_ns);
  return deltas.sort((x, y) => Math.abs(y.delta_ns) - Math.abs(x.delta_ns));
}
