/** What a simulation says, for a terminal. A predicted figure always stands beside what the same simulation says of today. */
import { CAUSE_WORDS, CAUSES, GROUPS, type DeviceIdle, type IdleParts } from '../../contract/idle.ts';
import { sameScheduler, schedulerLabel, type Scheduler } from '../../contract/scheduler.ts';
import type { Range, SimulationReport } from '../../contract/what-if.ts';
import { visibleText } from '../../contract/visible-text.ts';
import { table } from './text.ts';

/** `measured`: the devices of the run itself, where they are known. */
export function simulationText(report: SimulationReport, measured: readonly DeviceIdle[] | null): string {
  const lines = [headline(report), ...figures(report)];
  const { makespan_s, bound_s, ratio, term } = report.bound;
  lines.push(
    `  bound   ${report.proofs} proofs take ${figure(makespan_s)} s; no order of work could take less than ${figure(bound_s)} s (${ratio.toFixed(3)} of it is reached)`,
    `          limited by ${term}`,
    '',
  );
  lines.push(causesText(report, measured).trimEnd(), '', ...contentionText(report), '  rests on:');
  for (const line of report.rests_on) lines.push(`    ${visibleText(line)}`);
  return `${lines.join('\n')}\n`;
}

function headline({ run, base, scheduler, proofs, rounds, seed }: SimulationReport): string {
  const what = base === null ? schedulerLabel(scheduler) : changeText(base.scheduler, scheduler);
  return `${run ?? 'stage times'}: ${what}  (${rounds} simulated runs of ${proofs} proofs, seed ${seed})`;
}

/** `gpu_workers 1 → 2, lock_scope job → kernels`. */
export function changeText(from: Scheduler, to: Scheduler): string {
  if (sameScheduler(from, to)) return `${schedulerLabel(from)}, as it is`;
  const keys = (Object.keys(to) as (keyof Scheduler)[]).filter((key) => key !== 'preset' && key !== 'overrides' && from[key] !== to[key]);
  return keys.map((key) => `${key} ${String(from[key])} → ${String(to[key])}`).join(', ');
}

function figures({ base, scheduler, s_per_proof, latency_s }: SimulationReport): string[] {
  const lines: string[] = [];
  const now = base?.predicted_s_per_proof ?? null;
  if (base !== null) {
    const measured =
      base.measured_s_per_proof === null ? 's/proof not measured: too few proofs' : `${figure(base.measured_s_per_proof)} s/proof measured`;
    const simulated =
      now === null ? '' : ` (${figure(now.value)} simulated${base.error_ratio === null ? '' : `, ${percent(base.error_ratio)}`})`;
    lines.push(`  now     ${measured}${simulated}`);
  }
  const isChange = base !== null && !sameScheduler(base.scheduler, scheduler);
  const change = now === null || s_per_proof === null || !isChange ? '' : `  ${verdict(now, s_per_proof)}`;
  lines.push(`  then    ${s_per_proof === null ? 's/proof: too few proofs to say' : `${rangeText(s_per_proof)} s/proof`}${change}`);
  if (latency_s !== null) lines.push(`          latency ${rangeText(latency_s)} s`);
  return lines;
}

/** A change that is smaller than what other draws of the same times make is none. */
function verdict(now: Range, then: Range): string {
  const ratio = then.value / now.value - 1;
  const isClear = then.high < now.low || then.low > now.high;
  return isClear ? `${percent(ratio)} against today, simulated` : `${percent(ratio)}: within the spread, so no difference can be told`;
}

function causesText(report: SimulationReport, measured: readonly DeviceIdle[] | null): string {
  const columns: [string, IdleParts | null][] = [];
  if (measured !== null) columns.push(['now, measured', perProof(measured)]);
  if (report.base !== null) columns.push(['now, simulated', perProof(report.base.devices)]);
  columns.push(['then, simulated', perProof(report.devices)]);
  const rows = [['  s of device time per proof', ...columns.map(([name]) => name)]];
  const row = (name: string, of: (parts: IdleParts) => number | undefined) => {
    const values = columns.map(([, parts]) => (parts === null ? undefined : of(parts)));
    const cells = values.map((value) => (value === undefined ? '–' : figure(value / 1e9)));
    if (cells.some((cell) => cell !== '–' && Number(cell) !== 0)) rows.push([`    ${name}`, ...cells]);
  };
  row(CAUSE_WORDS.kernel.name, ({ kernel_ns }) => kernel_ns);
  for (const cause of CAUSES) row(CAUSE_WORDS[cause].name, ({ idle_ns }) => idle_ns[cause]);
  for (const group of GROUPS) row(CAUSE_WORDS[group].name, ({ groups }) => groups[group]);
  row(CAUSE_WORDS.unknown.name, ({ unknown_ns }) => unknown_ns);
  return table(rows);
}

/** Over all devices, of the steady stretch; null where there is none. */
function perProof(devices: readonly DeviceIdle[]): IdleParts | null {
  const all = devices.flatMap(({ steady }) => (steady === null ? [] : [steady.per_proof]));
  const [first, ...rest] = all;
  if (first === undefined) return null;
  const sum: IdleParts = structuredClone(first);
  for (const parts of rest) {
    sum.kernel_ns += parts.kernel_ns;
    sum.unknown_ns += parts.unknown_ns;
    for (const cause of CAUSES) sum.idle_ns[cause] += parts.idle_ns[cause];
    for (const group of GROUPS) {
      if (parts.groups[group] !== undefined) sum.groups[group] = (sum.groups[group] ?? 0) + parts.groups[group];
    }
  }
  return sum;
}

function contentionText({ contention }: SimulationReport): string[] {
  const grows = contention.filter(({ per_synthesis }) => per_synthesis > 0);
  const seen = contention[0]?.seen_up_to ?? 0;
  const lines =
    grows.length === 0
      ? ['  contention: none assumed']
      : [`  contention: each synthesis at once adds ${grows.map(({ stage, per_synthesis }) => `${(100 * per_synthesis).toFixed(1)} % to ${stage}`).join(', ')}`]; // prettier-ignore
  if (contention.some(({ extrapolated }) => extrapolated)) {
    lines.push(
      seen > 0 ? `    EXTRAPOLATED: the run never had as many, or never as few, syntheses at once (${seen} at most)` : '    not measured',
    );
  } else if (seen > 0) lines.push(`    seen up to ${seen} syntheses at once`);
  return lines;
}

function rangeText({ value, low, high }: Range): string {
  return `${figure(value)} (${figure(low)} to ${figure(high)})`;
}

function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value >= 1 ? value.toFixed(2) : value.toFixed(3);
}

function percent(ratio: number): string {
  const text = (100 * Math.abs(ratio)).toFixed(1);
  return `${ratio < 0 && text !== '0.0' ? '−' : '+'}${text} %`;
}
