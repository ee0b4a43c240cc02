/**
 * A log of the cuzk daemon into the history, end to end: pieces of 512 KiB in base64 to the writing thread, read, written with
 * synchronous=FULL, the next piece on its way meanwhile. Beside it the same events from a run file, and the reader alone as what the
 * writing is set against.
 *
 *   node test/bench/import.bench.ts [MB] [rounds]      prints a table; with INTERLOCK_BENCH_JSON=1 one JSON line
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PIECE_BYTES, type ImportReport } from '../../electron/contract/transfer.ts';
import { openStore } from '../../electron/store/store.ts';
import { workerClock } from '../../electron/store/worker-clock.ts';
import { makeRunFile } from '../support/imports.ts';
import { makeRun } from '../support/journal.ts';
import { makeLongLog } from '../support/long-log.ts';

const megabytes = Number(process.argv[2] ?? 200);
const rounds = Number(process.argv[3] ?? 3);
/** As `interlock import` has them on their way. */
const AHEAD = 6;
const median = (values: number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

async function importAll(input: Buffer) {
  const folder = mkdtempSync(path.join(tmpdir(), 'interlock-bench-'));
  const store = await openStore({ folder, clock: workerClock });
  const before = process.memoryUsage().rss;
  let rss = before;
  const cpu = process.cpuUsage();
  const since = process.hrtime.bigint();
  const { import: id } = await store.beginImport({ name: 'bench.log', follow: false });
  const underWay: Promise<unknown>[] = [];
  for (let at = 0; at < input.length; at += PIECE_BYTES) {
    underWay.push(store.importPiece(id, input.subarray(at, at + PIECE_BYTES).toString('base64')));
    if (underWay.length >= AHEAD) await underWay.shift();
    if (at % (64 * PIECE_BYTES) === 0) rss = Math.max(rss, process.memoryUsage().rss);
  }
  await Promise.all(underWay);
  const report: ImportReport = await store.endImport(id);
  const took = Number(process.hrtime.bigint() - since) / 1e9;
  const used = process.cpuUsage(cpu);
  await store.close();
  rmSync(folder, { recursive: true, force: true });
  if (report.run === null) throw new Error('nothing was imported');
  return {
    rate: input.length / 1e6 / took, cpuRate: input.length / (used.user + used.system), eventRate: report.events / took, report,
    grown: (rss - before) / 2 ** 20,
  }; // prettier-ignore
}

async function measure(input: Buffer) {
  const results = [];
  for (let round = 0; round < rounds; round++) results.push(await importAll(input));
  const [first] = results;
  return {
    rate: median(results.map((one) => one.rate)),
    cpuRate: median(results.map((one) => one.cpuRate)),
    eventRate: median(results.map((one) => one.eventRate)),
    grown: Math.max(...results.map((one) => one.grown)),
    events: first?.report.events ?? 0,
    unparsed: first?.report.unparsed ?? 0,
  };
}

const log = await measure(makeLongLog(megabytes * 1e6));
const file = await measure(Buffer.from(makeRunFile({ events: makeRun({ proofs: Math.ceil(megabytes * 3), partitions: 10 }).events })));
const rows = [
  { name: 'log into the history, MB/s', ours: log.rate, reference: null, target: 100, met: log.rate >= 100 },
  { name: '   MB per CPU second', ours: log.cpuRate, reference: null, target: null, met: null },
  { name: '   events/s', ours: log.eventRate, reference: null, target: null, met: null },
  { name: '   memory grown, MiB', ours: log.grown, reference: null, target: 200, met: log.grown <= 200 },
  { name: 'run file into the history, MB/s', ours: file.rate, reference: null, target: null, met: null },
  { name: '   events/s', ours: file.eventRate, reference: null, target: null, met: null },
];
if (process.env.INTERLOCK_BENCH_JSON) console.log(JSON.stringify(rows));
else {
  console.table(rows);
  console.log(`${log.events} events, ${log.unparsed} lines not understood`);
}
