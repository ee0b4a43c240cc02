/** Idle causes and gaps as text: figures that say what they measure, and what a log could not tell named as such. */
import {
  CAUSES, CAUSE_WORDS, GROUPS, WORKER_STATES, type Cause, type DeviceIdle, type Gap, type GapEnd, type GapsReport, type Group, type IdleParts,
  type IdleReport, type WindowMeasure,
} from '../../contract/idle.ts'; // prettier-ignore
import { schedulerLabel } from '../../contract/scheduler.ts';
import { visibleText } from '../../contract/visible-text.ts';
import { ratio, seconds, table } from './text.ts';

type Named = Cause | Group | 'kernel' | 'unknown';

export function idleText(report: IdleReport): string {
  const lines: string[] = [];
  if (report.engine === 'cuzk') lines.push(...aboutTheLog(report), '');
  lines.push(`${report.run}  ${schedulerLabel(report.scheduler)}, ${report.engine}, ${report.state}, wall ${seconds(report.wall_ns)}`);
  if (report.partial) lines.push('Events are missing: what is unknown is shown as unknown, and the causes are partial.');
  for (const device of report.devices) lines.push('', ...deviceLines(device, report));
  if (report.stretch.length > 0) lines.push('', ...stretchLines(report));
  for (const note of report.notes) lines.push('', `! ${visibleText(note)}`);
  return `${lines.join('\n')}\n`;
}

/** The first honest answer to an old log: what its figure measured. */
function aboutTheLog(report: IdleReport): string[] {
  return report.devices.flatMap((device) => {
    const { legacy_efficiency: legacy, windows, wall_ns: wall } = device;
    if (legacy === null) return [`${device.device}: this log has no job span of it, so its "GPU efficiency" cannot be told.`];
    const measured =
      `${device.device}: the "GPU efficiency" of this log, ${(100 * legacy).toFixed(1)} %, measured job spans: from the moment a worker took a ` +
      'partition to the moment it was done with it, with its work on the CPU before and after the device and its waiting for the lock.';
    const not = 'It did not measure how long the device computed: the log has no line that tells when a kernel ran.';
    const bound = windows.lock.recorded
      ? `Kernels run under the lock alone, so they ran at most ${ratio(windows.lock.ns, wall)} of the time (lock windows right to ±${seconds(windows.lock.error_ns)} in all).`
      : 'Nor does it say when the lock was held in a way that can be placed.';
    return [`${measured} ${not} ${bound}`];
  });
}

function deviceLines(device: DeviceIdle, report: IdleReport): string[] {
  const { windows, wall_ns: wall } = device;
  const label = device.kind === 'cpu' ? `${device.device} (CPU device)` : device.device;
  const lines = [`${label}, of ${seconds(wall)} wall:`];
  const window = (name: string, measure: WindowMeasure, says: string) => {
    const error = measure.error_ns > 0 ? ` (±${seconds(measure.error_ns)})` : '';
    return [`  ${name}`, seconds(measure.ns), ratio(measure.ns, wall), `${says}${error}`];
  };
  const legacy = device.legacy_efficiency === null ? 'not recorded' : `${(100 * device.legacy_efficiency).toFixed(1)} %`;
  const sum = device.legacy_sum === null ? '' : `; the plain sum of spans would say ${(100 * device.legacy_sum).toFixed(1)} %`;
  lines.push(
    ...rows([
      window('job span', windows.job, 'a worker had something to do'),
      window('lock held', windows.lock, 'nobody else could use the device'),
      window('kernel running', windows.kernel, 'the device really computed'),
      ['  "GPU efficiency"', '', legacy, `what the cuzk log would call it: job spans over first start to last end${sum}`],
    ]),
    '',
    ...rows(accountRows(device)),
  );
  if (device.provisional_ns > 0) {
    const parts = CAUSES.flatMap((cause) =>
      device.provisional[cause] ? [`${CAUSE_WORDS[cause].name} ${seconds(device.provisional[cause] ?? 0)}`] : [],
    );
    lines.push(`  Of this ${seconds(device.provisional_ns)} may still change with the next pick-up: ${parts.join(', ')}.`);
  }
  if (device.steady) lines.push('', ...steadyLines(device.steady, report));
  lines.push('', `  ${workerText(device)}`);
  if (device.wasted_kernel_ns > 0) lines.push(`  Kernels of work that failed or was cut off: ${seconds(device.wasted_kernel_ns)}.`);
  return lines;
}

function accountRows(device: DeviceIdle): string[][] {
  const { wall_ns: wall } = device;
  const row = (what: Named, ns: number, more = '') => [
    `  ${CAUSE_WORDS[what].name}`,
    seconds(ns),
    ratio(ns, wall),
    `${CAUSE_WORDS[what].says}${more}`,
  ];
  const found: string[][] = device.kernel_ns === null ? [] : [row('kernel', device.kernel_ns)];
  for (const cause of CAUSES) {
    if (device.idle_ns[cause] > 0) found.push(row(cause, device.idle_ns[cause], detailText(device, cause)));
  }
  for (const group of GROUPS) {
    const share = device.groups[group];
    if (share && share.ns > 0)
      found.push(row(group, share.ns, ` May be: ${share.may_be.map((name) => CAUSE_WORDS[name].name).join(', ')}.`));
  }
  if (device.unknown_ns > 0) found.push(row('unknown', device.unknown_ns));
  return found;
}

function detailText(device: DeviceIdle, cause: Cause): string {
  const details: Record<string, number> = cause === 'in_lock' ? device.details.in_lock : cause === 'permit' ? device.details.permit : {};
  const parts = Object.entries(details).flatMap(([name, ns]) => (ns > 0 ? [`${name} ${seconds(ns)}`] : []));
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

/** "45.4 s/proof: kernels 21.0, in lock 11.2, …": the parts add up to the whole. */
export function steadyLines(steady: NonNullable<DeviceIdle['steady']>, report: Pick<IdleReport, 's_per_proof'>): string[] {
  const whole = (steady.to_ns - steady.from_ns) / steady.proofs;
  const parts = partsOf(steady.per_proof)
    .filter(([, ns]) => ns > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([what, ns]) => `${CAUSE_WORDS[what].name} ${plain(ns)}`);
  const per = report.s_per_proof ?? whole / 1e9;
  return [`  ${per.toFixed(1)} s/proof (steady, ${steady.proofs} proofs): ${parts.join(', ')}`];
}

function partsOf(parts: IdleParts): [Named, number][] {
  return [
    ['kernel', parts.kernel_ns],
    ...CAUSES.map((cause): [Named, number] => [cause, parts.idle_ns[cause]]),
    ...GROUPS.map((group): [Named, number] => [group, parts.groups[group] ?? 0]),
    ['unknown', parts.unknown_ns],
  ];
}

function plain(ns: number): string {
  const s = ns / 1e9;
  return s >= 100 ? s.toFixed(0) : s >= 1 ? s.toFixed(1) : s >= 0.01 ? s.toFixed(2) : '< 0.01';
}

function workerText(device: DeviceIdle): string {
  const total = WORKER_STATES.reduce((sum, state) => sum + device.worker_ns[state], 0);
  if (total === 0) return 'Worker time: not recorded.';
  const parts = WORKER_STATES.flatMap((state) =>
    device.worker_ns[state] > 0 ? [`${state} ${ratio(device.worker_ns[state], total)}`] : [],
  );
  const workers = `${device.workers} worker${device.workers === 1 ? '' : 's'}`;
  return `Time of ${workers} (a thread that waits is no idle device): ${parts.join(', ')}.`;
}

function stretchLines(report: IdleReport): string[] {
  const header = ['Stages: how long', 'N', 'P10', 'MEDIAN', 'P90', 'STRETCH', 'BESIDE SYNTHESES'];
  const body = report.stretch.map((entry) => [
    `  ${entry.stage} of ${visibleText(entry.circuit)}`,
    String(entry.n),
    seconds(entry.p10_ns),
    seconds(entry.p50_ns),
    seconds(entry.p90_ns),
    `× ${entry.stretch.toFixed(2)}`,
    entry.by_syntheses.map(({ syntheses, stretch }) => `${syntheses}: × ${stretch.toFixed(2)}`).join(', '),
  ]);
  return rows([header, ...body]);
}

export function gapsText(report: GapsReport): string {
  if (report.gaps.length === 0) return `${report.run}: no gap of ${length(report.min_ns)} or longer.\n`;
  const header = ['DEVICE', 'START', 'LENGTH', 'CAUSE', 'PARTS', 'AFTER', 'BEFORE'];
  const body = report.gaps.map((gap) => [
    gap.device,
    seconds(gap.start_ns),
    length(gap.length_ns),
    CAUSE_WORDS[gap.cause].name,
    partsText(gap.parts),
    endText(gap.before),
    endText(gap.after),
  ]);
  const causes = Object.entries(report.by_cause) as [Cause | Group, { ns: number; gaps: number }][];
  const proofs = report.by_proof.filter((entry) => entry.ns > 0).slice(0, 10);
  const parts = [
    `${report.run}: the longest gaps of ${length(report.min_ns)} or more, between kernels (${report.gaps.length} listed)\n`,
    table([header, ...body]),
    table([['CAUSE', 'IN ALL', 'GAPS'], ...causes.sort((a, b) => b[1].ns - a[1].ns).map(([cause, { ns, gaps }]) => [CAUSE_WORDS[cause].name, seconds(ns), String(gaps)])]), // prettier-ignore
  ];
  if (proofs.length > 0) {
    parts.push(table([['BEFORE A KERNEL OF', 'IN ALL', 'PARTS'], ...proofs.map((entry) => [visibleText(entry.proof), seconds(entry.ns), partsText(entry.parts)])])); // prettier-ignore
  }
  return parts.join('\n');
}

function partsText(parts: Gap['parts']): string {
  const found = Object.entries(parts) as [Cause | Group, number][];
  return found
    .filter(([, ns]) => ns > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([cause, ns]) => `${CAUSE_WORDS[cause].name} ${length(ns)}`)
    .join(', ');
}

function endText(end: GapEnd | null): string {
  return end === null ? '–' : `${visibleText(end.proof)}.${end.partition}`;
}

function length(ns: number): string {
  if (ns >= 1e9) return seconds(ns);
  return ns >= 1e6 ? `${(ns / 1e6).toFixed(ns >= 1e8 ? 0 : 1)} ms` : `${(ns / 1e3).toFixed(0)} µs`;
}

function rows(cells: string[][]): string[] {
  return cells.length === 0 ? [] : table(cells).trimEnd().split('\n');
}
