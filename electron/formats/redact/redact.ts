/**
 * Takes out of texts what an operator does not want to hand on: home folders, host and user names, addresses, secrets, environment. It
 * looks at free text alone; numbers, digests of proofs, ids that Interlock gave and instants stay. What is left out is said in brackets.
 *
 * This is a filter for texts whose writer nobody knows, so it takes out rather too much.
 */
import { EVENTS, type StateLine, type TimelineEvent } from '../../contract/timeline-events.ts';

/** Names of this machine that no pattern can know. */
export interface Local {
  home: string | null;
  host: string | null;
  user: string | null;
}

const SECRET_NAME = String.raw`(?:[A-Za-z0-9_.-]*(?:pass(?:word|wd|phrase)?|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|authorization|cookie|session[_-]?id|jwt)[A-Za-z0-9_.-]*)`;
const TLD =
  '(?:com|net|org|io|dev|cloud|local|localdomain|lan|home|corp|internal|intranet|intra|example|test|invalid|de|eu|uk|cn|jp|ru|us|ch|fr|nl|sg|hk|info|xyz|network|storage|tech|app)';

/** In this order: what is narrower comes first. */
const RULES: [RegExp, string][] = [
  [/-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)/g, '[secret]'],
  [/\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){1,2}/g, '[secret]'],
  [/\b(Bearer|Basic|Digest)\s+[A-Za-z0-9+/_.~=-]{6,}/gi, '$1 [secret]'],
  [/\b(?:gh[pousr]_|github_pat_|glpat-|sk-|rk-|hf_|xox[a-z]-|AKIA|ASIA|AIza|npm_|pypi-)[A-Za-z0-9_-]{8,}/g, '[secret]'],
  [new RegExp(String.raw`(["']?\b${SECRET_NAME}["']?\s*[=:]\s*)(?:"[^"]*"|'[^']*'|\[secret\]|[^\s,;&"'}]+)`, 'gi'), '$1[secret]'],
  [new RegExp(String.raw`(--${SECRET_NAME})\s+\S+`, 'gi'), '$1 [secret]'],
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'<>)\]]+/gi, '$1[host]'],
  [/(?:\/var)?\/(?:home|Users)\/[^/\s"':;,)\]]+/g, '[home]'],
  [/\b[A-Za-z]:\\+Users\\+[^\\\s"':;,)\]]+/gi, '[home]'],
  [/(?<![\w/.-])\/root(?=[/\s"':;,)\]]|$)/g, '[home]'],
  [/(?<![\w/.-])~[a-z_][a-z0-9_-]*(?=\/|\s|$)/g, '[home]'],
  [/[A-Za-z0-9._%+-]+@[A-Za-z0-9][A-Za-z0-9.-]*/g, '[user]@[host]'],
  [/\b(user(?:name)?|login|logname|owner|uid)(\s*[=:]\s*)["']?[^\s,;"')]+["']?/gi, '$1$2[user]'],
  [/\b(host(?:name)?|node(?:name)?|server|machine)(\s*[=:]\s*)["']?[^\s,;"')]+["']?/gi, '$1$2[host]'],
  [/\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)=(?:"[^"]*"|'[^']*'|[^\s,;]+)/g, '$1=[environment]'],
  [/\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b/g, '[address]'],
  [/(?<![\w:])(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{0,4}(?![\w:])|(?<![\w:])(?:[0-9a-f]{1,4}:){1,6}:(?:[0-9a-f]{1,4}:?){0,6}(?![\w:])/gi, '[address]'],
  [new RegExp(String.raw`\b(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+${TLD}(?![\w.])`, 'gi'), '[host]'],
  // Long words of digits and letters look like keys. Names of jobs with dashes between short parts do not.
  [/(?<![A-Za-z0-9+/_=-])(?=[A-Za-z0-9+/_=]*\d)(?=[A-Za-z0-9+/_=]*[A-Za-z])[A-Za-z0-9+/_]{24,}={0,2}/g, '[secret]'],
]; // prettier-ignore

export type RedactText = (text: string) => string;

/** The one function: every text of every format goes through what this answers. */
export function createRedactor(local: Local): RedactText {
  const rules = [...localRules(local), ...RULES];
  return (text) => rules.reduce((left, [pattern, instead]) => left.replace(pattern, instead), text);
}

function localRules({ home, host, user }: Local): [RegExp, string][] {
  const rules: [RegExp, string][] = [];
  if (home !== null && home.length > 1 && home !== '/') rules.push([new RegExp(`${escapeRegExp(home)}(?![\\w-])`, 'g'), '[home]']);
  const names = new Set(host === null ? [] : [host, host.split('.')[0] ?? host]);
  for (const name of names) if (name.length > 1 && name !== 'localhost') rules.push([wordOf(name), '[host]']);
  // `root` is on every machine, and a word of every other message.
  if (user !== null && user.length > 1 && user !== 'root') rules.push([wordOf(user), '[user]']);
  return rules;
}

function wordOf(name: string): RegExp {
  return new RegExp(`(?<![A-Za-z0-9])${escapeRegExp(name)}(?![A-Za-z0-9])`, 'gi');
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Every text inside of a value, keys and all; numbers and the rest as they are. */
export function redactDeep<T>(value: T, redact: RedactText): T {
  if (typeof value === 'string') return redact(value) as T;
  if (Array.isArray(value)) return value.map((part) => redactDeep<unknown>(part, redact)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [redact(key), redactDeep<unknown>(part, redact)])) as T;
}

/** Redacts the free texts of a run's events. Names of boots become numbers, the same boot the same number. */
export class RunRedactor {
  readonly text: RedactText;
  readonly #boots = new Map<string, string>();

  constructor(local: Local) {
    this.text = createRedactor(local);
  }

  event<E extends TimelineEvent>(event: E): E {
    const fields: Record<string, string> = EVENTS[event.e];
    const values = event as unknown as Record<string, unknown>;
    let changed: Record<string, unknown> | null = null;
    for (const field of Object.keys(fields)) {
      const value = values[field];
      const kind = fields[field];
      if (field === 'boot_id') (changed ??= { ...values })[field] = this.boot(value as string);
      else if (field === 'devices') (changed ??= { ...values })[field] = this.#devices(value as { name: string }[]);
      else if ((kind === 'text' || kind === 'text?') && typeof value === 'string') (changed ??= { ...values })[field] = this.text(value);
    }
    return (changed ?? values) as unknown as E;
  }

  /** A snapshot has ids and numbers alone. */
  state(state: StateLine | null): StateLine | null {
    return state;
  }

  boot(id: string): string {
    if (id === 'imported') return id;
    let name = this.#boots.get(id);
    if (name === undefined) this.#boots.set(id, (name = `boot-${this.#boots.size + 1}`));
    return name;
  }

  #devices(devices: { name: string }[]): unknown {
    return devices.map((device) => ({ ...device, name: this.text(device.name) }));
  }
}
