/** Reads a command line: `--flag=value`, `--flag value`, `--` ends flags. Whatever is not known is refused by name. */
import { InterlockError } from '../../contract/errors.ts';
import { nearest } from '../../contract/nearest.ts';
import { visibleText } from '../../contract/visible-text.ts';

export interface FlagSpec {
  /** `value`: takes one; `switch`: takes none. */
  takes: 'value' | 'switch';
  short?: string;
  /** Shown in the help: what stands for the value, and what it does. */
  shape?: string;
  help: string;
  /** The configuration key that it sets. */
  key?: string;
}
export type Flags = Record<string, FlagSpec>;

export interface Parsed {
  values: Map<string, string>;
  switches: Set<string>;
  words: string[];
}

export function parseArguments(argv: readonly string[], flags: Flags, most: number): Parsed {
  const parsed: Parsed = { values: new Map(), switches: new Set(), words: [] };
  const names = Object.keys(flags);
  for (let at = 0; at < argv.length; at++) {
    const argument = argv[at] as string;
    if (argument === '--') {
      parsed.words.push(...argv.slice(at + 1));
      break;
    }
    if (argument === '-' || !argument.startsWith('-')) {
      parsed.words.push(argument);
      continue;
    }
    const cut = argument.indexOf('=');
    const written = cut < 0 ? argument : argument.slice(0, cut);
    const name = names.find((candidate) => `--${candidate}` === written || (flags[candidate]?.short ?? '') === written);
    if (name === undefined) {
      const guess = nearest(written.replace(/^-+/, ''), names);
      throw usage(`Unknown flag ${visibleText(written)}${guess ? `; did you mean --${guess}?` : '.'}`);
    }
    const spec = flags[name] as FlagSpec;
    if (spec.takes === 'switch') {
      if (cut >= 0) throw usage(`--${name} takes no value.`);
      parsed.switches.add(name);
      continue;
    }
    const value = cut >= 0 ? argument.slice(cut + 1) : argv[++at];
    if (value === undefined || (cut < 0 && value.startsWith('--')))
      throw usage(`--${name} needs a value: --${name} ${spec.shape ?? 'VALUE'}`);
    parsed.values.set(name, value);
  }
  if (parsed.words.length > most) throw usage(`Too many arguments: ${visibleText(parsed.words.slice(most).join(' '))}`);
  return parsed;
}

/** A whole number within limits, or undefined when the flag was not given. */
export function wholeFlag(parsed: Parsed, name: string, least: number, most: number): number | undefined {
  const text = parsed.values.get(name);
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (Number.isNaN(value) || value < least || value > most) {
    throw usage(`--${name} must be a whole number from ${least} to ${most}, not ${visibleText(text)}.`);
  }
  return value;
}

export function choiceFlag<T extends string>(parsed: Parsed, name: string, choices: readonly T[]): T | undefined {
  const text = parsed.values.get(name);
  if (text === undefined) return undefined;
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  const guess = nearest(text, choices);
  throw usage(`--${name} must be one of ${choices.join(', ')}, not ${visibleText(text)}${guess ? `; did you mean ${guess}?` : '.'}`);
}

export function usage(message: string): InterlockError {
  return new InterlockError('usage', message);
}
