/** Why runs may not be comparable, in sentences; and whether their proofs are the same work at all. */
import { CAUSE_WORDS } from '../contract/idle.ts';
import type { ProofReport, RunReport } from '../contract/run-report.ts';
import { groupsIn, isBlindAlike, workOf, type ComparedFacts } from './comparison-facts.ts';

export interface Warned {
  warnings: string[];
  /** False where a proof of one is not a proof of the other: another backend, circuit or number of partitions. */
  sameWork: boolean;
}

export function warnAbout(sides: readonly ComparedFacts[]): Warned {
  const warnings: string[] = [];
  /** One sentence where they differ in `of`; `null` is not known and differs from nothing. */
  const differ = (of: (side: ComparedFacts) => string | number | null, say: (told: string) => string): boolean => {
    const values = sides.map(of);
    const known = values.filter((value) => value !== null);
    if (new Set(known).size <= 1) return false;
    warnings.push(say(sides.map(({ report }, index) => `${report.run} ${values[index] ?? 'not recorded'}`).join(', ')));
    return true;
  };

  const names = sides.map(({ report }) => report.run);
  for (const name of new Set(names.filter((run, index) => names.indexOf(run) !== index))) warnings.push(`${name} is set beside itself.`);
  const otherWork = [
    differ(({ report }) => report.backend, (told) => `They ran on different backends (${told}): their seconds are not the same thing.`),
    differ(({ report }) => listed(report, (proof) => proof.circuit), (told) => `They prove different circuits (${told}): a proof is not the same work.`),
    differ(
      ({ report }) => listed(report, (proof) => proof.partitions.length),
      (told) => `Their proofs have different numbers of partitions (${told}): a proof is not the same work.`,
    ),
  ]; // prettier-ignore
  differ(
    ({ report }) => (report.backend === 'emulated' ? (report.emulate ?? 'the usual ones') : null),
    (told) => `Their stages are emulated with different durations (${told}).`,
  );
  differ(
    ({ report }) => report.engine,
    (told) => `They come from different engines (${told}).`,
  );
  differ(devicesOf, (told) => `They ran on different devices (${told}); figures are per proof over all devices of a run.`);
  differ(machineOf, (told) => `They ran on different machines (${told}).`);
  differ(versionOf, (told) => `They were made by different versions of the prover (${told}).`);

  for (const side of sides) warnings.push(...aboutOne(side));
  const [first, ...others] = sides;
  if (first && others.some((other) => !isBlindAlike(first.idle, other.idle))) {
    const wordsOf = (side: ComparedFacts) => groupsIn(side.idle).map((group) => `“${CAUSE_WORDS[group].name}”`);
    const blind = sides
      .filter((side) => groupsIn(side.idle).length > 0)
      .map((side) => `${side.report.run} only says ${wordsOf(side).join(', ')}`);
    warnings.push(`Not every log tells the same causes apart (${blind.join('; ')}); what one cannot tell is not compared.`);
  }
  return { warnings, sameWork: !otherWork.includes(true) };
}

function aboutOne({ report, idle }: ComparedFacts): string[] {
  const { run, state } = report;
  const warnings: string[] = [];
  if (state === 'running') warnings.push(`${run} still runs; its figures are those of now.`);
  if (state === 'interrupted')
    warnings.push(`${run} was interrupted: it ends at its last event, and proofs that were cut off are not counted.`);
  if (state === 'failed') warnings.push(`${run} failed${report.ended_by ? ` (${report.ended_by})` : ''}.`);
  if (report.imported_from !== null) {
    warnings.push(
      `${run} was imported from ${report.imported_from}: it was not measured here, and what its log does not say is not compared.`,
    );
  }
  if (idle.partial || report.events.lost > 0) warnings.push(`Events of ${run} are missing: some of its time is unknown.`);
  const bad = report.proofs.filter((proof) => proof.outcome === 'failed' || proof.outcome === 'invalid').length;
  if (bad > 0) warnings.push(`${count(bad, 'proof')} of ${run} failed; their time counts, they do not.`);
  const { n, too_few_below: least, value, high } = report.s_per_proof_detail;
  if (value === null) warnings.push(`${run} has ${count(n, 'valid proof')}; below ${least} nothing is said about its pace.`);
  else if (high === null) warnings.push(`${run} has ${count(n, 'valid proof')}: too few to say how sure its pace is.`);
  const [circuits, sizes] = [listed(report, (proof) => proof.circuit), listed(report, (proof) => proof.partitions.length)];
  if (circuits?.includes(AND)) warnings.push(`${run} itself proves different circuits (${circuits}).`);
  if (sizes?.includes(AND)) warnings.push(`The proofs of ${run} itself have different numbers of partitions (${sizes}).`);
  return warnings;
}

const AND = ' and ';

function listed(report: RunReport, of: (proof: ProofReport) => string | number): string | null {
  const distinct = [...new Set(workOf(report).map(of))].sort();
  return distinct.length === 0 ? null : distinct.join(AND);
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}

/** Kinds and names, so that `cpu0` of two machines is not taken for one device; an importer's nameless ones by their number. */
function devicesOf({ hellos }: ComparedFacts): string | null {
  const hello = hellos[0];
  if (!hello) return null;
  return (hello.devices as { device: string; kind?: string; name?: string }[])
    .map(({ device, kind, name }) => name || `${device}${kind ? ` (${kind})` : ''}`)
    .sort()
    .join(' + ');
}

function machineOf({ hellos }: ComparedFacts): string | null {
  const hello = hellos[0];
  if (!hello || hello.host_cpus === 0) return null;
  return `${hello.host_cpus} CPUs and ${(hello.memory_total_bytes / 2 ** 30).toFixed(1)} GiB`;
}

function versionOf({ hellos }: ComparedFacts): string | null {
  return hellos[0]?.version || null;
}
