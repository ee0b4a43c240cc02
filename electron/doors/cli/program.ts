/**
 * One call of the command line: reads the arguments, finds out whom to ask (a running host, a host of its own, or the history alone),
 * does what was asked and answers the exit code. What it needs from the host's room comes in as {@link CliSeams}.
 */
import { ERROR_CODES, toFailure } from '../../contract/errors.ts';
import { nearest } from '../../contract/nearest.ts';
import { visibleText } from '../../contract/visible-text.ts';
import { parseArguments, usage } from './arguments.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { COMMANDS, helpText, type CommandName, type CommandSpec } from './flags.ts';
import type { Output } from './output.ts';
import type { Call, CliSeams } from './call.ts';
import { changeCommand } from './change.ts';
import { compareCommand } from './compare.ts';
import { exportCommand } from './export.ts';
import { idleCommand } from './idle.ts';
import { importCommand } from './import.ts';
import { simulateCommand } from './simulate.ts';
import { proveCommand } from './prove.ts';
import { readCommand } from './read.ts';

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
