/**
 * One call of the command line: reads the arguments, finds out whom to ask (a running host, a host of its own, or the history alone),
 * does what was asked and answers the exit code. What it needs from the host's room comes in as {@link CliSeams}.
 */
import { createClient } from '../../contract/client.ts';
import type { Client, ConfigValue, DoctorCheck, Transport } from '../../contract/api.ts';
import type { Clock } from '../../contract/clock.ts';
import { ERROR_CODES, InterlockError, toFailure } from '../../contract/errors.ts';
import { nearest } from '../../contract/nearest.ts';
import type { Backend, SchedulerSpec } from '../../contract/scheduler.ts';
import { visibleText } from '../../contract/visible-text.ts';
import { parseArguments, usage, type Parsed } from './arguments.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { COMMANDS, helpText, type CommandName, type CommandSpec } from './flags.ts';
import type { Output } from './output.ts';
import { changeCommand } from './change.ts';
import { compareCommand } from './compare.ts';
import { exportCommand } from './export.ts';
import { idleCommand } from './idle.ts';
import { importCommand } from './import.ts';
import { simulateCommand } from './simulate.ts';
import { proveCommand } from './prove.ts';
import { readCommand } from './read.ts';

/** The configuration as the commands see it. */
export interface CliConfig {
  dataFolder: string;
  backend: Backend | null;
  scheduler: SchedulerSpec | null;
  emulate: string | null;
  values: ConfigValue[];
}

/** A host in this process, for the length of one command. */
export interface OwnHost {
  transport: Transport;
  close(how: 'drain' | 'now'): Promise<void>;
}

export interface CliSeams {
  version: string;
  clock: Clock;
  readConfig(flags: Record<string, string>, file: string | null): CliConfig;
  /** A running host of this data folder, or null. */
  connect(config: CliConfig): Promise<(Transport & { close(): void }) | null>;
  openOwnHost(config: CliConfig): Promise<OwnHost>;
  /** The history alone, read-only. */
  openHistory(config: CliConfig): Promise<OwnHost>;
  /** The history alone, into which runs may be brought. Fails with `host_running`. */
  openHistoryForImport(config: CliConfig): Promise<OwnHost>;
  serve(config: CliConfig, flags: { firstProof: boolean; web: boolean }, output: Output): Promise<number>;
  verify(config: CliConfig, file: string): Promise<{ valid: boolean; exit: number | null; message: string }>;
  /** The checks without a host. */
  doctor(config: CliConfig): Promise<DoctorCheck[]>;
  /** Writes a file whole or not at all; without `force` an existing one is refused. */
  writeFile(path: string, text: string, force: boolean): Promise<void>;
  /** Calls back at SIGINT, SIGTERM and SIGHUP. */
  onInterrupt(run: () => void): () => void;
}

export interface Call {
  command: CommandName;
  parsed: Parsed;
  json: boolean;
  config: CliConfig;
  seams: CliSeams;
  output: Output;
}

export async function runCommandLine(argv: readonly string[], seams: CliSeams, output: Output): Promise<number> {
  let json = argv.includes('--json');
  try {
    const [first, ...rest] = argv;
    if (first === undefined || first === '-h' || first === '--help') {
      await output.data(helpText());
      return first === undefined ? EXIT.usage : EXIT.ok;
    }
    if (first === '-V' || first === '--version') return await sayVersion(seams, output, false);
    const command = commandOf(first);
    const spec: CommandSpec = COMMANDS[command];
    const parsed = parseArguments(rest, spec.flags, spec.mostWords);
    json = parsed.switches.has('json');
    if (parsed.switches.has('help')) {
      await output.data(helpText(command));
      return EXIT.ok;
    }
    if (parsed.words.length < spec.leastWords) throw usage(`interlock ${command} needs ${spec.words}.`);
    if (command === 'version') return await sayVersion(seams, output, json);
    if (command === 'help') {
      await output.data(helpText(parsed.words[0] === undefined ? undefined : commandOf(parsed.words[0])));
      return EXIT.ok;
    }
    const flags: Record<string, string> = {};
    for (const [name, value] of parsed.values) {
      const key = spec.flags[name]?.key;
      if (key !== undefined) flags[key] = value;
    }
    const config = seams.readConfig(flags, parsed.values.get('config') ?? null);
    return await dispatch({ command, parsed, json, config, seams, output });
  } catch (error) {
    return fail(error, json, output);
  } finally {
    await output.flush();
  }
}

async function dispatch(call: Call): Promise<number> {
  switch (call.command) {
    case 'prove':
      return proveCommand(call);
    case 'serve': {
      const { switches } = call.parsed;
      const firstProof = switches.has('first-proof') && !switches.has('no-first-proof');
      return call.seams.serve(call.config, { firstProof, web: !switches.has('no-web') }, call.output);
    }
    case 'withdraw':
    case 'stop':
    case 'start':
    case 'switch':
    case 'link':
      return changeCommand(call);
    case 'idle':
    case 'gaps':
      return idleCommand(call);
    case 'import':
      return importCommand(call);
    case 'export':
      return exportCommand(call);
    case 'simulate':
      return simulateCommand(call);
    case 'compare':
    case 'experiment':
      return compareCommand(call);
    default:
      return readCommand(call);
  }
}

function commandOf(word: string): CommandName {
  if (Object.hasOwn(COMMANDS, word)) return word as CommandName;
  const guess = nearest(word, Object.keys(COMMANDS));
  throw usage(`Unknown command ${visibleText(word)}${guess ? `; did you mean ${guess}?` : '.'} See: interlock help`);
}

async function sayVersion(seams: CliSeams, output: Output, json: boolean): Promise<number> {
  await output.data(json ? `${JSON.stringify({ version: seams.version })}\n` : `interlock ${seams.version}\n`);
  return EXIT.ok;
}

/** Says what went wrong (JSON too, if asked for) and answers the exit code. */
async function fail(error: unknown, json: boolean, output: Output): Promise<number> {
  const failure = toFailure(error);
  output.say(`interlock: ${failure.message}`);
  if (failure.code !== 'usage') output.say(`  ${ERROR_CODES[failure.code].next}`);
  if (json) await output.data(`${JSON.stringify(failure)}\n`);
  return exitCodeOf(failure.code);
}

/** Runs with a client of the running host; fails with `no_host` if there is none. */
export async function withHost<T>(call: Call, work: (client: Client) => Promise<T>): Promise<T> {
  const transport = await call.seams.connect(call.config);
  if (!transport) throw new InterlockError('no_host', `No host is running for ${call.config.dataFolder}.`);
  try {
    return await work(createClient(transport));
  } finally {
    transport.close();
  }
}

/** Runs with the running host's client, or with the history alone. */
export async function withHistory<T>(call: Call, work: (client: Client) => Promise<T>): Promise<T> {
  const transport = await call.seams.connect(call.config);
  if (transport) {
    try {
      return await work(createClient(transport));
    } finally {
      transport.close();
    }
  }
  const history = await call.seams.openHistory(call.config);
  try {
    return await work(createClient(history.transport));
  } finally {
    await history.close('now');
  }
}
