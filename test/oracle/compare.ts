/** Holds what the analysis says of a run against what the oracle says, to the nanosecond; and makes a run that differs small. */
import { IdleAnalysis } from '../../electron/analysis/idle/idle-analysis.ts';
import type { GapEnd, GapsReport, IdleReport } from '../../electron/contract/idle.ts';
import { renumber } from '../support/random-run.ts';
import { askOracle, feedRun, horizonOf, writeRunFile, type OracleDevice, type OracleRun, type SampleRun } from './run-sample.ts';

export interface Analysed {
  report: IdleReport;
  gaps: GapsReport;
}

export function analyse(run: SampleRun): Analysed {
  const analysis = new IdleAnalysis();
  feedRun(run, analysis);
  const { engine, scheduler, state, name } = run;
  const report = analysis.build({ run: name, state, engine, scheduler, proofsInFlight: scheduler?.proofs_in_flight ?? 1 }, horizonOf(run));
  return { report, gaps: analysis.gaps(1, Number.MAX_SAFE_INTEGER) };
}

/** Every value that differs, as `device.what: oracle … analysis …`; empty where all agree. */
export function findDifferences(oracle: OracleRun, { report, gaps }: Analysed): string[] {
  const found: string[] = [];
  const same = (what: string, expected: unknown, got: unknown) => {
    const [one, other] = [JSON.stringify(expected), JSON.stringify(got)];
    if (one !== other) found.push(`${what}: oracle ${one}, analysis ${other}`);
  };
  same('wall_ns', oracle.wall_ns, report.wall_ns);
  same('devices', Object.keys(oracle.devices).sort(), report.devices.map((device) => device.device).sort());
  for (const device of report.devices) {
    const expected = oracle.devices[device.device];
    if (!expected) continue;
    const name = device.device;
    same(`${name}.wall_ns`, expected.wall_ns, device.wall_ns);
    same(`${name}.kernel_ns`, expected.kernel_ns, device.kernel_ns);
    same(`${name}.unknown_ns`, expected.unknown_ns, device.unknown_ns);
    same(`${name}.idle_ns`, present(expected.idle_ns), present(device.idle_ns));
    same(`${name}.details.in_lock`, present(expected.details.in_lock), present(device.details.in_lock));
    same(`${name}.details.permit`, present(expected.details.permit), present(device.details.permit));
    const groups = Object.fromEntries(Object.entries(device.groups).map(([group, value]) => [group, value.ns]));
    same(`${name}.groups`, present(expected.groups), present(groups));
    if (report.engine !== 'cuzk') {
      same(`${name}.worker_ns`, present(expected.worker_ns), present(device.worker_ns));
      same(`${name}.provisional`, present(expected.provisional), present(device.provisional));
      same(`${name}.provisional_ns`, expected.provisional_ns, device.provisional_ns);
    }
    for (const kind of ['kernel', 'lock', 'job', 'copy'] as const) {
      const { ns, sum_ns, recorded } = device.windows[kind];
      same(`${name}.windows.${kind}`, expected.windows[kind], recorded ? { ns, sum_ns } : ns);
    }
    same(`${name}.legacy_efficiency`, expected.legacy_efficiency, device.legacy_efficiency);
    same(`${name}.legacy_sum`, expected.legacy_sum, device.legacy_sum);
    compareGaps(name, expected, gaps, same);
  }
  return found;
}

function compareGaps(
  name: string,
  expected: OracleDevice,
  gaps: GapsReport,
  same: (what: string, one: unknown, other: unknown) => void,
): void {
  const end = (at: GapEnd | null) => at && [at.proof, at.attempt, at.partition];
  const got = gaps.gaps
    .filter((gap) => gap.device === name)
    .sort((one, other) => one.start_ns - other.start_ns)
    .map((gap) => ({ ...gap, parts: present(gap.parts), before: end(gap.before), after: end(gap.after) }));
  same(`${name}.gaps`, expected.gaps.length, got.length);
  for (const [index, gap] of expected.gaps.entries()) {
    const { start_ns, length_ns, cause, parts, before, after } = got[index] ?? ({} as Partial<(typeof got)[number]>);
    const facts = [gap.start_ns, gap.length_ns, gap.cause, present(gap.parts), gap.before, gap.after];
    same(`${name}.gaps[${index}]`, facts, [start_ns, length_ns, cause, parts, before, after]);
  }
}

/** What is not 0, in the order of names. */
function present(parts: Partial<Record<string, number>>): [string, number][] {
  return Object.entries(parts)
    .filter((part): part is [string, number] => part[1] !== undefined && part[1] !== 0)
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

/** The smallest run found, by leaving things out, that still differs (in a value whose name matches). */
export function shrinkRun(run: SampleRun, what = /./): SampleRun {
  for (let best = run; ;) {
    const smaller = [...leaveOut(best)];
    const answers = askOracle(smaller.map(writeRunFile).join(''));
    const next = smaller.find((one, index) => differs(answers[index] as OracleRun, one, what));
    if (!next) return best;
    best = next;
  }
}

function differs(answer: OracleRun, run: SampleRun, what: RegExp): boolean {
  try {
    return findDifferences(answer, analyse(run)).some((line) => what.test(line));
  } catch {
    return true;
  }
}

function* leaveOut(run: SampleRun): Generator<SampleRun> {
  const without = <T>(list: T[], index: number) => list.filter((_, at) => at !== index);
  for (const [index, process] of run.processes.entries()) {
    if (run.processes.length > 1 && index > 0) yield { ...run, processes: without(run.processes, index) };
    const changed = (part: Partial<typeof process>) => {
      const copy = { ...process, ...part, events: (part.events ?? process.events).map((event) => ({ ...event })) };
      renumber(copy);
      return { ...run, processes: run.processes.map((one, at) => (at === index ? copy : one)) };
    };
    for (let size = process.events.length >> 1; size >= 1; size >>= 1) {
      for (let from = 0; from + size <= process.events.length; from += size) {
        const gone = process.events.slice(from, from + size);
        if (gone.some((event) => ['hello', 'run_started', 'run_ended'].includes(event.e))) continue;
        yield changed({ events: process.events.filter((event) => !gone.includes(event)) });
      }
    }
    for (const at of process.losses.keys()) yield changed({ losses: without(process.losses, at) });
  }
  for (const at of run.holds.keys()) yield { ...run, holds: without(run.holds, at) };
}
