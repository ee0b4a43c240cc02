/** What the account says of a picture, in its ticks; the identity is asserted on the way. */
import { expect } from 'vitest';
import { IdleAnalysis } from '../../electron/analysis/idle/idle-analysis.ts';
import type { DeviceIdle, GapsReport, IdleReport } from '../../electron/contract/idle.ts';
import type { StateLine, WorkerState } from '../../electron/contract/timeline-events.ts';
import { parseRun, tellRun, type LaneOptions } from './idle-lanes.ts';

export const MS = 1_000_000;

export type ReportOptions = LaneOptions & { horizon?: number; state?: Partial<StateLine>; engine?: string };

export function analyse(
  picture: string,
  options: ReportOptions = {},
): { report: IdleReport; gaps: (minNs: number, limit: number) => GapsReport } {
  const { horizon, engine = 'builtin', tickNs = MS } = options;
  const run = parseRun(picture, { ...options, ...(horizon === undefined ? {} : { lasts: true }) });
  const analysis = new IdleAnalysis();
  tellRun(run, analysis, options.state);
  const facts = { run: 'r1', state: horizon === undefined ? ('finished' as const) : ('running' as const), engine, scheduler: run.scheduler, proofsInFlight: 1 }; // prettier-ignore
  const report = analysis.build(facts, horizon === undefined ? null : horizon * tickNs);
  for (const device of report.devices) expect(sumOf(device), device.device).toBe(device.wall_ns);
  return { report, gaps: (minNs, limit) => analysis.gaps(minNs, limit) };
}

export function reportOf(picture: string, options: ReportOptions = {}): IdleReport {
  return analyse(picture, options).report;
}

/** kernel + Σ causes + Σ groups + unknown. */
export function sumOf(device: DeviceIdle): number {
  const causes = Object.values(device.idle_ns).reduce((sum, ns) => sum + ns, 0);
  const groups = Object.values(device.groups).reduce((sum, group) => sum + group.ns, 0);
  return (device.kernel_ns ?? 0) + causes + groups + device.unknown_ns;
}

/** What there is, in ticks. */
export function shares(device: DeviceIdle | undefined, tickNs = MS): Record<string, number> {
  if (!device) throw new Error('no such device');
  const groups = Object.fromEntries(Object.entries(device.groups).map(([name, group]) => [name, group.ns]));
  const all = { kernel: device.kernel_ns ?? 0, ...device.idle_ns, ...groups, unknown: device.unknown_ns };
  return Object.fromEntries(Object.entries(all).flatMap(([name, ns]) => (ns === 0 ? [] : [[name, ns / tickNs]])));
}

/** Of the first device. */
export function idle(picture: string, options: ReportOptions = {}): Record<string, number> {
  return shares(reportOf(picture, options).devices[0], options.tickNs);
}

/** A snapshot that says this of one worker. */
export function stateWith(
  worker: Pick<WorkerState, 'worker' | 'is' | 'proof' | 'partition'>,
  more: Partial<StateLine> = {},
): Partial<StateLine> {
  const attempt = worker.proof === null ? null : 1;
  return { workers: [{ device: 'cpu0', since: null, progress: 0, attempt, ...worker }], ...more };
}
