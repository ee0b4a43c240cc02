/** Whatever the bytes and wherever they are cut: the same events, numbered without holes, and never a throw. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeLine } from '../../electron/formats/journal/decode.ts';
import { fnv128 } from '../../electron/formats/cuzk/uid.ts';
import { fixture, read, type Told } from './cuzk-support.ts';

const LOGS = ['gw2a', 'fail', 'fewparts', 'sigint', 'nosplit-stdout', 'nosplit-stderr', 'noparams', 'badlisten'];

/** All of it but the horizons, which follow the pieces. */
const told = ({ runs, problems }: Told) => ({ runs, problems });

function piecesOf(bytes: Uint8Array, cuts: number[]): Uint8Array[] {
  const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
}

function expectSound(result: Told): void {
  for (const run of result.runs) {
    for (const [index, event] of run.events.entries()) {
      expect(event.seq).toBe(index);
      const decoded = decodeLine(JSON.stringify(event), 0);
      expect(decoded.ok ? '' : decoded.problem).toBe('');
    }
    expect(run.state).not.toBeNull();
  }
}

describe('cut anywhere', () => {
  it('any cuts of any recorded log', () => {
    const whole = new Map(LOGS.map((name) => [name, told(read(fixture(name)))]));
    fc.assert(
      fc.property(fc.constantFrom(...LOGS), fc.array(fc.nat(), { maxLength: 40 }), (name, cuts) => {
        expect(told(read(piecesOf(fixture(name), cuts)))).toEqual(whole.get(name));
      }),
      { numRuns: 60 },
    );
  });

  it('byte by byte, torn lines and long ones too', () => {
    const torn = fixture('fail').subarray(0, 9_000);
    const long = Buffer.concat([
      Buffer.alloc(2 ** 20 + 100, 'x'),
      Buffer.from('TIMELINE,1,GPU_QUEUE,j,partition=0\n'),
      fixture('sigkill').subarray(0, 3_000),
    ]);
    const single = (bytes: Uint8Array) => Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
    expect(told(read(single(torn)))).toEqual(told(read(torn)));
    const expected = told(read(long));
    expect(expected.problems).toMatchObject([{ kind: 'unparsed', line: 1, offset: 0, bytes: 2 ** 20 + 135 }]);
    for (const size of [1 << 10, 4_099, 65_536, 2 ** 20 - 1, 2 ** 20]) {
      const pieces = Array.from({ length: Math.ceil(long.length / size) }, (_, index) => long.subarray(index * size, (index + 1) * size));
      expect(told(read(pieces)), `${size}`).toEqual(expected);
    }
    // The mark itself cut in two, beyond what is kept.
    const mark = 2 ** 20 + 103;
    expect(told(read([long.subarray(0, mark), long.subarray(mark)]))).toEqual(expected);
  });
});

const WORDS = ['TIMELINE,', 'CUZK_TIMING: ', 'CUZK_NTT_H: ', 'GPU_END,', 'GPU_PICKUP,', 'SYNTH_START,', ',worker=0', ',partition=1', 'mutex_held_ms=5 total_start_fn_ms=9', 'pre_lock_cpu_ms=1 mutex_wait_ms=3',
  '2026-11-30T14:23:30.145477Z  INFO ', 'cuzk_core::engine: ', 'starting cuzk engine', 'job enqueued job_id=a proof_kind=porep-c2', 'cuzk_core::scheduler: ', '\n', '\r\n', '\x1b[2m', '\0', '99999999999999999999', '{"log":"', 'Suppressed 9 messages from cuzk.service', '1,', '5000,', 'j', ' '] as const; // prettier-ignore

describe('any bytes', () => {
  it('never throw, and what is told is a sound journal', () => {
    const word = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...WORDS).map((text) => Buffer.from(text)) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)) },
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 120 }), fc.array(fc.nat(), { maxLength: 6 }), (words, cuts) => {
        const bytes = Buffer.concat(words);
        const result = read(piecesOf(bytes, cuts));
        expectSound(result);
        expect(told(result)).toEqual(told(read(bytes)));
      }),
      { numRuns: 400 },
    );
  });

  it('lines dropped, doubled, swapped and cut: sound all the same, and nothing ends that did not begin or was not told to', () => {
    const lines = fixture('gw2a')
      .toString('utf8')
      .split(/(?<=\n)/);
    const change = fc.record({ at: fc.nat(lines.length - 2), how: fc.constantFrom('drop', 'double', 'swap', 'cut') });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 60 }), (changes) => {
        const changed = [...lines];
        for (const { at, how } of changes) {
          if (how === 'drop') changed[at] = '';
          else if (how === 'double') changed[at] = (changed[at] as string).repeat(2);
          else if (how === 'cut') changed[at] = `${(changed[at] as string).slice(0, Math.floor((changed[at] as string).length / 2))}\n`;
          else [changed[at], changed[at + 1]] = [changed[at + 1] as string, changed[at] as string];
        }
        const result = read(changed.join(''));
        expectSound(result);
        for (const run of result.runs) expectWindowsApart(run.events as { e: string; t: number; device?: string }[]);
      }),
      { numRuns: 100 },
    );
  });
});

function expectWindowsApart(events: { e: string; t: number; device?: string }[]): void {
  const lastEnd = new Map<string, number>();
  for (const [index, event] of events.entries()) {
    if (event.e !== 'lock_granted') continue;
    const released = events[index + 1] as { e: string; t: number };
    expect(released.e).toBe('lock_released');
    expect(event.t).toBeGreaterThanOrEqual(lastEnd.get(event.device ?? '') ?? 0);
    expect(released.t).toBeGreaterThanOrEqual(event.t);
    lastEnd.set(event.device ?? '', released.t);
  }
}

describe('constant memory', () => {
  it('a log of many jobs and failed starts keeps bounded state', () => {
    let text = '';
    const result = { events: 0, runs: 0 };
    for (let n = 0; n < 20_000; n++)
      text += `TIMELINE,${n * 10},SYNTH_START,job-${n},partition=0\nTIMELINE,${n * 10 + 1},GPU_QUEUE,job-${n},partition=0\nTIMELINE,${n * 10 + 2},GPU_START,job-${n},worker=${n % 300},partition=0\nCUZK_TIMING: pre_lock_cpu_ms=1 mutex_wait_ms=1\n`;
    const all = read(text);
    result.events = all.last.events.length;
    result.runs = all.runs.length;
    // hello, run_started, ready, and proof_named, synthesis_started, queued, call_started of each.
    expect(result).toEqual({ events: 3 + 4 * 20_000, runs: 1 });
  });
});

describe('the hash', () => {
  it('is FNV-1a of 128 bits', () => {
    expect(fnv128('')).toBe('6c62272e07bb014262b821756295c58d');
    expect(fnv128('a')).toBe('d228cb696f1a8caf78912b704e4a8964');
    expect(fnv128('foobar')).toBe('343e1662793c64bf6f0d3597ba446f18');
  });
});
