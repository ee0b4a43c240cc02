/** Framing: the same lines whatever the chunking. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineSplitter } from '../../electron/formats/journal/lines.ts';

type Seen = [kind: 'line' | 'bad', text: string, offset: number, end: number];

function split(bytes: Uint8Array, cuts: number[], maxBytes?: number): { seen: Seen[]; offset: number; tail: number } {
  const splitter = new LineSplitter(0, maxBytes);
  const seen: Seen[] = [];
  const sink = {
    line: (text: string, offset: number, end: number) => void seen.push(['line', text, offset, end]),
    bad: (problem: string, offset: number, end: number) => void seen.push(['bad', problem, offset, end]),
  };
  let from = 0;
  for (const cut of [...cuts, bytes.length].sort((a, b) => a - b)) {
    if (cut > bytes.length) continue;
    // A buffer that is filled anew, as a reader's is.
    const chunk = Uint8Array.from(bytes.subarray(from, cut));
    splitter.push(chunk, sink);
    chunk.fill(0x58);
    from = cut;
  }
  return { seen, offset: splitter.offset, tail: splitter.tailBytes };
}

const bytesOf = (text: string) => new TextEncoder().encode(text);

test('lines with their offsets; CRLF is tolerated; the torn tail is kept back', () => {
  expect(split(bytesOf('ab\ncd\r\n\nef'), [])).toEqual({
    seen: [
      ['line', 'ab', 0, 3],
      ['line', 'cd', 3, 7],
      ['line', '', 7, 8],
    ],
    offset: 8,
    tail: 2,
  });
});

test('bytes that are not UTF-8 make a bad line and nothing else', () => {
  const bytes = Uint8Array.from([...bytesOf('é\n'), 0xff, 0x0a, ...bytesOf('z\n')]);
  expect(split(bytes, [1]).seen).toEqual([
    ['line', 'é', 0, 3],
    ['bad', 'not UTF-8', 3, 5],
    ['line', 'z', 5, 7],
  ]);
});

test('a line at the cap passes, one byte more does not, and the next line is read', () => {
  const text = `${'a'.repeat(8)}\r\n${'b'.repeat(9)}\n${'c'.repeat(50)}\nd\n`;
  for (const cuts of [[], [3, 9, 12, 30], Array.from({ length: text.length }, (_, index) => index)]) {
    const { seen } = split(bytesOf(text), cuts, 8);
    expect(seen.map(([kind, what]) => (kind === 'line' ? what : kind))).toEqual(['a'.repeat(8), 'bad', 'bad', 'd']);
  }
});

test('an endless line is not kept in memory', () => {
  const splitter = new LineSplitter(0, 1024);
  const sink = { line: () => expect.unreachable(), bad: () => expect.unreachable() };
  const chunk = new Uint8Array(1 << 16).fill(0x61);
  const before = process.memoryUsage().rss;
  for (let n = 0; n < 2_000; n++) splitter.push(chunk, sink);
  expect(splitter.tailBytes).toBe(2_000 * chunk.length);
  expect(process.memoryUsage().rss - before).toBeLessThan(32 << 20);
});

test('any bytes, any cuts: the same lines and offsets', () => {
  const piece = fc.oneof(
    fc.constantFrom('\n', '\r\n', '\r', 'é', '証', '😀', '{"a":1}', '\u0000', '\ufeff').map(bytesOf),
    fc.uint8Array({ maxLength: 6 }),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 30 }),
      fc.array(fc.nat(120), { maxLength: 12 }),
      fc.constantFrom(4, 16, undefined),
      (pieces, cuts, cap) => {
        const bytes = Uint8Array.from(pieces.flatMap((part) => [...part]));
        const whole = split(bytes, [], cap);
        expect(split(bytes, cuts, cap)).toEqual(whole);
        expect(whole.seen.every(([, , offset, end], index) => end > offset && (whole.seen[index + 1]?.[2] ?? whole.offset) === end)).toBe(
          true,
        );
        expect(whole.offset + whole.tail).toBe(bytes.length);
      },
    ),
    { numRuns: 3_000 },
  );
});
