/** simulate: what another scheduler would do with a run, or with a table of stage times. */
import { readFileSync } from 'node:fs';
import type { CallInput, Client } from '../../contract/api.ts';
import type { DeviceIdle } from '../../contract/idle.ts';
import { DISPATCHES, LOCK_SCOPES, ORDERS, PRESETS, SCHEDULER_LIMITS } from '../../contract/scheduler.ts';
import { visibleText } from '../../contract/visible-text.ts';
import { choiceFlag, usage, wholeFlag, type Parsed } from './arguments.ts';
import { EXIT } from './exit-codes.ts';
import { withHistory, type Call } from './call.ts';
import { simulationText } from './simulate-text.ts';
import { parseStageTable } from './stage-table.ts';

const MOST_TABLE_BYTES = 4 * 1024 * 1024;

export async function simulateCommand(call: Call): Promise<number> {
  const input = simulateInput(call.parsed, readText);
  await withHistory(call, async (client) => {
    const report = await client.simulate(input);
    if (call.json) await call.output.data(`${JSON.stringify(report)}\n`);
    else await call.output.data(simulationText(report, await measuredDevices(client, report.run)));
  });
  return EXIT.ok;
}

/** Turns the command line into a call. Errors: `usage`. */
export function simulateInput(parsed: Parsed, read: (file: string) => string): CallInput<'simulate'> {
  const [run] = parsed.words;
  const file = parsed.values.get('fit');
  if (run !== undefined && file !== undefined) throw usage('Give a run or --fit FILE, not both.');
  if (run === undefined && file === undefined) throw usage('interlock simulate needs a run (an id, or last) or --fit FILE.');
  const limited = (name: 'gpu_workers' | 'partitions_in_flight' | 'proofs_in_flight' | 'synthesis_workers') => {
    const [least, most] = SCHEDULER_LIMITS[name];
    const value = wholeFlag(parsed, name.replaceAll('_', '-'), least, most);
    return value === undefined ? {} : { [name]: value };
  };
  const dispatch = choiceFlag(parsed, 'dispatch', DISPATCHES);
  const order = choiceFlag(parsed, 'order', ORDERS);
  const scope = choiceFlag(parsed, 'lock-scope', LOCK_SCOPES);
  const preset = choiceFlag(parsed, 'scheduler', PRESETS);
  const [proofs, rounds, seed] = [wholeFlag(parsed, 'proofs', 1, 1000), wholeFlag(parsed, 'rounds', 1, 200), wholeFlag(parsed, 'seed', 0, 2 ** 32 - 1)]; // prettier-ignore
  return {
    ...(run === undefined ? {} : { run }),
    ...(file === undefined ? {} : { stages: parseStageTable(read(file), file) }),
    ...(preset === undefined ? {} : { preset }),
    ...(proofs === undefined ? {} : { proofs }),
    ...(rounds === undefined ? {} : { rounds }),
    ...(seed === undefined ? {} : { seed }),
    change: {
      ...(dispatch === undefined ? {} : { dispatch }),
      ...(order === undefined ? {} : { order }),
      ...(scope === undefined ? {} : { lock_scope: scope }),
      ...limited('gpu_workers'),
      ...limited('partitions_in_flight'),
      ...limited('proofs_in_flight'),
      ...limited('synthesis_workers'),
    },
  };
}

function readText(file: string): string {
  try {
    const bytes = readFileSync(file);
    if (bytes.length > MOST_TABLE_BYTES) throw usage(`${visibleText(file)} is too large for a table of stage times.`);
    return bytes.toString('utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined || !(error instanceof Error) || !('syscall' in error)) throw error;
    throw usage(`${visibleText(file)} cannot be read: ${code}.`);
  }
}

/** What the run's devices did, to stand beside the simulation; null of a table. */
async function measuredDevices(client: Client, run: string | null): Promise<readonly DeviceIdle[] | null> {
  return run === null ? null : (await client.idle({ run })).devices;
}
