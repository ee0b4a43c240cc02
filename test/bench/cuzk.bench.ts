/**
 * A log of the cuzk daemon into events: the recorded mix of lines, repeated with other job ids and later stamps until it is as long as
 * asked for, read in pieces of a mebibyte by the reader alone. The reference in the same run: every line decoded and matched by one
 * regular expression, which is the least that a reader by lines would do.
 *
 *   node test/bench/cuzk.bench.ts [MB] [rounds]      prints a table; with INTERLOCK_BENCH_JSON=1 one JSON line
 */
import { readFileSync } from 'node:fs';
import type { ImportSink } from '../../electron/formats/import-sink.ts';
import { createCuzkReader } from '../../electron/formats/cuzk/reader.ts';

const megabytes = Number(process.argv[2] ?? 200);
const rounds = Number(process.argv[3] ?? 3);
const PIECE = 2 ** 20;

/** The lines of one recorded engine's life, without its start, which comes once. */
const text = readFileSync(new URL('../fixtures/cuzk/gw2a.log', import.meta.url), 'utf8');
const cutAt = text.indexOf('\n', text.indexOf('status HTTP server listening')) + 1;
const head = text.slice(0, cutAt);
const body = text.slice(cutAt);
const LIFE_MS = 300_000;

/** `round` lives later: TIMELINE and tracing stamps shifted, job ids another miner's. */
function shifted(round: number): string {
  return body
    .replace(/TIMELINE,(\d+),/g, (_, ms: string) => `TIMELINE,${Number(ms) + round * LIFE_MS},`)
    .replace(
      /^(\S{26})Z/gm,
      (_, stamp: string) =>
        `${new Date(Date.parse(`${stamp.slice(0, 23)}Z`) + round * LIFE_MS).toISOString().slice(0, 23)}${stamp.slice(23)}Z`,
    )
    .replaceAll('porep-1000-', `porep-${1000 + round}-`);
}

const pieces: Buffer[] = [Buffer.from(head)];
let bytes = pieces[0]?.length ?? 0;
for (let round = 0; bytes < megabytes * 1e6; round++) {
  const piece = Buffer.from(shifted(round));
  pieces.push(piece);
  bytes += piece.length;
}
const input = Buffer.concat(pieces);

function sinkOf(): { sink: ImportSink; counts: { events: number; problems: number; runs: number } } {
  const counts = { events: 0, problems: 0, runs: 0 };
  const nothing = () => undefined;
  const sink: ImportSink = {
    beginRun: () => void (counts.runs += 1), beginProcess: nothing, event: () => void (counts.events += 1), horizon: nothing, loss: nothing,
    oldProblem: nothing, endProcess: nothing, hold: nothing, attempt: nothing, endRun: nothing, problem: () => void (counts.problems += 1),
  }; // prettier-ignore
  return { sink, counts };
}

const seconds = (since: bigint) => Number(process.hrtime.bigint() - since) / 1e9;
const median = (values: number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

function ours(): { rate: number; cpuRate: number; counts: { events: number; problems: number; runs: number }; heap: number } {
  const { sink, counts } = sinkOf();
  const reader = createCuzkReader(sink, { name: 'bench' });
  const cpu = process.cpuUsage();
  const since = process.hrtime.bigint();
  for (let at = 0; at < input.length; at += PIECE) reader.push(input.subarray(at, at + PIECE));
  const heap = process.memoryUsage().heapUsed;
  reader.end();
  const took = seconds(since);
  const used = process.cpuUsage(cpu);
  return { rate: input.length / 1e6 / took, cpuRate: input.length / (used.user + used.system), counts, heap };
}

function plain(): number {
  const since = process.hrtime.bigint();
  let found = 0;
  for (let from = 0; from < input.length;) {
    const end = input.indexOf(10, from);
    if (/^(?:TIMELINE,(\d+),(\w+),(.*)|CUZK_TIMING: (.*)|(\S+Z) +(\w+) (.*?): (.*))$/.test(input.toString('utf8', from, end))) found += 1;
    from = end + 1;
  }
  if (found === 0) throw new Error('nothing found');
  return input.length / 1e6 / seconds(since);
}

const results = Array.from({ length: rounds }, ours);
const rate = median(results.map((one) => one.rate));
const { counts } = results[0] as { counts: { events: number; problems: number; runs: number } };
if (counts.runs !== 1 || counts.problems !== 0)
  throw new Error(`${counts.runs} runs and ${counts.problems} problems in a log of one run without any`);
const rows = [
  { name: 'cuzk log, MB/s', ours: rate, reference: plain(), target: 100, met: rate >= 100 },
  { name: '   MB per CPU second', ours: median(results.map((one) => one.cpuRate)), reference: null, target: null, met: null },
  { name: '   MB read', ours: input.length / 1e6, reference: null, target: null, met: null },
  { name: '   events', ours: counts.events, reference: null, target: null, met: null },
  { name: '   heap at its end, MB', ours: median(results.map((one) => one.heap)) / 1e6, reference: null, target: null, met: null },
];
if (process.env.INTERLOCK_BENCH_JSON) console.log(JSON.stringify(rows));
else console.table(rows);
