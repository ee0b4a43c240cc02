/** What lines are like in the field: wrapped by loggers, torn, cut, coloured, too long, no text at all. */
import { describe, expect, it } from 'vitest';
import { idOf } from '../../electron/formats/cuzk/uid.ts';
import { countsOf, enqueued, fixture, line, of, read, START, tracing, whole } from './cuzk-support.ts';

describe('the traps of a line (S4)', () => {
  it('a: a detail with commas; b: an unknown event is kept, and told', () => {
    const told = read(whole(100, 'porep-1-2', 3) + line(150, 'GPU_WARP', 'porep-1-2', 'partition=3'));
    expect(of(told.last, 'synthesis_ended')).toMatchObject([{ partition: 3, t: 110e6 }]);
    expect(told.problems).toMatchObject([{ kind: 'note', line: 7, problem: expect.stringContaining('GPU_WARP') }]);
  });

  it('CHAN_SEND of older builds queues, and is not told twice', () => {
    const start = line(1, 'SYNTH_START', 'j', 'partition=0') + line(2, 'SYNTH_END', 'j', 'partition=0,synth_ms=1');
    for (const both of [
      line(3, 'CHAN_SEND', 'j', 'partition=0'),
      line(3, 'CHAN_SEND', 'j', 'partition=0') + line(4, 'GPU_QUEUE', 'j', 'partition=0'),
    ]) {
      const told = read(start + both);
      expect(of(told.last, 'queued').map(({ t }) => t)).toEqual([3e6]);
      expect(told.problems).toEqual([]);
    }
  });

  it('c: a line cut by another writer, whose other half never comes', () => {
    const text = whole(100, 'a') + 'TIMELINE,150,GPU_ENDCUZK_TIMING: async_dealloc_ms=0\n' + whole(200, 'b');
    const told = read(text);
    expect(told.problems).toMatchObject([{ kind: 'torn', line: 7, offset: whole(100, 'a').length, bytes: 52 }]);
    expect(of(told.last, 'put_down')).toHaveLength(2);
  });

  it.each([
    ['the rest in the next line', 'TIMELINE,150,GPU_END,CUZK_TIMING: async_dealloc_ms=0\nj,worker=0,partition=0,gpu_ms=9\n'],
    [
      'the rest some lines on',
      'TIMELINE,150,GPU_END,CUZK_TIMING: async_dealloc_ms=0\nCUZK_TIMING: prep_msm_ms=1\nj,worker=0,partition=0,gpu_ms=9\n',
    ],
    ['a number cut in two', 'TIMELINE,150,GPU_END,j,worker=0,partition=0,gpu_ms=1CUZK_TIMING: async_dealloc_ms=0\n29\n'],
    ['only the line end lost', 'TIMELINE,150,GPU_END,j,worker=0,partition=0,gpu_ms=9CUZK_TIMING: async_dealloc_ms=0\n\n'],
    ['two lines in one', 'TIMELINE,150,GPU_END,j,worker=0,partition=0,gpu_ms=9TIMELINE,151,SYNTH_START,k,partition=0\n\n'],
    [
      'inside a tracing line',
      `${tracing(149_000, 'cuzk_core::engine: background PCE extr').trimEnd()}TIMELINE,150,GPU_END,j,worker=0,partition=0,gpu_ms=9\naction\n`,
    ],
    ["inside somebody else's line", 'progress 47 %TIMELINE,150,GPU_END,j,worker=0,partition=0,gpu_ms=9\n'],
    [
      'a tracing line within',
      `TIMELINE,150,GPU_END${tracing(149_500, 'cuzk_core::engine: background PCE extraction complete')},j,worker=0,partition=0,gpu_ms=9\n`,
    ],
    ['by a newline of another writer', 'TIMELINE,150,GPU_END,j,wor\nker=0,partition=0,gpu_ms=9\n'],
  ])('mends: %s', (_, torn) => {
    const told = read(START + whole(50, 'j').replace(/TIMELINE,90,GPU_END.*\n/, '') + torn + 'other\n'.repeat(6));
    expect(of(told.last, 'put_down').map(({ t, partition }) => [t, partition])).toEqual([[150e6, 0]]);
    expect(told.problems).toEqual([]);
  });

  it('a number cut in two is the whole number', () => {
    const told = read(whole(50, 'j').replace('gpu_ms=29', 'gpu_ms=2CUZK_TIMING: async_dealloc_ms=0') + '9\n');
    expect(of(told.last, 'measured')).toMatchObject([{ durations: { gpu: 29e6 } }]);
  });

  it('e: invalid UTF-8 is counted with its offset; so is a line too long (f), wherever the mark is', () => {
    const bad = Buffer.concat([
      Buffer.from('TIMELINE,5,GPU_QUEUE,j\xffk,partition=0\n', 'latin1'),
      Buffer.from(`${'x'.repeat(2 ** 20)}TIMELINE,5,GPU_QUEUE,j,partition=0\n`),
    ]);
    const told = read([Buffer.from(whole(100, 'a')), bad, Buffer.from('\xff\xfe nothing of ours\n', 'latin1')]);
    const offset = whole(100, 'a').length;
    expect(told.problems).toMatchObject([
      { kind: 'unparsed', line: 7, offset, problem: 'not UTF-8' },
      { kind: 'unparsed', line: 8, offset: offset + 37, problem: expect.stringContaining('longer than') },
    ]);
    expect(countsOf(told.last).put_down).toBe(1);
  });

  it("f: a megabyte of somebody else's text before a mark is no reason not to read it; a megabyte of nonsense after one is", () => {
    const told = read(`${'x'.repeat(1_000_000)}${whole(100, 'a')}TIMELINE,150,GPU_END,${'y'.repeat(1_000_000)}\n`);
    expect(countsOf(told.last)).toMatchObject({ synthesis_started: 1, put_down: 1 });
    expect(told.problems).toMatchObject([{ kind: 'unparsed', line: 7 }]);
    expect(told.problems[0]?.text).toHaveLength(200);
  });

  it('d, g, h: CRLF, colours, ids with characters of several bytes', () => {
    const id = 'wdpost-é漢-[192 83]';
    const plain = read(START + enqueued(1000, id) + whole(100, id));
    const crlf = read((START + enqueued(1000, id) + whole(100, id)).replaceAll('\n', '\r\n'));
    const coloured = (START + enqueued(1000, id))
      .replace(/^(\S+Z) ( *\w+) (\S+): /gm, '\x1b[2m$1\x1b[0m \x1b[32m$2\x1b[0m \x1b[2m$3\x1b[0m\x1b[2m:\x1b[0m ')
      .replace(/(\w+)=/g, '\x1b[3m$1\x1b[0m\x1b[2m=\x1b[0m');
    expect(plain.last.events.length).toBeGreaterThan(10);
    expect(crlf.runs).toEqual(plain.runs);
    expect(read(coloured + whole(100, id)).runs).toEqual(plain.runs);
    expect(read((coloured + whole(100, id)).replaceAll('\x1b[', '#033[')).runs).toEqual(plain.runs);
    expect(of(plain.last, 'proof_named')).toMatchObject([{ name: id, kind: 'porep-c2' }]);
  });

  it('NUL bytes are dropped, as a file that was truncated under its writer has them', () => {
    expect(read('\0'.repeat(5_000) + whole(100, 'a')).runs).toEqual(read(whole(100, 'a')).runs);
    expect(read(whole(100, 'a').replace('GPU_END', 'GPU\0_END')).runs).toEqual(read(whole(100, 'a')).runs);
  });

  it('ids with commas, equal signs and brackets', () => {
    for (const id of ['a,b', 'a,b=c', 'x,partition', '[1 2, 3]', 'worker=']) {
      const told = read(whole(100, id, 2));
      expect(
        of(told.last, 'proof_named').map(({ name }) => name),
        id,
      ).toEqual([id]);
      expect(of(told.last, 'put_down')).toMatchObject([{ partition: 2, t: 140e6 }]);
    }
  });

  it("what looks like a line of ours and is none is listed, others' lines are not", () => {
    const told = read(
      `hello\nTIMELINE of today\nTIMELINE,x,GPU_END,j,worker=0,gpu_ms=1\nTIMELINE,5,GPU_END,j,worker=0\nCUZK_TIMING: \nTIMELINE,99999999999999,GPU_QUEUE,j,partition=0\n${'-\n'.repeat(5)}`,
    );
    expect(told.problems.map(({ kind, line }) => `${line} ${kind}`)).toEqual(['3 unparsed', '4 unparsed', '5 unparsed', '6 unparsed']);
    expect(told.runs).toEqual([]);
  });

  it('a last line without an end is not believed', () => {
    const told = read(whole(100, 'a') + 'TIMELINE,150,GPU_QUEUE,porep-1,partition=1');
    expect(told.problems).toMatchObject([{ kind: 'torn', line: 7 }]);
    expect(of(told.last, 'queued')).toHaveLength(1);
  });
});

const ENVELOPES: Record<string, (text: string, us: number) => string> = {
  'journald short': (text) => `Nov 30 14:23:30 prover-1 cuzk-daemon[4711]: ${text}`,
  'journald short-precise': (text) => `Nov 30 14:23:30.136570 prover-1 cuzk-daemon[4711]: ${text}`,
  'journald short-iso': (text) => `2026-11-30T14:23:30+0000 prover-1 cuzk-daemon[4711]: ${text}`,
  'journald json': (text) => JSON.stringify({ __REALTIME_TIMESTAMP: '1796048610136570', _PID: '4711', MESSAGE: text }),
  'syslog, RFC 3164': (text) => `<30>Nov  3 14:23:30 prover-1 cuzk[4711]: ${text}`,
  'syslog, RFC 5424': (text) => `<30>1 2026-11-30T14:23:30.136570+00:00 prover-1 cuzk 4711 - - ${text}`,
  'docker json-file': (text) => JSON.stringify({ log: `${text}\n`, stream: 'stderr', time: '2026-11-30T14:23:30.136570123Z' }),
  'docker logs -t': (text) => `2026-11-30T14:23:30.136570123Z ${text}`,
  'docker compose': (text) => `cuzk-1  | ${text}`,
  'Kubernetes CRI': (text) => `2026-11-30T14:23:30.136570123Z stderr F ${text}`,
};

describe('loggers', () => {
  for (const [name, wrap] of Object.entries(ENVELOPES)) {
    it(`${name}: the same events`, () => {
      for (const log of ['gw1a', 'fail', 'statusport', 'portinuse']) {
        const text = fixture(log).toString('utf8');
        const wrapped = text.trimEnd().split('\n').map((one, index) => wrap(one, index)).join('\n'); // prettier-ignore
        const plain = read(text);
        const told = read(`${wrapped}\n`);
        expect(told.runs).toEqual(plain.runs);
        expect(told.problems.map(({ kind, line, problem }) => [kind, line, problem])).toEqual(
          plain.problems.map(({ kind, line, problem }) => [kind, line, problem]),
        );
      }
    });
  }

  it('gives standard error alone a wall clock where the logger stamps with a date and a zone', () => {
    const text = fixture('nosplit-stderr').toString('utf8').trimEnd().split('\n');
    const wrapped = text.map((one) => `2026-11-30T14:34:32.843123Z stderr F ${one}\n`).join('');
    // The first line says 2007 ms.
    expect(read(wrapped).last.run.startedWallNs).toBe((BigInt(Date.UTC(2026, 10, 30, 14, 34, 30)) * 1_000_000n + 836_123_000n).toString());
    expect(read(wrapped).last.run.uid).toBe(read(fixture('nosplit-stderr')).last.run.uid);
  });

  it('lines that the logger dropped are a loss between the neighbouring stamps (S3)', () => {
    const told = read(
      START +
        whole(100, 'a') +
        'Nov 30 14:23:31 prover-1 systemd-journald[300]: Suppressed 1734 messages from cuzk.service\nx\n' +
        whole(5_000, 'b'),
    );
    expect(told.problems).toMatchObject([{ kind: 'dropped', line: 8, problem: expect.stringContaining('1734') }]);
    expect(told.last.losses).toMatchObject([
      { kind: 'ring', ring: 'log', count: 1734, tFrom: 140e6, tTo: 5_000e6, healedT: 5_000e6, filled: 0 },
    ]);
    expect(of(told.last, 'lost')).toMatchObject([{ ring: 'log', count: 1734, t_from: 140e6, t_to: 5_000e6 }]);
    const others = read(
      START + whole(100, 'a') + 'Nov 30 14:23:31 p systemd-journald[300]: Suppressed 9 messages from nginx.service\n' + whole(5_000, 'b'),
    );
    expect([others.problems, others.last.losses]).toEqual([[], []]);
  });
});

describe('names', () => {
  it('an id stays itself, anything else keeps its readable part and a hash', () => {
    expect(idOf('porep-1000-1')).toBe('porep-1000-1');
    expect(idOf('x'.repeat(65))).toMatch(/^x{47}-[0-9a-f]{16}$/);
    for (const text of ['a b', '.hidden', '漢', '', '[1 2]', '[1  2]']) expect(idOf(text)).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
    expect(new Set(['a b', 'a  b', 'a-b', 'a_b', 'a\tb'].map(idOf)).size).toBe(5);
  });

  it('one run twice in a file is two runs, by name', () => {
    const told = read(Buffer.concat([fixture('gw1a'), fixture('gw1a')]));
    expect(new Set(told.runs.map(({ run }) => run.uid)).size).toBe(2);
    expect(new Set(told.runs.map(({ process }) => process?.hello.process)).size).toBe(2);
    expect(told.runs[0]?.run.uid).toBe(read(fixture('gw1a')).last.run.uid);
  });
});
