/** Reports as text for a terminal. Every number says what it measures. */
import type { DoctorCheck, ProofSummary } from '../../contract/api.ts';
import type { DeviceWindows, RunReport, RunSummary } from '../../contract/run-report.ts';
import { schedulerLabel } from '../../contract/scheduler.ts';
import { formatBytes } from '../../contract/units.ts';
import { visibleText } from '../../contract/visible-text.ts';

export function seconds(ns: number | null): string {
  if (ns === null) return 'not recorded';
  const s = ns / 1e9;
  return s >= 100 ? `${s.toFixed(0)} s` : s >= 10 ? `${s.toFixed(1)} s` : `${s.toFixed(2)} s`;
}

export function ratio(part: number | null, whole: number): string {
  return whole > 0 && part !== null ? `${((100 * part) / whole).toFixed(1)} %` : '–';
}

/** `2026-11-30 17:41:47 +01:00`: local, with its offset, the same in every language; 0 is the wall clock of a log that tells none. */
export function localTime(wallNs: string): string {
  if (wallNs === '0') return 'not recorded';
  const at = new Date(Number(BigInt(wallNs) / 1_000_000n));
  const two = (value: number) => String(value).padStart(2, '0');
  const offset = -at.getTimezoneOffset();
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())} ${zone}`;
}

const MEANINGS: readonly [keyof DeviceWindows & `${string}_ns`, string, string][] = [
  ['job_span_ns', 'job span', 'a worker had something to do'],
  ['lock_held_ns', 'lock held', 'nobody else could use the device'],
  ['kernel_ns', 'kernel running', 'the device really computed'],
];

export function runText(report: RunReport): string {
  const { scheduler } = report;
  const lines = [
    `${report.run}  ${schedulerLabel(scheduler)} on ${report.backend}  ${report.state}${report.ended_by ? ` (${visibleText(report.ended_by)})` : ''}`,
    `  started ${localTime(report.started_wall_ns)}, wall ${seconds(report.wall_ns)}`,
    `  ${perProofText(report)}`,
  ];
  if (report.imported_from !== null) lines.push(`  imported from ${visibleText(report.imported_from)}`);
  const found = Object.entries(report.found).map(([key, value]) => `${visibleText(key)} ${visibleText(value)}`);
  if (found.length > 0) lines.push(`  its settings: ${found.join(', ')}`);
  if (report.backend === 'emulated') lines.push('  EMULATED: stages only wait; no proof was made');
  for (const device of report.devices) {
    const label = device.kind === 'cpu' ? `${device.device} (CPU device)` : device.device;
    lines.push(`  ${label}, of ${seconds(device.wall_ns)} wall:`);
    for (const [key, name, meaning] of MEANINGS) {
      lines.push(
        `    ${name.padEnd(15)} ${seconds(device[key]).padStart(9)} ${ratio(device[key], device.wall_ns).padStart(8)}   ${meaning}`,
      );
    }
  }
  lines.push('  proofs:');
  for (const proof of report.proofs) {
    const done = proof.partitions.filter((partition) => partition.outcome === 'valid').length;
    const latency = proof.latency_ns === null ? '' : `  ${seconds(proof.latency_ns)}`;
    const hash = proof.sha256 ? `  sha256 ${proof.sha256}` : '';
    const error = proof.error ? `  ${visibleText(proof.error.message)}` : '';
    lines.push(
      `    ${visibleText(proof.name ?? proof.id).padEnd(6)} ${(proof.outcome ?? 'running').padEnd(11)} ${done}/${proof.partitions.length} partitions${latency}${hash}${error}`,
    );
  }
  const { count, lost, unparsed } = report.events;
  lines.push(`  events ${count}${lost > 0 ? `, ${lost} lost` : ''}${unparsed > 0 ? `, ${unparsed} not readable` : ''}`);
  if (report.peak_rss_bytes !== null) lines.push(`  peak memory of the prover ${formatBytes(report.peak_rss_bytes)}`);
  return `${lines.join('\n')}\n`;
}

function perProofText(report: RunReport): string {
  const { value, n, low, high, too_few_below } = report.s_per_proof_detail;
  const latency = report.latency_s === null ? '' : `; latency ${report.latency_s.toFixed(1)} s`;
  if (value === null) return `s/proof: too few proofs to say (${n} valid, ${too_few_below} needed)${latency}`;
  const interval = low !== null && high !== null ? ` (95 %: ${low.toFixed(1)} to ${high.toFixed(1)})` : '';
  return `${value.toFixed(1)} s/proof steady, n = ${n}${interval}, ${(86_400 / value).toFixed(0)} proofs/day${latency}`;
}

export function runsText(runs: RunSummary[]): string {
  if (runs.length === 0) return '';
  const header = ['RUN', 'STATE', 'SCHEDULER', 'BACKEND', 'STARTED', 'WALL', 'VALID', 'OTHER', 'S/PROOF', 'KERNEL', 'LOCK', 'JOB'];
  const share = (value: number | null) => (value === null ? '–' : `${(100 * value).toFixed(1)} %`);
  const rows = runs.map((run) => [
    run.run,
    run.state,
    schedulerLabel(run.scheduler),
    run.backend,
    localTime(run.started_wall_ns),
    seconds(run.wall_ns),
    String(run.proofs.valid),
    String(run.proofs.invalid + run.proofs.failed + run.proofs.interrupted + run.proofs.running),
    run.s_per_proof === null ? '–' : run.s_per_proof.toFixed(1),
    share(run.kernel_ratio),
    share(run.lock_held_ratio),
    share(run.job_span_ratio),
  ]);
  return table([header, ...rows]);
}

export function proofsText(proofs: ProofSummary[]): string {
  return table(
    proofs.map((proof) => [proof.proof, proof.state, proof.circuit, `${proof.partitions} partitions`, visibleText(proof.message ?? '')]),
  );
}

export function doctorText(checks: DoctorCheck[]): string {
  const marks = { ok: 'ok', warning: 'WARNING', error: 'ERROR', not_run: 'not run' };
  return checks
    .map((check) => {
      const line = `${marks[check.state].padEnd(8)} ${check.check.padEnd(16)} ${visibleText(check.found)}\n`;
      return check.cure ? `${line}${' '.repeat(26)}${visibleText(check.cure)}\n` : line;
    })
    .join('');
}

export function table(rows: string[][]): string {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, cell.length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, index) => cell.padEnd(widths[index] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
