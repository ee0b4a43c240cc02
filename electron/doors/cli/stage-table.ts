/**
 * Reads a table of stage times for `simulate --fit FILE`: one row a partition, in seconds.
 *
 *   partition,synthesis_s,prepare_s,device_s,finish_s         or   [{"partition":0,"synthesis_s":29.1,…}, …]
 *   0,29.1,1.909,1.824,0.484
 *
 * `partition` numbers the partitions of a proof; rows of several proofs repeat it. Whatever is not understood is refused by line and column.
 */
import type { CallInput } from '../../contract/api.ts';
import { nearest } from '../../contract/nearest.ts';
import { visibleText } from '../../contract/visible-text.ts';
import { usage } from './arguments.ts';

export type StageTable = NonNullable<CallInput<'simulate'>['stages']>;

const COLUMNS = ['partition', 'synthesis_s', 'prepare_s', 'device_s', 'finish_s'] as const;
type Column = (typeof COLUMNS)[number];
type Row = Record<Column, number>;

const MOST_ROWS = 10_000;
const MOST_PARTITIONS = 1024;
const MOST_SECONDS = 2_592_000;

/** `name` is how the file is called in messages. Errors: `usage`, naming line and column. */
export function parseStageTable(text: string, name: string): StageTable {
  const clean = text.replace(/^\uFEFF/, '');
  const rows = /^\s*[[{]/.test(clean) ? parseJson(clean, name) : parseCsv(clean, name);
  if (rows.length === 0) throw usage(`${visibleText(name)}: the table has no rows.`);
  if (rows.length > MOST_ROWS) throw usage(`${visibleText(name)}: more than ${MOST_ROWS} rows.`);
  return {
    partitions: new Set(rows.map(({ partition }) => partition)).size,
    synthesis: rows.map((row) => row.synthesis_s),
    prepare: rows.map((row) => row.prepare_s),
    device: rows.map((row) => row.device_s),
    finish: rows.map((row) => row.finish_s),
  };
}

function fault(name: string, line: number, column: number, message: string): Error {
  return usage(`${visibleText(name)}:${line}:${column}: ${message}`);
}

function parseCsv(text: string, name: string): Row[] {
  const lines = text.split(/\r?\n/);
  const at = lines.findIndex((line) => line.trim() !== '');
  const header = cells(lines[at] ?? '');
  const columns = header.map(({ value, column }) => {
    const found = COLUMNS.find((known) => known === value);
    if (found !== undefined) return found;
    const guess = nearest(value, COLUMNS);
    throw fault(name, at + 1, column, `${visibleText(value) || 'an empty name'} is no column of stage times${guess ? `; did you mean ${guess}?` : ` (${COLUMNS.join(', ')})`}`); // prettier-ignore
  });
  const twice = columns.findIndex((column, index) => columns.indexOf(column) !== index);
  if (twice >= 0) throw fault(name, at + 1, header[twice]?.column ?? 1, `the column ${columns[twice]} is there twice`);
  const missing = COLUMNS.find((column) => !columns.includes(column));
  if (missing) throw fault(name, at + 1, 1, `the column ${missing} is missing; the header is ${COLUMNS.join(',')}`);
  const rows: Row[] = [];
  for (let index = at + 1; index < lines.length; index++) {
    const line = lines[index] as string;
    if (line.trim() === '') continue;
    const found = cells(line);
    if (found.length !== columns.length) {
      const column = found[columns.length]?.column ?? line.length + 1;
      throw fault(name, index + 1, column, `${found.length} values where the header has ${columns.length}`);
    }
    const row = {} as Row;
    found.forEach(({ value, column }, place) => {
      const key = columns[place] as Column;
      const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(value);
      row[key] = checked(key, isNumber ? Number(value) : value, (message) => fault(name, index + 1, column, message));
    });
    rows.push(row);
  }
  return rows;
}

/** Values of a line with the column (1-based) where each begins. A value may stand in quotes. */
function cells(line: string): { value: string; column: number }[] {
  const found: { value: string; column: number }[] = [];
  let from = 0;
  for (const part of line.split(',')) {
    const value = part.trim().replace(/^"(.*)"$/, '$1');
    found.push({ value, column: from + 1 + (part.length - part.trimStart().length) });
    from += part.length + 1;
  }
  return found;
}

function parseJson(text: string, name: string): Row[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw fault(name, ...placeOf(text, lengthOfJson(text)), 'this is not JSON');
  }
  if (!Array.isArray(value)) throw fault(name, 1, 1, 'the JSON is not an array of rows');
  const starts = startsOfItems(text);
  return value.map((item: unknown, index) => {
    const start = starts[index] ?? 0;
    const refuse = (offset: number, message: string) => fault(name, ...placeOf(text, offset), message);
    if (typeof item !== 'object' || item === null || Array.isArray(item)) throw refuse(start, 'a row is an object');
    const offsetOf = (key: string) => {
      const offset = text.indexOf(JSON.stringify(key), start);
      return offset < 0 || offset >= (starts[index + 1] ?? text.length) ? start : offset;
    };
    for (const key of Object.keys(item)) {
      if (COLUMNS.some((known) => known === key)) continue;
      const guess = nearest(key, COLUMNS);
      throw refuse(offsetOf(key), `${visibleText(key)} is no column of stage times${guess ? `; did you mean ${guess}?` : ''}`);
    }
    const row = {} as Row;
    for (const key of COLUMNS) {
      if (!Object.hasOwn(item, key)) throw refuse(start, `${key} is missing`);
      row[key] = checked(key, (item as Record<string, unknown>)[key], (message) => refuse(offsetOf(key), message));
    }
    return row;
  });
}

/** How long the longest beginning is that could still become JSON: the parser's messages do not always name a position. */
function lengthOfJson(text: string): number {
  const couldGoOn = (length: number) => {
    try {
      JSON.parse(text.slice(0, length));
      return true;
    } catch (error) {
      const message = error instanceof Error ? error.message : '';
      return /end of JSON|Unterminated/.test(message) || Number(/position (\d+)/.exec(message)?.[1] ?? -1) >= length;
    }
  };
  let [good, bad] = [0, text.length + 1];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (couldGoOn(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

/** Where each item of the outermost array begins. */
function startsOfItems(text: string): number[] {
  const starts: number[] = [];
  let depth = 0;
  let isExpected = false;
  for (const match of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]|[^\s[\]{},"]+/g)) {
    const [token] = match;
    const opens = token === '[' || token === '{';
    if (depth === 1 && isExpected && token !== ']') {
      starts.push(match.index);
      isExpected = false;
    }
    if (opens) depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    if (depth === 1 && ((opens && starts.length === 0) || token === ',')) isExpected = true;
  }
  return starts;
}

function placeOf(text: string, offset: number): [line: number, column: number] {
  const before = text.slice(0, offset).split('\n');
  return [before.length, (before.at(-1)?.length ?? 0) + 1];
}

function checked(key: Column, value: unknown, refuse: (message: string) => Error): number {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw refuse(`${key}: ${visibleText(String(value)) || 'nothing'} is not a number`);
  if (key === 'partition') {
    if (!Number.isInteger(value) || value < 0 || value >= MOST_PARTITIONS) throw refuse(`partition must be a whole number from 0 to ${MOST_PARTITIONS - 1}, not ${value}`); // prettier-ignore
  } else if (value < 0 || value > MOST_SECONDS) throw refuse(`${key} must be from 0 to ${MOST_SECONDS} s, not ${value}`);
  return value;
}
