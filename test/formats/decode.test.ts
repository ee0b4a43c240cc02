/** One line of a journal: what is taken, and all that is not. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EVENTS, MARKS, type EventName, type FieldKind } from '../../electron/contract/timeline-events.ts';
import { decodeLine } from '../../electron/formats/journal/decode.ts';
import { encodeLine } from '../../electron/formats/journal/encode.ts';
import { LineSplitter } from '../../electron/formats/journal/lines.ts';
import { makeEvent, makeState } from '../support/journal.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/journal/', import.meta.url));
const NAMES = Object.keys(EVENTS) as EventName[];

const problemOf = (text: string) => {
  const decoded = decodeLine(text, 7);
  return decoded.ok ? null : decoded.problem;
};
/** `fields` replaces values; `drop` removes one. */
const lineWith = (e: EventName, fields: Record<string, unknown>, drop?: string) => {
  const event: Record<string, unknown> = { ...makeEvent(e, 5, 3), ...fields };
  if (drop) delete event[drop];
  return JSON.stringify(event);
};

describe.each(NAMES)('%s', (name) => {
  test('is taken as it is, and comes back the same', () => {
    const event = makeEvent(name, 5, 3);
    expect(decodeLine(encodeLine(event), 0)).toEqual({ ok: true, line: event });
  });

  test('every field must be there, and none besides', () => {
    for (const field of ['seq', 't', ...Object.keys(EVENTS[name])]) expect(problemOf(lineWith(name, {}, field))).toMatch(field);
    expect(problemOf(lineWith(name, { extra: 1 }))).toMatch(/unknown field extra/);
  });

  test('every field must be of its kind', () => {
    for (const [field, kind] of Object.entries(EVENTS[name]) as [string, FieldKind][]) {
      for (const wrong of WRONG[kind])
        expect(problemOf(lineWith(name, { [field]: wrong })), `${field} = ${JSON.stringify(wrong)}`).not.toBeNull();
    }
  });
});

const NOT_UINT = [-1, 1.5, 2 ** 53, '1', null, true, {}, []];
const NOT_ID = ['', 'a b', 'é', 'x'.repeat(65), 'a/b', 5, null, {}];
const WRONG: Record<FieldKind, unknown[]> = {
  id: NOT_ID,
  uint: NOT_UINT,
  int: [1.5, 2 ** 53, '1', null],
  decimal: ['', '1.5', '01', '+1', '1e3', '0x1', ' 1', 5, null],
  text: [5, null, {}, []],
  bool: [0, 'true', null],
  sha256: ['', 'zz', 'AB'.repeat(32), null, 5],
  json: ['{}', 5, null, { constructor: 1 }],
  'id?': NOT_ID.filter((value) => value !== null),
  'uint?': NOT_UINT.filter((value) => value !== null),
  'decimal?': ['1.5', 5],
  'text?': [5, {}],
  'sha256?': ['zz', 5],
  'json?': ['{}', 5, { constructor: 1 }],
};

test('a mark and a state are taken; they have no seq', () => {
  expect(decodeLine('{"t":9,"e":"mark","upto":-1}', 0)).toEqual({ ok: true, line: { t: 9, e: 'mark', upto: -1 } });
  expect(problemOf('{"seq":1,"t":9,"e":"mark","upto":-1}')).toMatch(/seq/);
  const state = makeState(5, 3, {
    workers: [{ worker: 0, device: 'cpu0', is: 'free', proof: null, attempt: null, partition: null, since: null, progress: 0 }],
  });
  expect(decodeLine(encodeLine(state), 0)).toEqual({ ok: true, line: state });
  expect(Object.keys(MARKS)).toEqual(['mark', 'state']);
});

test('nested parts are strict', () => {
  const state = makeState(5, 3);
  expect(problemOf(encodeLine({ ...state, permits: { ...state.permits, more: 1 } as never }))).toMatch(/permits/);
  expect(problemOf(encodeLine({ ...state, params: [{ circuit: 'a', is: 'gone' }] as never }))).toMatch(/params/);
  expect(problemOf(encodeLine({ ...state, lock: [{ device: 'cpu0' }] as never }))).toMatch(/lock/);
});

test.each([
  ['not JSON', '{"seq":1'],
  ['not JSON', ''],
  ['not JSON', '\ufeff{}'],
  ['not JSON', '{"seq":NaN,"t":1,"e":"ready"}'],
  ['not an object', '[]'],
  ['not an object', '5'],
  ['not an object', 'null'],
  ['e is missing', '{}'],
  ['unknown event no_such', '{"seq":0,"t":0,"e":"no_such"}'],
  ['unknown event constructor', '{"seq":0,"t":0,"e":"constructor"}'],
  ['unknown event __proto__', '{"seq":0,"t":0,"e":"__proto__"}'],
  ['ready: unknown field __proto__', '{"seq":0,"t":0,"e":"ready","__proto__":{"x":1}}'],
  ['ready: unknown field constructor', '{"seq":0,"t":0,"e":"ready","constructor":1}'],
  ['ready: t is not an instant', '{"seq":0,"t":9007199254740992,"e":"ready"}'],
  ['ready: t is not an instant', '{"seq":0,"t":9007199254740993,"e":"ready"}'],
  ['ready: t is not an instant', '{"seq":0,"t":-0,"e":"ready"}'],
  ['ready: t is not an instant', '{"seq":0,"t":1e400,"e":"ready"}'],
  ['ready: a number is not a plain integer', '{"seq":0,"t":1e3,"e":"ready"}'],
  ['ready: a number is not a plain integer', '{"seq":0,"t":9007199254740990.9999,"e":"ready"}'],
  ['nested more than 8 deep', `{"seq":0,"t":0,"e":"ready","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
])('%s', (problem, text) => {
  expect(decodeLine(text, 7)).toEqual({ ok: false, problem, offset: 7 });
});

test('the prototype is never reached, not through nested parts either', () => {
  for (const key of ['__proto__', 'constructor', 'prototype']) {
    const text = encodeLine(makeState(5, 3)).replace('"used":0', `"used":0,"${key}":{"polluted":true}`);
    // By our own walk: a schema library may ask `key in entries`, and `constructor` is in every object.
    expect(problemOf(text)).toBe(`state: the key ${key} is not allowed`);
    expect(problemOf(text.replace(key, key.replace('o', '\\u006f')))).toBe(`state: the key ${key} is not allowed`);
  }
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test('2^53 − 1 passes exactly', () => {
  const decoded = decodeLine('{"seq":9007199254740991,"t":9007199254740991,"e":"ready"}', 0);
  expect(decoded).toEqual({ ok: true, line: { seq: 9007199254740991, t: 9007199254740991, e: 'ready' } });
});

test('a newer format is told as such, whatever else the line has', () => {
  expect(decodeLine('{"seq":0,"t":0,"e":"hello","format":3,"new":1}', 0)).toMatchObject({ ok: false, tooNew: true });
});

test('no text makes it throw', () => {
  const mutated = fc
    .tuple(
      fc.constantFrom(...NAMES),
      fc.array(fc.tuple(fc.nat(400), fc.constantFrom('"', '{', '}', '[', ',', ':', '0', 'e', '\\', '-', 'null', '\u0000')), {
        maxLength: 4,
      }),
    )
    .map(([name, edits]) =>
      edits.reduce((text, [at, what]) => text.slice(0, at) + what + text.slice(at + 1), encodeLine(makeEvent(name, 5, 3))),
    );
  fc.assert(
    fc.property(fc.oneof(mutated, fc.json(), fc.string({ unit: 'binary' })), (text) => {
      const decoded = decodeLine(text, 0);
      if (decoded.ok) expect(decodeLine(encodeLine(decoded.line), 0)).toEqual(decoded);
      else expect(decoded.problem).not.toBe('');
    }),
    { numRuns: 20_000 },
  );
});

describe.each(readdirSync(FIXTURES).filter((name) => name.endsWith('.ndjson')))('%s, as the prover writes it', (name) => {
  const bytes = readFileSync(FIXTURES + name);
  const decodeAll = (cut: number) => {
    const out: unknown[] = [];
    const splitter = new LineSplitter();
    const sink = {
      line: (text: string, offset: number) => void out.push(decodeLine(text, offset)),
      bad: (problem: string, offset: number) => void out.push({ problem, offset }),
    };
    splitter.push(bytes.subarray(0, cut), sink);
    splitter.push(bytes.subarray(cut), sink);
    return { out, tail: splitter.tailBytes };
  };

  test('every line decodes and comes back as it was', () => {
    const { out, tail } = decodeAll(0);
    expect(out.length).toBeGreaterThan(3);
    expect(out.filter((line) => !(line as { ok: boolean }).ok)).toEqual([]);
    expect(tail > 0).toBe(name === 'torn.ndjson');
    for (const line of bytes.toString('utf8').split('\n').slice(0, -1)) {
      const decoded = decodeLine(line, 0);
      expect(decoded.ok && JSON.parse(encodeLine(decoded.line))).toEqual(JSON.parse(line));
    }
  });

  test('every split point gives the same lines', () => {
    // What a line decodes to depends on its text and offset alone, and a cut on its own line and the next: pairs of lines suffice.
    const ends: number[] = [0];
    const whole: string[] = [];
    new LineSplitter().push(bytes, {
      line: (text, _offset, end) => void (whole.push(text), ends.push(end)),
      bad: () => expect.unreachable(),
    });
    for (let line = 0; line < whole.length; line++) {
      const from = ends[line] ?? 0;
      const part = bytes.subarray(from, ends[line + 2] ?? bytes.length);
      for (let cut = 0; cut <= part.length; cut++) {
        const got: string[] = [];
        const splitter = new LineSplitter(from);
        const sink = { line: (text: string) => void got.push(text), bad: () => expect.fail(`differs when cut at ${from + cut}`) };
        splitter.push(part.subarray(0, cut), sink);
        splitter.push(part.subarray(cut), sink);
        if (got[0] !== whole[line] || (got[1] ?? whole[line + 1]) !== whole[line + 1]) expect.fail(`differs when cut at ${from + cut}`);
      }
    }
  });
});
