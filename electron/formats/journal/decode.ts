/**
 * One line of a journal into one value of the contract, strictly: an unknown event or field, a missing field or one of the wrong kind
 * is an error of the line. Driven by the contract's tables; FORMAT.md is the specification. Never throws.
 */
import { depthOf } from '../../contract/json.ts';
import { EVENTS, JOURNAL_FORMAT, MARKS, type FieldKind, type JournalLine } from '../../contract/timeline-events.ts';
import { checkNested } from './schemas.ts';

export type DecodedLine =
  | { ok: true; line: JournalLine }
  /** `offset`: the line's first byte in its file. `tooNew`: the whole journal has a format that this program does not know. */
  | { ok: false; problem: string; offset: number; tooNew?: true };

/** Deepest nesting of a line; the deepest real one has three levels. */
const MAX_DEPTH = 8;

const ID = /^[A-Za-z0-9._-]{1,64}$/;
const DECIMAL = /^(0|-?[1-9]\d{0,39})$/;
const SHA256 = /^[0-9a-f]{64}$/;
/** A number with a fraction or an exponent, or text that looks like one: then the slow way decides. */
const MAYBE_INEXACT = /\d[.eE]/;
const PLAIN_INTEGER = /^-?\d+$/;

type BareKind = Exclude<FieldKind, `${string}?`>;

interface Plan {
  name: string;
  isEvent: boolean;
  fields: string[];
  kinds: BareKind[];
  nullable: boolean[];
  keys: number;
}

const PLANS = new Map<string, Plan>();
for (const [table, isEvent] of [
  [EVENTS, true],
  [MARKS, false],
] as const) {
  // prettier-ignore
  for (const [name, fields] of Object.entries(table) as [string, Record<string, FieldKind>][]) {
    const names = Object.keys(fields);
    PLANS.set(name, {
      name,
      isEvent,
      fields: names,
      kinds: Object.values(fields).map((kind) => kind.replace('?', '') as BareKind),
      nullable: Object.values(fields).map((kind) => kind.endsWith('?')),
      keys: names.length + (isEvent ? 3 : 2),
    });
  }
}

/** `text`: the line without its end. */
export function decodeLine(text: string, offset: number): DecodedLine {
  if (isNested(text) && depthOf(text) > MAX_DEPTH) return refuse(`nested more than ${MAX_DEPTH} deep`, offset);
  let value: Record<string, unknown>;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return refuse('not an object', offset);
    value = parsed as Record<string, unknown>;
  } catch {
    return refuse('not JSON', offset);
  }
  const name = value.e;
  if (typeof name !== 'string') return refuse('e is missing', offset);
  const plan = PLANS.get(name);
  if (!plan) return refuse(`unknown event ${name.slice(0, 64)}`, offset);
  if (name === 'hello' && isUint(value.format) && value.format > JOURNAL_FORMAT) {
    return { ok: false, problem: `journal format ${value.format}; this program knows ${JOURNAL_FORMAT}`, offset, tooNew: true };
  }
  const problem = findProblem(plan, value, text);
  return problem === null ? { ok: true, line: value as unknown as JournalLine } : refuse(`${name}: ${problem}`, offset);
}

function refuse(problem: string, offset: number): DecodedLine {
  return { ok: false, problem, offset };
}

function findProblem(plan: Plan, value: Record<string, unknown>, text: string): string | null {
  if (!isUint(value.t)) return 't is not an instant';
  if (plan.isEvent && !isUint(value.seq)) return 'seq is not a number';
  const { fields, kinds, nullable } = plan;
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index] as string;
    const kind = kinds[index] as BareKind;
    const part = value[field];
    if (part === null && nullable[index]) continue;
    if (!isOfKind(part, kind)) return part === undefined ? `${field} is missing` : `${field} is not ${kind}`;
    if (kind === 'json') {
      const nested = checkNested(plan.name, field, part);
      if (nested !== null) return nested;
    }
  }
  const keys = Object.keys(value);
  if (keys.length !== plan.keys) {
    const known = new Set(['e', 't', ...(plan.isEvent ? ['seq'] : []), ...fields]);
    return `unknown field ${keys.find((key) => !known.has(key))?.slice(0, 64) ?? '?'}`;
  }
  return MAYBE_INEXACT.test(text) && hasInexactNumber(text) ? 'a number is not a plain integer' : null;
}

function isOfKind(part: unknown, kind: BareKind): boolean {
  switch (kind) {
    case 'id':
      return typeof part === 'string' && ID.test(part);
    case 'uint':
      return isUint(part);
    case 'int':
      return Number.isSafeInteger(part) && !Object.is(part, -0);
    case 'decimal':
      return typeof part === 'string' && DECIMAL.test(part);
    case 'text':
      return typeof part === 'string';
    case 'bool':
      return typeof part === 'boolean';
    case 'sha256':
      return typeof part === 'string' && SHA256.test(part);
    case 'json':
      return typeof part === 'object' && part !== null;
  }
}

/** 0 … 2^53 − 1. JSON.parse rounds what is larger to at least 2^53, so nothing rounded passes; −0 is refused, it would be stored as 0. */
function isUint(part: unknown): part is number {
  return Number.isSafeInteger(part) && ((part as number) > 0 || Object.is(part, 0));
}

function isNested(text: string): boolean {
  return text.indexOf('{', 1) >= 0 || text.indexOf('[') >= 0;
}

/** `1.0`, `1e3` or `9007199254740990.9`: JSON.parse makes integers of them that nobody wrote. */
function hasInexactNumber(text: string): boolean {
  let inexact = false;
  JSON.parse(text, (_key, part: unknown, context?: { source?: string }) => {
    if (typeof part === 'number' && context?.source !== undefined && !PLAIN_INTEGER.test(context.source)) inexact = true;
    return part;
  });
  return inexact;
}
