/** Following a file: nothing is missed, whatever wakes it, and what happens to the file is told. */
import { appendFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JournalTail, type JournalFiles, type TailFact } from '../../electron/formats/journal/tail.ts';
import { journalFiles } from '../../electron/store/journal-files.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { tempFolder } from '../support/temp-folder.ts';

const NO_WATCH: JournalFiles = { ...journalFiles, watch: () => null };

function follow(file: string, options: { offset?: number; chunkBytes?: number } = {}) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const facts: TailFact[] = [];
  const sink = { line: (text: string) => void lines.push(text), bad: (problem: string) => void lines.push(`bad: ${problem}`) };
  const readAll = () => {
    while (tail.read(sink) > 0);
  };
  const tail = new JournalTail({
    path: file,
    offset: 0,
    files: NO_WATCH,
    clock,
    onWake: readAll,
    onFact: (fact) => facts.push(fact),
    ...options,
  });
  return { tail, clock, lines, facts };
}

test('a file that comes later, and grows, is seen within 50 ms of the clock', async () => {
  const file = path.join(tempFolder(), 'j');
  const { tail, clock, lines } = follow(file);
  await clock.advance(200);
  expect(tail.isOpen).toBe(false);
  writeFileSync(file, 'a\nb');
  await clock.advance(50);
  expect(lines).toEqual(['a']);
  expect([tail.offset, tail.tailBytes]).toEqual([2, 1]);
  appendFileSync(file, 'c\n');
  await clock.advance(50);
  expect(lines).toEqual(['a', 'bc']);
  tail.close();
  appendFileSync(file, 'd\n');
  await clock.advance(500);
  expect(lines).toEqual(['a', 'bc']);
});

test('it goes on from an offset', async () => {
  const file = path.join(tempFolder(), 'j');
  writeFileSync(file, 'a\nb\nc\n');
  const { clock, lines, tail } = follow(file, { offset: 2 });
  await clock.advance(50);
  expect(lines).toEqual(['b', 'c']);
  expect(tail.offset).toBe(6);
});

test('a file that became shorter is a fact, told once; nothing more is read', async () => {
  const file = path.join(tempFolder(), 'j');
  writeFileSync(file, 'a\nb\nc\n');
  const { clock, lines, facts } = follow(file);
  await clock.advance(50);
  truncateSync(file, 2);
  await clock.advance(200);
  appendFileSync(file, 'x\ny\nz\n');
  await clock.advance(200);
  expect(facts).toEqual([{ kind: 'truncated', size: 2, offset: 6 }]);
  expect(lines).toEqual(['a', 'b', 'c']);
});

test('another file in its place, or none, is told; the descriptor is read on', async () => {
  const folder = tempFolder();
  const file = path.join(folder, 'j');
  writeFileSync(file, 'a\n');
  const { clock, lines, facts } = follow(file);
  await clock.advance(50);
  renameSync(file, path.join(folder, 'moved'));
  appendFileSync(path.join(folder, 'moved'), 'b\n');
  await clock.advance(1_000);
  writeFileSync(file, 'impostor\n');
  await clock.advance(1_000);
  rmSync(file);
  await clock.advance(2_000);
  expect(facts.map((fact) => fact.kind)).toEqual(['deleted', 'replaced', 'deleted']);
  expect(lines).toEqual(['a', 'b']);
});

test('any growth in any steps: the same lines', async () => {
  const folder = tempFolder();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: fc.constantFrom('a', '\n', 'é'), maxLength: 8 }), { maxLength: 10 }),
      fc.integer({ min: 1, max: 9 }),
      async (parts, chunkBytes) => {
        const file = path.join(folder, `j${run++}`);
        const { tail, clock, lines } = follow(file, { chunkBytes });
        for (const part of parts) {
          appendFileSync(file, part);
          await clock.advance(50);
        }
        tail.close();
        expect(lines).toEqual(parts.join('').split('\n').slice(0, -1));
      },
    ),
    { numRuns: 200 },
  );
});

test('a change notice wakes it before the poll', async () => {
  const file = path.join(tempFolder(), 'j');
  writeFileSync(file, '');
  let wakes = 0;
  const tail = new JournalTail({
    path: file,
    offset: 0,
    files: journalFiles,
    clock: new ManualClock(),
    onWake: () => wakes++,
    onFact: () => undefined,
  });
  tail.read({ line: () => undefined, bad: () => undefined });
  appendFileSync(file, 'a\n');
  await expect.poll(() => wakes).toBeGreaterThan(0);
  tail.close();
});
