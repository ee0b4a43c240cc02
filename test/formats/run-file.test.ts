/** Run files that are cut, changed, too new or hostile: what is said of each, and that nothing missing passes for idle time. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ImportedLoss, ImportSink } from '../../electron/formats/import-sink.ts';
import { createRunFileReader } from '../../electron/formats/run-file/reader.ts';
import { RunFileWriter } from '../../electron/formats/run-file/writer.ts';
import type { EventOf } from '../../electron/contract/timeline-events.ts';
import type { ImportProblem } from '../../electron/contract/transfer.ts';
import { makeRun, makeState, PROCESS_A, SCHEDULER } from '../support/journal.ts';

const RUN = makeRun({ proofs: 2, partitions: 2 });
const LOSS: ImportedLoss = { kind: 'ring', seqFrom: 9, seqTo: 9, ring: 'w0', count: 3, filled: 0, tFrom: 5, tTo: 7, healedT: 20, state: makeState(20, 9) }; // prettier-ignore

function write(): string {
  let text = '';
  const writer = new RunFileWriter((part) => (text += part));
  writer.head({
    run: 'r7', uid: 'u-1', state: 'finished', endedBy: 'drained', engine: 'builtin', backend: 'cpu', emulate: null, scheduler: SCHEDULER,
    found: { 'gpu.workers': '2' }, startedWallNs: '1796043668739000001',
  }); // prettier-ignore
  const hello = RUN.events[0] as EventOf<'hello'>;
  writer.process({
    hello, seqFrom: 0, seqTo: RUN.seq - 2, startedSeq: 2, startedT: 10_000_000, endedT: 5e9, reason: 'drained', ended: 'drained', exit: 0,
    signal: null, horizon: 6e9, peakRssBytes: null, unparsed: 1,
  }); // prettier-ignore
  for (const event of RUN.events) writer.event(event);
  writer.loss(LOSS);
  writer.problem({ offset: 17, bytes: 3, kind: 'unparsed', problem: 'not JSON' });
  writer.hold(5, null);
  writer.attempt({ proof: 'p1', attempt: 1, outcome: 'valid', sha256: 'ab'.repeat(32), file: 'p1.json', code: null, message: null });
  writer.end();
  return text;
}

interface Told {
  calls: [string, ...unknown[]][];
  problems: ImportProblem[];
  lines: number;
}

function read(input: string | Uint8Array, cut = 1e9): Told {
  const calls: Told['calls'] = [];
  const problems: ImportProblem[] = [];
  const names = ['beginRun', 'beginProcess', 'event', 'horizon', 'loss', 'oldProblem', 'endProcess', 'hold', 'attempt', 'endRun'];
  const sink = Object.fromEntries(names.map((name) => [name, (...values: unknown[]) => calls.push([name, ...values])]));
  const reader = createRunFileReader({ ...sink, problem: (problem: ImportProblem) => problems.push(problem) } as unknown as ImportSink);
  const bytes = typeof input === 'string' ? Buffer.from(input) : input;
  for (let at = 0; at < bytes.length; at += cut) reader.push(bytes.subarray(at, at + cut));
  reader.end();
  return { calls, problems, lines: reader.lines };
}

const TEXT = write();
const LINES = TEXT.split('\n').slice(0, -1);
const named = (told: Told, name: string) => told.calls.filter((call) => call[0] === name);
/** The file with one line replaced, its last line made to fit. */
function withLine(index: number, ...instead: string[]): string {
  const lines = LINES.slice(0, -1);
  lines.splice(index, 1, ...instead);
  const body = lines.map((line) => `${line}\n`).join('');
  const end = JSON.parse(LINES.at(-1) as string) as object;
  return `${body}${JSON.stringify({ ...end, lines: lines.length, sha256: createHash('sha256').update(body).digest('hex') })}\n`;
}
const indexOf = (part: string) => LINES.findIndex((line) => line.includes(part));

describe('a whole file', () => {
  it('is told in order, wherever it is cut', () => {
    const whole = read(TEXT);
    expect(whole.problems).toEqual([]);
    expect(whole.lines).toBe(LINES.length);
    expect(named(whole, 'event').map((call) => call[1])).toEqual(RUN.events);
    expect(named(whole, 'loss')).toEqual([['loss', LOSS]]);
    expect(whole.calls.map(([name]) => name).filter((name) => name !== 'event')).toEqual([
      'beginRun', 'beginProcess', 'loss', 'oldProblem', 'horizon', 'endProcess', 'hold', 'attempt', 'endRun',
    ]); // prettier-ignore
    for (const cut of [1, 7, 1000]) expect(read(TEXT, cut)).toEqual(whole);
  });

  it('may be followed by another', () => {
    const told = read(TEXT + TEXT);
    expect(told.problems).toEqual([]);
    expect(named(told, 'endRun')).toHaveLength(2);
  });
});

describe('a file that is not whole', () => {
  it('says so wherever it was cut, and takes what came', () => {
    for (const at of [5, (LINES[0] ?? '').length + 50, TEXT.length >> 1, TEXT.length - 2, TEXT.indexOf('{"end"')]) {
      const told = read(TEXT.slice(0, at));
      expect(
        told.problems.map(({ kind }) => kind),
        String(at),
      ).toContain(at === 5 ? 'unparsed' : 'torn');
      expect(named(told, 'endRun').length).toBe(named(told, 'beginRun').length);
    }
    expect(read('').problems).toMatchObject([{ kind: 'torn', problem: 'The file is empty.' }]);
  });

  it('says that it was changed, and that a line is gone', () => {
    const changed = read(TEXT.replace('"worker":1', '"worker":0'));
    expect(changed.problems).toMatchObject([{ kind: 'note', problem: expect.stringMatching(/SHA-256/) }]);
    const index = indexOf('"e":"kernel_ended"');
    const gone = read(LINES.filter((_, at) => at !== index).map((line) => `${line}\n`).join('')); // prettier-ignore
    expect(gone.problems.map(({ kind }) => kind)).toEqual(['dropped', 'note', 'note']);
    const { seq } = JSON.parse(LINES[index] as string) as { seq: number };
    expect(named(gone, 'loss')[1]?.[1]).toMatchObject({ kind: 'hole', seqFrom: seq, seqTo: seq, count: 1, healedT: null });
  });

  it('has a loss where a line was bad: line, offset and the hole', () => {
    const index = indexOf('"e":"kernel_started"');
    const told = read(withLine(index, '{"seq":17,"t":1,"e":"kernel_exploded"}'));
    const offset = LINES.slice(0, index).join('\n').length + 1;
    expect(told.problems[0]).toMatchObject({
      line: index + 1,
      offset,
      kind: 'unparsed',
      problem: expect.stringMatching(/kernel_exploded/),
    });
    expect(named(told, 'loss')).toHaveLength(2);
  });
});

describe('a hostile line', () => {
  const event = indexOf('"e":"picked_up"');
  const process = 1;
  const head = LINES[0] as string;
  const table: [string, string, RegExp][] = [
    ['a number beyond 2^53', withLine(event, (LINES[event] as string).replace(/"t":\d+/, '"t":9007199254740993')), /t is not an instant/],
    [
      'the same in a process',
      withLine(process, (LINES[1] as string).replace(/"started_t":\d+/, '"started_t":9007199254740993')),
      /started_t/,
    ],
    ['an unknown field', withLine(process, (LINES[1] as string).replace('{', '{"x":1,')), /x:/],
    ['a prototype', withLine(LINES.length - 2, '{"attempt_of":"p1","__proto__":{}}'), /__proto__/],
    ['a path', withLine(LINES.length - 2, (LINES.at(-2) as string).replace('p1.json', '../../etc/passwd')), /file: is no file name/],
    ['depth', withLine(LINES.length - 2, `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`), /nested/],
    ['length', withLine(LINES.length - 2, `{"problem":"${'x'.repeat(2 ** 21)}"}`), /longer than/],
    ['a second run inside', withLine(LINES.length - 2, head), /second run/],
    ['an event twice', withLine(event, LINES[event] as string, LINES[event] as string), /twice/],
    ['a kind that nobody knows', withLine(LINES.length - 2, '{"what":1}'), /no known kind/],
    [
      'a state that is none',
      withLine(indexOf('"loss"'), (LINES[indexOf('"loss"')] as string).replace('"phase":"ready"', '"phase":7')),
      /phase/,
    ],
    ['a hello of somebody else', withLine(2, (LINES[2] as string).replace(PROCESS_A, 'other')), /another process/],
  ];
  it.each(table)('%s is refused by name, and the rest is read', (_name, text, message) => {
    const told = read(text);
    expect(
      told.problems.some(({ problem }) => message.test(problem)),
      JSON.stringify(told.problems.slice(0, 3)).slice(0, 600),
    ).toBe(true);
    expect(named(told, 'endRun')).toHaveLength(1);
  });

  it('first makes the file refused, once', () => {
    for (const first of ['{"seq":0}', 'x', head.replace('"interlock_run":1', '"interlock_run":2'), head.replace('"cpu"', '"abacus"')]) {
      const told = read(withLine(0, first));
      expect(named(told, 'beginRun')).toEqual([]);
      expect(told.problems.length).toBeGreaterThan(0);
    }
    expect(read(withLine(0, head.replace('"interlock_run":1', '"interlock_run":2'))).problems).toMatchObject([
      { problem: expect.stringMatching(/version 2/) },
    ]);
  });

  it('never throws, whatever byte is changed', () => {
    const bytes = Buffer.from(TEXT);
    fc.assert(
      fc.property(fc.nat(bytes.length - 2), fc.nat(255), (at, byte) => {
        const copy = Buffer.from(bytes);
        copy[at] = byte;
        const told = read(copy);
        expect(named(told, 'beginRun').length).toBe(named(told, 'endRun').length);
        expect(named(told, 'beginProcess').length).toBe(named(told, 'endProcess').length);
        // Changed and nothing said would be a lie.
        if (byte !== bytes[at]) expect(told.problems.length).toBeGreaterThan(0);
      }),
      { numRuns: 150 },
    );
  });
});
