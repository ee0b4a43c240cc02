/**
 * The configuration: every key once, with where its value may come from. Flag goes before environment before file before default. The
 * file is data: unknown keys are refused by name and line, and it must be this user's (or root's) alone to write.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import type { ConfigValue } from '../contract/api.ts';
import { InterlockError } from '../contract/errors.ts';
import { nearest } from '../contract/nearest.ts';
import {
  BACKENDS,
  DISPATCHES,
  LOCK_SCOPES,
  ORDERS,
  PRESETS,
  SCHEDULER_LIMITS,
  type Backend,
  type SchedulerSpec,
} from '../contract/scheduler.ts';
import { formatBytes, parseBytes } from '../contract/units.ts';
import { visibleText } from '../contract/visible-text.ts';

type Kind = 'choice' | 'whole' | 'size' | 'folder' | 'file' | 'text' | 'flag';

interface Key {
  kind: Kind;
  choices?: readonly string[];
  limits?: readonly [number, number];
  /** Shown when nothing sets it. */
  fallback: string;
  flag?: string;
  environment?: string;
}

const scheduler = (name: keyof typeof SCHEDULER_LIMITS, kind: Kind = 'whole'): Key => ({
  kind,
  limits: SCHEDULER_LIMITS[name],
  fallback: 'from the preset and the machine',
  flag: `--${name.replace(/_bytes$/, '').replaceAll('_', '-')}`,
});

export const CONFIG_KEYS: Record<string, Key> = {
  data_dir: { kind: 'folder', fallback: '', flag: '--data-dir', environment: 'INTERLOCK_DATA_DIR' },
  params_dir: { kind: 'folder', fallback: '<data_dir>/params', flag: '--params-dir', environment: 'INTERLOCK_PARAMS_DIR' },
  prover: { kind: 'file', fallback: 'found beside the program', environment: 'INTERLOCK_PROVER' },
  library_path: { kind: 'text', fallback: 'not set' },
  backend: { kind: 'choice', choices: BACKENDS, fallback: 'cpu', flag: '--backend' },
  emulate: { kind: 'text', fallback: 'the prover’s own', flag: '--emulate' },
  port: { kind: 'whole', limits: [0, 65_535], fallback: 'the web door’s own', flag: '--port' },
  public_origin: { kind: 'text', fallback: 'not set', flag: '--public-origin' },
  'scheduler.preset': { kind: 'choice', choices: PRESETS, fallback: 'interlock', flag: '--scheduler', environment: 'INTERLOCK_SCHEDULER' },
  'scheduler.dispatch': { kind: 'choice', choices: DISPATCHES, fallback: 'from the preset', flag: '--dispatch' },
  'scheduler.order': { kind: 'choice', choices: ORDERS, fallback: 'fifo', flag: '--order' },
  'scheduler.gpu_workers': scheduler('gpu_workers'),
  'scheduler.lock_scope': { kind: 'choice', choices: LOCK_SCOPES, fallback: 'from the preset', flag: '--lock-scope' },
  'scheduler.partitions_in_flight': scheduler('partitions_in_flight'),
  'scheduler.proofs_in_flight': scheduler('proofs_in_flight'),
  'scheduler.synthesis_workers': scheduler('synthesis_workers'),
  'scheduler.synthesis_threads': scheduler('synthesis_threads'),
  'scheduler.device_threads': scheduler('device_threads'),
  'scheduler.memory_budget': scheduler('memory_budget_bytes', 'size'),
  'scheduler.reserve_post': { kind: 'flag', fallback: 'false' },
};

/** The environment variable of a key. */
export function variableOf(key: string): string {
  return CONFIG_KEYS[key]?.environment ?? `INTERLOCK_${key.replace('.', '_').toUpperCase()}`;
}

export interface Config {
  dataDir: string | null;
  paramsDir: string | null;
  prover: string | null;
  libraryPath: string | null;
  backend: Backend | null;
  emulate: string | null;
  port: number | null;
  publicOrigin: string | null;
  /** Null when nothing of it is set. */
  scheduler: SchedulerSpec | null;
  /** Every key with its value and where it came from. */
  values: ConfigValue[];
}

export interface ConfigSources {
  /** By key, as typed. */
  flags: Record<string, string>;
  environment: NodeJS.ProcessEnv;
  file: string;
  /** The file was named by somebody: then it must be there. */
  fileNamed: boolean;
  defaultDataFolder: string;
}

const MOST_FILE_BYTES = 64 * 1024;

export function readConfig(sources: ConfigSources): Config {
  const fromFile = readConfigFile(sources.file, sources.fileNamed);
  const found = new Map<string, string>();
  const values: ConfigValue[] = [];
  for (const [key, spec] of Object.entries(CONFIG_KEYS)) {
    const variable = variableOf(key);
    const flag = sources.flags[key];
    const environment = sources.environment[variable];
    const inFile = fromFile.get(key);
    let value: string | null = null;
    let source: ConfigValue['source'] = 'default';
    let from = '';
    if (flag !== undefined) [value, source, from] = [flag, 'flag', spec.flag ?? key];
    else if (environment !== undefined && environment !== '') [value, source, from] = [environment, 'environment', variable];
    else if (inFile) [value, source, from] = [inFile.value, 'file', `${sources.file}:${inFile.line}`];
    if (value !== null) {
      const problem = problemOf(spec, value);
      if (problem !== null) throw new InterlockError('usage', `${from}: ${visibleText(value)} ${problem}`, { key });
      found.set(key, value);
    }
    values.push({ key, value: value ?? (key === 'data_dir' ? sources.defaultDataFolder : spec.fallback), source, from });
  }
  const text = (key: string) => found.get(key) ?? null;
  return {
    dataDir: text('data_dir'),
    paramsDir: text('params_dir'),
    prover: text('prover'),
    libraryPath: text('library_path'),
    backend: text('backend') as Backend | null,
    emulate: text('emulate'),
    port: found.has('port') ? Number(found.get('port')) : null,
    publicOrigin: text('public_origin'),
    scheduler: schedulerSpec(found),
    values,
  };
}

/** Null when no key of the scheduler is set. */
export function schedulerSpec(found: ReadonlyMap<string, string>): SchedulerSpec | null {
  const spec: Record<string, unknown> = {};
  for (const [key, value] of found) {
    const name = /^scheduler\.(.+)$/.exec(key)?.[1];
    if (name === undefined) continue;
    const { kind } = CONFIG_KEYS[key] as Key;
    if (kind === 'size') spec[`${name}_bytes`] = parseBytes(value);
    else spec[name] = kind === 'whole' ? Number(value) : kind === 'flag' ? value === 'true' : value;
  }
  return Object.keys(spec).length > 0 ? (spec as SchedulerSpec) : null;
}

/** What is wrong with a value, as the end of a sentence; null when nothing is. */
export function problemOf(spec: Key, value: string): string | null {
  if (value.includes('\0')) return 'holds a NUL.';
  const within = (n: number, show: (n: number) => string) => {
    const [least, most] = spec.limits ?? [-Infinity, Infinity];
    return n < least || n > most ? `is not between ${show(least)} and ${show(most)}.` : null;
  };
  switch (spec.kind) {
    case 'choice': {
      if (spec.choices?.includes(value)) return null;
      const guess = nearest(value, spec.choices ?? []);
      return `is none of ${spec.choices?.join(', ')}${guess ? `; did you mean ${guess}?` : '.'}`;
    }
    case 'whole':
      return /^\d{1,15}$/.test(value) ? within(Number(value), String) : 'is not a whole number.';
    case 'size': {
      const bytes = parseBytes(value);
      return bytes === null ? 'is not a size; write it as 8GiB, 512MiB or a number of bytes (case-exact).' : within(bytes, formatBytes);
    }
    case 'flag':
      return value === 'true' || value === 'false' ? null : 'is neither true nor false.';
    case 'file':
      return isAbsolute(value) ? null : 'is not an absolute path.';
    case 'folder':
      return value === '' ? 'is empty.' : null;
    default:
      return value.length > 4096 ? 'is too long.' : null;
  }
}

function readConfigFile(path: string, named: boolean): Map<string, { value: string; line: number }> {
  const told = visibleText(path);
  const text = readGuarded(path, named);
  const found = new Map<string, { value: string; line: number }>();
  if (text === null) return found;
  let table: Record<string, unknown>;
  try {
    table = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new InterlockError('usage', `${told}:${error.line}: ${visibleText(error.message.split('\n')[0] ?? '')}.`);
  }
  const walk = (values: Record<string, unknown>, prefix: string) => {
    for (const [name, value] of Object.entries(values)) {
      const key = prefix + name;
      const line = lineOf(text, prefix.replace(/\.$/, ''), name);
      if (typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date) && prefix === '') {
        const known = Object.keys(CONFIG_KEYS).some((candidate) => candidate.startsWith(`${key}.`));
        if (known) {
          walk(value as Record<string, unknown>, `${key}.`);
          continue;
        }
      }
      if (!Object.hasOwn(CONFIG_KEYS, key)) {
        const guess = nearest(key, Object.keys(CONFIG_KEYS));
        const hint = guess ? `; did you mean ${guess}?` : `; known are ${Object.keys(CONFIG_KEYS).join(', ')}.`;
        throw new InterlockError('usage', `${told}:${line}: the key ${visibleText(key)} is unknown${hint}`, { key });
      }
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
        throw new InterlockError('usage', `${told}:${line}: ${visibleText(key)} must be a single value.`, { key });
      }
      found.set(key, { value: String(value), line });
    }
  };
  walk(table, '');
  return found;
}

/** Null when the file is not there and nobody named it. Refuses one that others may write to. */
function readGuarded(path: string, named: boolean): string | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'ENOENT' && !named) return null;
    throw new InterlockError('usage', `The configuration ${visibleText(path)} cannot be read (${code}).`);
  }
  try {
    const stat = fstatSync(file);
    const told = visibleText(path);
    if (!stat.isFile()) throw new InterlockError('usage', `The configuration ${told} is no regular file.`);
    if (stat.uid !== 0 && stat.uid !== process.getuid?.())
      throw new InterlockError('usage', `The configuration ${told} belongs to another user.`);
    if (stat.mode & 0o022) throw new InterlockError('usage', `Others may write to the configuration ${told}; chmod go-w mends it.`);
    if (stat.size > MOST_FILE_BYTES) throw new InterlockError('usage', `The configuration ${told} has more than ${MOST_FILE_BYTES} bytes.`);
    const bytes = Buffer.alloc(stat.size);
    const read = readSync(file, bytes, 0, stat.size, 0);
    return bytes.toString('utf8', 0, read);
  } finally {
    closeSync(file);
  }
}

/** The line where a key stands: the parser keeps none. */
function lineOf(text: string, table: string, name: string): number {
  let inTable = '';
  for (const [index, line] of text.split('\n').entries()) {
    const header = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (header !== undefined) inTable = header.replaceAll(/["']/g, '');
    const key = /^\s*["']?([^"'=\s[]+)["']?\s*=/.exec(line)?.[1];
    if (inTable === table && key === name) return index + 1;
    if (table !== '' && inTable === '' && key === `${table}.${name}`) return index + 1;
    if (table === '' && header?.replaceAll(/["']/g, '') === name) return index + 1;
  }
  return 1;
}
