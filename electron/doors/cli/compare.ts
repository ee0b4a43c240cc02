/** `interlock compare RUN RUN …`: what differs, what it brought, how sure that is; and the way to `experiment`. */
import { CAUSE_WORDS } from '../../contract/idle.ts';
import { schedulerLabel } from '../../contract/scheduler.ts';
import { formatBytes } from '../../contract/units.ts';
import { visibleText } from '../../contract/visible-text.ts';
import type { ComparedRun, ComparisonReport } from '../../contract/what-if.ts';
import { usage } from './arguments.ts';
import { EXIT } from './exit-codes.ts';
import { experimentCommand } from './experiment.ts';
import { decimals, digitsFor, digitsOf, digitsOfRange, intervalText, percent, signed } from './figures.ts';
import { withHistory, type Call } from './call.ts';
import { table } from './text.ts';

export async function compareCommand(call: Call): Promise<number> {
  if (call.command === 'experiment') return experimentCommand(call);
  const { parsed, json, output } = call;
  for (const word of parsed.words) {
    if (!/^[A-Za-z0-9._-]{1,64}$/.test(word)) throw usage(`${visibleText(word)} is no id.`);
  }
  const report = await withHistory(call, (client) => client.compare({ runs: parsed.words }));
  await output.data(json ? `${JSON.stringify(report)}\n` : comparisonText(report));
  return EXIT.ok;
}

export function comparisonText(report: ComparisonReport): string {
  const { runs, settings, deltas, warnings } = report;
  const names = runs.map((run) => run.run);
  const lines = [
    table([['RUN', 'SCHEDULER', 'ENGINE', 'BACKEND', 'PROOFS', 'S/PROOF', '95 %'], ...runs.map(runRow)]),
    settings.length === 0
      ? 'No setting differs.\n'
      : table([
          ['SETTING', ...names.map((name) => name.toUpperCase())],
          ...settings.map(({ key, values }) => [visibleText(key), ...values.map((value) => settingText(key, value))]),
        ]),
    ...deltas.map((delta, index) => deltaText(delta, runs[0] as ComparedRun, runs[index + 1] as ComparedRun)),
    warnings.map((warning) => `! ${visibleText(warning)}\n`).join(''),
  ];
  return lines.filter((text) => text !== '').join('\n');
}

function runRow({ run, scheduler, engine, backend, n, s_per_proof: { value, low, high } }: ComparedRun): string[] {
  const sure = low === null || high === null ? '–' : intervalOf(low, high);
  return [run, schedulerLabel(scheduler), engine, backend, String(n), value === null ? '–' : value.toFixed(decimals(value)), sure];
}

/** "45.0 to 45.8" */
function intervalOf(low: number, high: number): string {
  const digits = digitsFor(decimals(high), (high - low) / 2);
  return `${low.toFixed(digits)} to ${high.toFixed(digits)}`;
}

function settingText(key: string, value: string | number | boolean | null): string {
  if (value === null) return 'not recorded';
  return key.endsWith('_bytes') && typeof value === 'number' ? formatBytes(value) : visibleText(String(value));
}

type Delta = ComparisonReport['deltas'][number];

function deltaText(delta: Delta, first: ComparedRun, other: ComparedRun): string {
  const [a, b] = [first.run, other.run];
  const counts = `n ${delta.n[1]} and ${delta.n[0]}`;
  const lines = [`${verdictText(delta, a, b, counts)}\n`];
  // As fine as the largest change asks for; what is nothing at that grain is not a row.
  const digits = digitsOf((delta.causes[0]?.delta_ns ?? 0) / 1e9) + 1;
  const rows = delta.causes
    .filter(({ delta_ns: change }) => Math.abs(change / 1e9) >= 0.5 * 10 ** -digits)
    .map(({ cause, delta_ns: change }) => {
      const cells = [first, other].map((run) => `${(partOf(run, cause) / 1e9).toFixed(digits)} s`);
      return [`  ${CAUSE_WORDS[cause].name}`, ...cells, signed(change / 1e9, digits)];
    });
  if (rows.length > 0) lines.push(table([['  DEVICE TIME A PROOF', a.toUpperCase(), b.toUpperCase(), 'CHANGE'], ...rows]));
  return lines.join('');
}

function verdictText(delta: Delta, a: string, b: string, counts: string): string {
  if (delta.s_per_proof === null) {
    const why = delta.verdict === 'not_comparable' ? 'they are not comparable, and there are ' : '';
    return `Nothing is said of ${b} against ${a}: ${why}too few proofs (${counts}).`;
  }
  const sure = `${percent(delta.ratio)}, ${intervalText(delta.s_per_proof)}; ${counts}`;
  const { value } = delta.s_per_proof;
  const amount = Math.abs(value).toFixed(digitsOf(value));
  switch (delta.verdict) {
    case 'faster':
    case 'slower':
      return `${b} is ${amount} s/proof ${delta.verdict} than ${a} (${sure})`;
    case 'not_comparable':
      return `${b} and ${a} are not comparable; ${b} took ${amount} s/proof ${value < 0 ? 'less' : 'more'} (${sure})`;
    default:
      return `No difference is seen between ${b} and ${a}: ${signed(value, digitsOfRange(delta.s_per_proof))} s/proof (${sure})`;
  }
}

function partOf({ per_proof: parts }: ComparedRun, cause: Delta['causes'][number]['cause']): number {
  if (parts === null) return 0;
  if (cause === 'kernel') return parts.kernel_ns ?? 0;
  if (cause === 'unknown') return parts.unknown_ns;
  return (parts.idle_ns as Record<string, number>)[cause] ?? (parts.groups as Record<string, number>)[cause] ?? 0;
}
