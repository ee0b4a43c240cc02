/** Chrome traces, read back by a strict reader of its own (test/support/chrome_trace.py): no span may swap its end or vanish. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { EventOf } from '../../electron/contract/timeline-events.ts';
import { ChromeWriter, EVENTS_PER_PART, ONE_FILE_EVENTS, partsOf } from '../../electron/formats/chrome/writer.ts';
import type { ExportFacts } from '../../electron/formats/export-facts.ts';
import { sampleIdle, SAMPLE_GAPS } from '../support/idle-sample.ts';
import { Lines, makeRun, SCHEDULER } from '../support/journal.ts';
import { tempFolder } from '../support/temp-folder.ts';

const FACTS: ExportFacts = {
  run: 'r1', uid: 'u', state: 'finished', endedBy: null, engine: 'builtin', backend: 'cpu', emulate: null, scheduler: SCHEDULER,
  found: { '</script>': '"' }, importedFrom: null, startedWallNs: '1796043668729000001',
}; // prettier-ignore

type Slice = [
  file: string,
  process: string,
  thread: string,
  name: string,
  cat: string,
  start: number,
  dur: number,
  args: Record<string, unknown>,
];
interface Reread {
  slices: Slice[];
  instants: string[];
  problems: string[];
  other: Record<string, string>[];
}

function reread(files: string[]): Reread {
  const reader = path.join(import.meta.dirname, '../support/chrome_trace.py');
  return JSON.parse(execFileSync('python3', [reader, ...files], { maxBuffer: 2 ** 30 }).toString()) as Reread;
}

function trace(lines: Lines, gaps = SAMPLE_GAPS, events = lines.events.length): Reread {
  const texts: string[] = [];
  const writer = new ChromeWriter(FACTS, events, (file, text) => (texts[file] = (texts[file] ?? '') + text));
  const started = lines.events.find((event) => event.e === 'run_started')?.t ?? 0;
  writer.beginProcess(lines.events[0] as EventOf<'hello'>, started);
  for (const event of lines.events) writer.take(event);
  writer.takeLoss({ count: 3, tFrom: 5, tTo: 9, healedT: 4000, state: null });
  writer.endProcess(1e12);
  writer.takeHold(10, 20);
  writer.finish(sampleIdle(), gaps);
  const folder = tempFolder();
  return reread(
    texts.map((text, index) => {
      const file = path.join(folder, `${index}.json`);
      writeFileSync(file, text);
      return file;
    }),
  );
}

const of = (read: Reread, cat: string) => read.slices.filter((slice) => slice[4] === cat);

/** 100 job spans and 100 kernels of one worker that all overlap, each ending in another order than it began. */
function overlapping(): Lines {
  const lines = new Lines().add('hello', 0).add('run_started', 7);
  const where = (partition: number) => ({ proof: 'p1', partition, worker: 0, stream: 0, kernel: `k${partition}` });
  for (let n = 0; n < 100; n++) lines.add('kernel_started', 1000 + n, where(n));
  for (let n = 0; n < 100; n++) lines.add('kernel_ended', 3000 + ((n * 37) % 100), where(n));
  return lines;
}

describe('a trace', () => {
  it('has 100 overlapping spans in and 100 out, each as long as it was (perfetto #4280)', () => {
    const read = trace(overlapping(), []);
    expect(read.problems).toEqual([]);
    const kernels = of(read, 'kernel');
    expect(kernels.map(([, , , name, , start, dur]) => [name, start, dur]).sort()).toEqual(
      Array.from({ length: 100 }, (_, n) => [`k${n}`, 1000 + n, 2000 + ((n * 37) % 100) - n]).sort(),
    );
    expect(new Set(kernels.map((slice) => slice[2])).size).toBe(100);
  });

  it('keeps ends with their own beginnings (perfetto #237) and every nanosecond', () => {
    const lines = new Lines().add('hello', 0).add('run_started', 0);
    const where = (partition: number) => ({ proof: 'p1', partition, worker: 0, stream: 0 });
    lines.add('kernel_started', 0, where(0)).add('kernel_started', 3, where(1)).add('kernel_ended', 5, where(0)).add('kernel_ended', 9_007_199_254_740, where(1)); // prettier-ignore
    const kernels = of(trace(lines, []), 'kernel');
    expect(kernels.map((slice) => [slice[7].partition, slice[5], slice[6]])).toEqual([[0, 0, 5], [1, 3, 9_007_199_254_737]]); // prettier-ignore
  });

  it('has every lane of a run by name, causes, losses and holds beside, and nothing overlaps', () => {
    const lines = makeRun({ proofs: 5, partitions: 6 });
    const read = trace(lines);
    expect(read.problems).toEqual([]);
    const count = (cat: string) => of(read, cat).length;
    expect(['kernel', 'lock', 'job', 'prepare', 'device', 'finish', 'synthesis', 'permit', 'queue'].map(count)).toEqual([150, 30, 30, 30, 30, 30, 30, 30, 30]); // prettier-ignore
    const rows = new Set(read.slices.map((slice) => `${slice[1]} | ${slice[2]}`));
    for (const row of ['cpu0 (cpu) | kernels', 'cpu0 (cpu) | lock held', 'cpu0 (cpu) | worker 1 job span', 'cpu0 (cpu) | worker 0 stages', 'cpu0 (cpu) | idle, by largest cause', 'synthesis | synthesiser 0', 'run | events missing', 'run | held by the host']) expect(rows).toContain(row); // prettier-ignore
    expect(of(read, 'idle').map((slice) => [slice[3], slice[6], slice[7].warm_up_ns ?? null])).toEqual([['warm-up', 14e9, 8e9], ['epilogue', 6e9, null], ['starved', 3e9, null]]); // prettier-ignore
    expect(read.other).toMatchObject([{ run: 'r1', parts: '1', run_starts_at_ns: '10000000', gaps_left_out: '0' }]);
  });

  it('marks a span without an end and lets the others be (perfetto #1159)', () => {
    const lines = makeRun({ proofs: 2, partitions: 10 });
    const whole = trace(lines, []);
    const cut = new Lines();
    const lost = lines.lines.filter((line) => line.e === 'device_ended')[7];
    cut.lines.push(...lines.lines.filter((line) => line !== lost));
    const read = trace(cut, []);
    expect(read.instants.filter((name) => name.includes('no end seen'))).toEqual(['device: no end seen']);
    const key = (slice: Slice) => JSON.stringify(slice.slice(3));
    const left = new Set(read.slices.map(key));
    expect(whole.slices.map(key).filter((one) => !left.has(one))).toHaveLength(1);
    expect(read.slices.length).toBe(whole.slices.length - 1);
  });
});

describe('a long run', () => {
  it('is cut by its events, and the number of parts is known before the first byte', () => {
    expect([partsOf(0), partsOf(ONE_FILE_EVENTS), partsOf(ONE_FILE_EVENTS + 1), partsOf(2_000_000), partsOf(6_000_001)]).toEqual([
      1, 1, 2, 4, 11,
    ]);
  });

  it('gives parts that are each whole', () => {
    const lines = makeRun({ proofs: 6, partitions: 10 });
    const cut = { oneFile: 700, perPart: 600 };
    const texts: string[] = [];
    const write = (file: number, text: string) => (texts[file] = (texts[file] ?? '') + text);
    const writer = new ChromeWriter(FACTS, lines.events.length, write, cut);
    writer.beginProcess(lines.events[0] as EventOf<'hello'>, 0);
    for (const event of lines.events) writer.take(event);
    writer.endProcess(1e15);
    writer.finish(sampleIdle(), []);
    const folder = tempFolder();
    const files = texts.map((_, index) => path.join(folder, `${index}.json`));
    for (const [index, file] of files.entries()) writeFileSync(file, texts[index] ?? '');
    expect(files.length).toBe(partsOf(lines.events.length, cut));
    const read = reread(files);
    expect(read.problems).toEqual([]);
    const kernels = of(read, 'kernel');
    expect(kernels.length).toBe(300);
    expect(new Set(kernels.map((slice) => slice[0])).size).toBe(files.length);
    expect(read.other.map((facts) => `${facts.part} of ${facts.parts}`)).toEqual(['1 of 3', '2 of 3', '3 of 3']);
  });

  it('has parts below 250 MB even with the longest names', () => {
    const long = 'x'.repeat(64);
    const bytes = (lines: Lines) => {
      let size = 0;
      const writer = new ChromeWriter(FACTS, lines.events.length, (_file, text) => (size += text.length));
      writer.beginProcess(lines.events[0] as EventOf<'hello'>, 0);
      for (const event of lines.events) writer.take('proof' in event ? ({ ...event, proof: long, ...('kernel' in event ? { kernel: long } : {}) } as typeof event) : event); // prettier-ignore
      return size / lines.events.length;
    };
    expect(bytes(makeRun({ proofs: 20, partitions: 10 })) * EVENTS_PER_PART).toBeLessThan(250e6);
  });
});
