/** CSV: what three readers agree on, what a spreadsheet may not take for a formula, and numbers to the last digit. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numberCell, textCell, UtcClock } from '../../electron/formats/csv/cells.ts';
import { CSV_COLUMNS, CSV_FILES, type CsvFile } from '../../electron/formats/csv/columns.ts';
import { CsvWriter } from '../../electron/formats/csv/writer.ts';
import type { ExportFacts } from '../../electron/formats/export-facts.ts';
import type { RunFeed } from '../../electron/analysis/run-feed.ts';
import type { EventOf } from '../../electron/contract/timeline-events.ts';
import { byName, readInPython, readInSqlite, readStrictly } from '../support/csv.ts';
import { sampleDevice, sampleIdle, SAMPLE_GAPS } from '../support/idle-sample.ts';
import { Lines, makeRun, SCHEDULER } from '../support/journal.ts';

const FACTS: ExportFacts = {
  run: 'r1', uid: 'u', state: 'finished', endedBy: null, engine: 'builtin', backend: 'cpu', emulate: null, scheduler: SCHEDULER, found: {},
  importedFrom: null, startedWallNs: '1796043668729000001',
}; // prettier-ignore

export function tell(feed: RunFeed, lines: Lines, endT: number | null = 1e15): void {
  const started = lines.events.find((event) => event.e === 'run_started')?.t ?? 0;
  feed.beginProcess(lines.events[0] as EventOf<'hello'>, started, true);
  for (const event of lines.events) feed.take(event);
  feed.endProcess?.(endT);
}

function csvOf(lines: Lines, facts: Partial<ExportFacts> = {}, idle = sampleIdle()): Record<CsvFile, string> {
  const texts = CSV_FILES.map(() => '');
  const writer = new CsvWriter({ ...FACTS, ...facts }, (file, text) => (texts[file] += text));
  tell(writer, lines);
  for (const _ of writer.finish(idle, SAMPLE_GAPS, [])) continue;
  return Object.fromEntries(CSV_FILES.map((name, index) => [name, texts[index]])) as Record<CsvFile, string>;
}

const NASTY = [
  'partition=3,synth_ms=36512',
  'a "note"',
  'CR\rin',
  'LF\nin',
  'CRLF\r\nin',
  'a;b',
  '😀 emoji',
  '  blanks  ',
  '',
  "'quoted'",
  'tab\tin',
  '\0nul',
  'é漢\u202e',
];
const FORMULAS = ['=HYPERLINK("http://x")', '@SUM(1)', '+1', '-1', '\t=1', '\r=1', '\n=1', '＝1', '＋1', '－1', '＠1'];

describe('a text cell', () => {
  it('is the same for three readers, whatever it holds', () => {
    const texts = [...NASTY, ...FORMULAS];
    const csv = `${texts.map((text, index) => `${index},${textCell(text)},end\r\n`).join('')}`;
    const strict = readStrictly(csv);
    expect(strict.map((row) => row[1])).toEqual(
      texts.map((text) => (FORMULAS.includes(text) ? `'${text}` : text.replaceAll('\0', '\u2400'))),
    );
    expect(readInPython(csv)).toEqual(strict);
    expect(readInSqlite(csv)).toEqual(strict);
  });

  it('reads back as it was, in any company', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 8 }), (texts) => {
        const [row] = readStrictly(`${texts.map(textCell).join(',')},x\r\n`);
        const plain = (text: string) => text.replaceAll('\0', '\u2400');
        expect(row?.slice(0, -1).map((cell, index) => (cell === `'${plain(texts[index] ?? '')}` ? plain(texts[index] ?? '') : cell))).toEqual(texts.map(plain)); // prettier-ignore
      }),
    );
  });

  it('never begins as a formula, and a number is never touched', () => {
    for (const text of FORMULAS) expect(textCell(text).replace(/^"/, '')[0]).toBe("'");
    expect([numberCell(-2.5), numberCell(-9007199254740991), numberCell(0), numberCell(null)]).toEqual([
      '-2.5',
      '-9007199254740991',
      '0',
      '',
    ]);
  });
});

describe('a date', () => {
  it('keeps every nanosecond, before the start and far after it', () => {
    const utc = new UtcClock('1796043668729000001');
    expect(utc.cell(0)).toBe('2026-11-30T13:01:08.729000001Z');
    expect(utc.cell(-729_000_002)).toBe('2026-11-30T13:01:07.999999999Z');
    const exact = (ns: number) => {
      const wall = 1796043668729000001n + BigInt(ns);
      return `${new Date(Number(wall / 1_000_000n)).toISOString().slice(0, 19)}.${String(wall % 1_000_000_000n).padStart(9, '0')}Z`;
    };
    fc.assert(fc.property(fc.integer({ min: -1e15, max: Number.MAX_SAFE_INTEGER }), (ns) => utc.cell(ns) === exact(ns)));
    // Where a quotient would round up, if it could.
    for (const ns of [9_000_000_000_000_000 - 1, 8_999_999_000_000_000 - 1]) expect(utc.cell(ns)).toBe(exact(ns));
  });

  it('is empty where nobody knows it', () => {
    expect(new UtcClock(null).cell(5)).toBe('');
    expect(new UtcClock('99999999999999999999999999').cell(5)).toBe('');
  });
});

describe('the tables of a run', () => {
  const SECTOR = '9007199254740993';
  const WALL = '1796043668729000001';
  const lines = makeRun({ proofs: 2, partitions: 3 });
  lines
    .add('proof_accepted', 5e8, { proof: 'p8', partitions: 1, submitted_wall_ns: WALL, deadline_wall_ns: '9223372036854775807' })
    .add('proof_named', 5e8, { proof: 'p8', name: '=cmd|" /C calc"!A0', kind: SECTOR } as never)
    .add('proof_ended', 6e8, { proof: 'p8', outcome: 'failed', sha256: null, code: 'device_failed', message: '@SUM(1)\n"x",;' });
  const csv = csvOf(lines);

  it('have their headers and agree in three readers', () => {
    for (const name of CSV_FILES) {
      const rows = readStrictly(csv[name]);
      expect(rows[0], name).toEqual(CSV_COLUMNS[name]);
      expect(readInPython(csv[name]), name).toEqual(rows);
      expect(readInSqlite(csv[name]), name).toEqual(rows);
    }
    expect(readStrictly(csv['samples.csv'])).toHaveLength(1);
  });

  it('have 64-bit numbers and hostile names to the last digit', () => {
    const proof = byName(readStrictly(csv['proofs.csv'])).find((row) => row.proof === 'p8');
    expect(proof).toMatchObject({
      name: `'=cmd|" /C calc"!A0`, kind: SECTOR, submitted_wall_ns: WALL, submitted_utc: '2026-11-30T13:01:08.729000001Z',
      deadline_wall_ns: '9223372036854775807', error_message: `'@SUM(1)\n"x",;`, outcome: 'failed', accepted_ns: '490000000', ended_ns: '590000000',
      latency_ns: '100000000',
    }); // prettier-ignore
  });

  it('have one row for each span, partition and proof', () => {
    const spans = byName(readStrictly(csv['spans.csv']));
    const count = (kind: string) => spans.filter((row) => row.kind === kind && row.state === 'closed').length;
    expect([count('kernel'), count('lock'), count('job'), count('synthesis'), count('lock_wait')]).toEqual([30, 6, 6, 6, 6]);
    for (const row of spans) expect(Number(row.end_ns) - Number(row.start_ns)).toBe(Number(row.duration_ns));
    const partitions = byName(readStrictly(csv['partitions.csv']));
    expect(partitions.map((row) => `${row.proof}/${row.partition}`)).toEqual(['p1/0', 'p1/1', 'p1/2', 'p2/0', 'p2/1', 'p2/2']);
    expect(partitions[0]).toMatchObject({ outcome: 'valid', kernels: '5', kernel_sum_ns: '100000000', lock_ns: '100000000' });
    expect(byName(readStrictly(csv['proofs.csv'])).map((row) => row.outcome)).toEqual(['valid', 'valid', 'failed']);
  });

  it('have an account that adds up, and empty cells for what is not recorded', () => {
    const rows = byName(readStrictly(csv['idle.csv']));
    expect(rows.reduce((sum, row) => sum + Number(row.ns), 0)).toBe(180e9);
    const device = sampleDevice({ kernel_ns: null, groups: { lock_or_kernel: { ns: 5, may_be: ['kernel', 'in_lock'] } } });
    const log = byName(readStrictly(csvOf(lines, { startedWallNs: null }, sampleIdle([device]))['idle.csv']));
    expect(log[0]).toMatchObject({ row: 'kernel', ns: '', recorded: 'false' });
    expect(log.find((row) => row.row === 'group')).toMatchObject({ cause: 'lock_or_kernel', ns: '5', may_be: 'kernel in_lock' });
    const gaps = byName(readStrictly(csv['gaps.csv']));
    expect(gaps[0]).toMatchObject({
      cause: 'warm_up',
      before_proof: '',
      after_proof: 'p1',
      length_ns: '14000000000',
      warm_up_ns: '8000000000',
    });
    for (const gap of gaps) {
      const parts = Object.entries(gap).filter(([name]) => name.endsWith('_ns') && !/^(start|end|length)_/.test(name));
      expect(parts.reduce((sum, [, ns]) => sum + Number(ns), 0)).toBe(Number(gap.length_ns));
    }
  });

  it('pair by what a span is, not by what began last (perfetto #237)', () => {
    const crossed = new Lines().add('hello', 0).add('run_started', 0);
    const on = (partition: number) => ({ proof: 'p1', partition, worker: 0, stream: partition });
    crossed.add('picked_up', 0, { proof: 'p1', partition: 0, worker: 0 }).add('picked_up', 0, { proof: 'p1', partition: 1, worker: 1 });
    crossed.add('kernel_started', 0, on(0)).add('kernel_started', 3, { ...on(1), worker: 1 });
    crossed.add('kernel_ended', 5, on(0)).add('kernel_ended', 7, { ...on(1), worker: 1 });
    const kernels = byName(readStrictly(csvOf(crossed)['spans.csv'])).filter((row) => row.kind === 'kernel');
    expect(kernels.map((row) => [row.partition, row.duration_ns])).toEqual([['0', '5'], ['1', '4']]); // prettier-ignore
  });

  it('say of a span without an end that it has none; the others are as they were (perfetto #1159)', () => {
    const whole = byName(readStrictly(csv['spans.csv']));
    const cut = new Lines();
    const lost = lines.lines.find((line) => line.e === 'device_ended');
    cut.lines.push(...lines.lines.filter((line) => line !== lost));
    const rows = byName(readStrictly(csvOf(cut)['spans.csv']));
    const open = rows.filter((row) => row.state !== 'closed');
    expect(open).toMatchObject([{ kind: 'device', state: 'no_end', end_ns: '', end_utc: '', duration_ns: '' }]);
    const rest = (all: typeof rows) => all.filter((row) => !(row.kind === 'device' && row.start_ns === open[0]?.start_ns)).map((row) => JSON.stringify(row)).sort(); // prettier-ignore
    expect(rest(rows)).toEqual(rest(whole));
  });
});
