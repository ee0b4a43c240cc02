/**
 * `interlock experiment`: two schedulers in turns, in a running host or in one of its own for that long; or one that was, by its id.
 *
 *   first interrupt:  the experiment is stopped, what has not begun is withdrawn, what is known is printed, exit 130
 *   second:           now
 */
import { createClient } from '../../contract/client.ts';
import { CIRCUITS, type Client } from '../../contract/api.ts';
import { sleep } from '../../contract/clock.ts';
import { InterlockError } from '../../contract/errors.ts';
import { schedulerLabel, type Scheduler } from '../../contract/scheduler.ts';
import { formatBytes } from '../../contract/units.ts';
import { visibleText } from '../../contract/visible-text.ts';
import type { ExperimentReport } from '../../contract/what-if.ts';
import { choiceFlag, usage, wholeFlag } from './arguments.ts';
import { EXIT } from './exit-codes.ts';
import { decimals, digitsOf, digitsOfRange, intervalText, percent, signed } from './figures.ts';
import { withHistory, withHost, type Call } from './call.ts';
import { openProvingHost } from './prove.ts';
import { parseSchedulerSpec } from './scheduler-spec.ts';
import { table } from './text.ts';

const LOOK_MS = 300;

export async function experimentCommand(call: Call): Promise<number> {
  const { parsed, seams } = call;
  const [word] = parsed.words;
  if (word !== undefined) return oldExperiment(call, word);
  if (parsed.switches.has('stop')) throw usage('--stop needs the id of an experiment: interlock experiment ID --stop');
  // What is wrong with the flags is said before anything is opened or made.
  inputOf(call, false);
  const { transport, own, close } = await openProvingHost(call);
  const client = createClient(transport);
  let interrupts = 0;
  const wake = new AbortController();
  const stopListening = seams.onInterrupt(() => {
    interrupts++;
    if (interrupts === 1) call.output.say('Interrupted: stopping the experiment. Once more ends at once.');
    if (interrupts === 2) void own?.close('now');
    if (interrupts > 2 || (interrupts === 2 && !own)) process.exit(EXIT.interrupted);
    wake.abort();
  });
  try {
    let report = await client.start_experiment(inputOf(call, own !== null));
    call.output.say(`Experiment ${report.experiment}: A ${sideText(report.a)}, B ${sideText(report.b)}.`);
    report = await follow(call, client, report, () => interrupts > 0, wake.signal);
    if (report.state === 'running') report = await client.stop_experiment({ experiment: report.experiment });
    await print(call, report);
    return interrupts > 0 ? EXIT.interrupted : exitCodeOfReport(report);
  } finally {
    stopListening();
    await close();
  }
}

async function oldExperiment(call: Call, word: string): Promise<number> {
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(word)) throw usage(`${visibleText(word)} is no id.`);
  const report = call.parsed.switches.has('stop')
    ? await withHost(call, (client) => client.stop_experiment({ experiment: word }))
    : await withHistory(call, (client) => client.show_experiment({ experiment: word }));
  await print(call, report);
  return EXIT.ok;
}

function inputOf({ parsed, config }: Call, own: boolean) {
  const side = (flag: 'a' | 'b') => {
    const text = parsed.values.get(flag);
    if (text === undefined) throw usage(`An experiment needs --a and --b, e.g. --a per-partition --b interlock,gpu_workers=2`);
    return parseSchedulerSpec(flag, text);
  };
  const rounds = wholeFlag(parsed, 'rounds', 2, 100);
  const proofs = wholeFlag(parsed, 'proofs', 1, 1000);
  const constraints = wholeFlag(parsed, 'constraints', 16, 200_000_000);
  const partitions = wholeFlag(parsed, 'partitions', 1, 1024);
  const circuit = choiceFlag(parsed, 'circuit', CIRCUITS);
  const backend = config.backend ?? (own && config.emulate === null ? ('cpu' as const) : null);
  return {
    a: side('a'),
    b: side('b'),
    ...(rounds === undefined ? {} : { rounds }),
    ...(proofs === undefined ? {} : { proofs_per_block: proofs }),
    ...(constraints === undefined ? {} : { constraints }),
    ...(partitions === undefined ? {} : { partitions }),
    ...(circuit === undefined ? {} : { circuit }),
    ...(backend === null ? {} : { backend }),
    ...(config.emulate === null ? {} : { emulate: config.emulate }),
  };
}

/** Tells each block as it ends. Comes back when the experiment is over or an interrupt came. */
async function follow(
  { output, seams }: Call,
  client: Client,
  begun: ExperimentReport,
  interrupted: () => boolean,
  signal: AbortSignal,
): Promise<ExperimentReport> {
  const { experiment } = begun;
  let report = begun;
  for (let told = 0; ;) {
    const ended = report.blocks.filter((block) => block.s_per_proof !== null);
    for (const { round, side, s_per_proof: value } of ended.slice(told)) {
      output.say(`round ${round} of ${report.rounds}: ${side.toUpperCase()} ${perProof(value)}`);
    }
    told = ended.length;
    if (report.state !== 'running' || interrupted()) return report;
    const last = report.blocks.at(-1);
    output.live(
      last ? `${last.warm_up ? 'warming up' : `round ${last.round} of ${report.rounds}, ${last.side.toUpperCase()}`} …` : 'beginning …',
    );
    await sleep(seams.clock, LOOK_MS, signal);
    try {
      report = await client.show_experiment({ experiment });
    } catch (error) {
      if (interrupted()) return report;
      throw error instanceof InterlockError && error.code === 'interrupted'
        ? new InterlockError('no_host', `The host ended in the middle of it; see what it has: interlock experiment ${experiment}`)
        : error;
    }
  }
}

async function print({ json, output }: Call, report: ExperimentReport): Promise<void> {
  await output.data(json ? `${JSON.stringify(report)}\n` : experimentText(report));
}

function exitCodeOfReport(report: ExperimentReport): number {
  return report.state === 'done' ? EXIT.ok : EXIT.failed;
}

export function experimentText(report: ExperimentReport): string {
  const { experiment, state, message, a, b, rounds, proofs_per_block: proofs, warm_up_proofs: warmUp } = report;
  const plural = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`;
  const lines = [
    `${experiment}  ${state}${message === null ? '' : ` (${visibleText(message)})`}`,
    `  A ${sideText(a)}`,
    `  B ${sideText(b)}`,
    `  ${plural(rounds, 'round')}, ${plural(proofs, 'proof')} of each block count, ${plural(warmUp, 'proof')} before them to fill the pipeline`,
    '',
  ];
  const rows = roundsOf(report);
  const differences = [...rows.values()].flatMap(({ a: va, b: vb }) => (va === undefined || vb === undefined ? [] : [Math.abs(vb - va)]));
  const digits = digitsOf(Math.max(0, ...differences)) + 1;
  const cells = [...rows].map(([round, { a: va, b: vb }]) => {
    const difference = va === undefined || vb === undefined ? '–' : signed(vb - va, digits);
    return [`  ${round}`, perProof(va), perProof(vb), difference];
  });
  const rounded = cells.length === 0 ? '' : `${table([['  ROUND', 'A', 'B', 'B − A'], ...cells])}\n`;
  return `${lines.join('\n')}\n${rounded}${verdictText(report)}\n`;
}

function roundsOf({ blocks }: Pick<ExperimentReport, 'blocks'>): Map<number, Partial<Record<'a' | 'b', number>>> {
  const rounds = new Map<number, Partial<Record<'a' | 'b', number>>>();
  for (const { round, side, s_per_proof: value, warm_up: isWarmUp } of blocks) {
    if (!isWarmUp && value !== null) rounds.set(round, { ...rounds.get(round), [side]: value });
  }
  return rounds;
}

function verdictText({ difference_s: difference, ratio, verdict, blocks }: ExperimentReport): string {
  const pairs = [...roundsOf({ blocks }).values()].filter((pair) => pair.a !== undefined && pair.b !== undefined).length;
  if (difference === null) return 'Too few rounds to say which is faster; two are the least.';
  const sure = `${percent(ratio)}, ${intervalText(difference)}; ${pairs} rounds`;
  const amount = Math.abs(difference.value).toFixed(digitsOf(difference.value));
  if (verdict === 'no_difference_seen') {
    return `No difference is seen: B − A is ${signed(difference.value, digitsOfRange(difference))} s/proof (${sure})`;
  }
  return `B is ${amount} s/proof ${verdict === 'b_faster' ? 'faster' : 'slower'} than A (${sure})`;
}

function perProof(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : `${value.toFixed(decimals(value))} s/proof`;
}

/** "Dual-worker interlock, modified (gpu_workers=3)" */
function sideText(scheduler: Scheduler): string {
  const shown = (key: string, value: unknown) => (key.endsWith('_bytes') ? formatBytes(Number(value)) : String(value));
  const changes = scheduler.overrides.map((key) => `${key}=${shown(key, scheduler[key as keyof Scheduler])}`);
  return `${schedulerLabel(scheduler)}${changes.length > 0 ? ` (${changes.join(', ')})` : ''}`;
}
