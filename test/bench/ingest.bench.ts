/**
 * E3 and E5: a journal that is there already into SQLite, strictly decoded, synchronous=FULL, all indexes, live view up to date.
 * The reference in the same run: JSON.parse and one insert a row with its detail as text, as plainly as it can be written.
 *
 *   node test/bench/ingest.bench.ts [events]      prints a table; with INTERLOCK_BENCH_JSON=1 one JSON line
 */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { IdleAnalysis } from '../../electron/analysis/idle/idle-analysis.ts';
import { SpanTracker } from '../../electron/analysis/spans.ts';
import { RunReportBuilder } from '../../electron/analysis/run-report.ts';
import type { EventOf } from '../../electron/contract/timeline-events.ts';
import { openStore } from '../../electron/store/store.ts';
import { workerClock } from '../../electron/store/worker-clock.ts';
import { makeRun, PROCESS_A, SCHEDULER } from '../support/journal.ts';

const wanted = Number(process.argv[2] ?? 500_000);
const rounds = Number(process.argv[3] ?? 5);
const perProof = 10 * 29 + 2;
const lines = makeRun({ proofs: Math.max(1, Math.ceil(wanted / perProof)), partitions: 10 });
const { text, events } = lines;

const seconds = (since: bigint) => Number(process.hrtime.bigint() - since) / 1e9;
const median = (values: number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

async function ours(folder: string): Promise<{ rate: number; cpuRate: number; bytes: number }> {
  const store = await openStore({ folder, clock: workerClock });
  const { run } = await store.createRun({ scheduler: SCHEDULER, backend: 'cpu', engine: 'builtin', emulate: null });
  const own = path.join(folder, 'p');
  mkdirSync(own);
  const journal = path.join(own, 'journal.ndjson');
  writeFileSync(journal, text);
  await store.addProcess({ process: PROCESS_A, pid: 1, startTicks: '1', folder: own, journal, backend: 'cpu', run });
  const stop = store.onLive(() => undefined);
  store.onCommitted(() => undefined, ['proof_ended', 'ready', 'bye']);
  const cpu = process.cpuUsage();
  const since = process.hrtime.bigint();
  await store.follow(PROCESS_A);
  await store.finishFollowing(PROCESS_A);
  const took = seconds(since);
  const used = process.cpuUsage(cpu);
  stop();
  await store.close();
  const db = new Database(path.join(folder, 'history.sqlite'));
  const stored = db.prepare('SELECT count(*) FROM event').pluck().get() as number;
  if (stored !== events.length) throw new Error(`${stored} of ${events.length} events stored`);
  db.close();
  return {
    rate: events.length / took,
    cpuRate: events.length / ((used.user + used.system) / 1e6),
    bytes: statSync(path.join(folder, 'history.sqlite')).size / events.length,
  };
}

function plain(folder: string): { rate: number; bytes: number } {
  const file = path.join(folder, 'plain.sqlite');
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE event (process TEXT, seq INTEGER, t INTEGER, e TEXT, body TEXT, PRIMARY KEY (process, seq))');
  const insert = db.prepare('INSERT OR IGNORE INTO event VALUES (?, ?, ?, ?, ?)');
  const since = process.hrtime.bigint();
  let n = 0;
  db.exec('BEGIN');
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const event = JSON.parse(line) as { seq?: number; t: number; e: string };
    if (event.seq === undefined) continue;
    insert.run(PROCESS_A, event.seq, event.t, event.e, line);
    if (++n % 1_000 === 0) db.exec('COMMIT; BEGIN');
  }
  db.exec('COMMIT');
  const took = seconds(since);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  return { rate: events.length / took, bytes: statSync(file).size / events.length };
}

function analyse(): number {
  const since = process.hrtime.bigint();
  const builder = new RunReportBuilder();
  builder.beginProcess(events[0] as EventOf<'hello'>, 0);
  for (const event of events) builder.take(event);
  builder.build({ run: 'r1', uid: '', state: 'finished', endedBy: null, engine: '', backend: 'cpu', emulate: null, scheduler: SCHEDULER, found: {}, importedFrom: null, lost: 0, unparsed: 0, peakRssBytes: null, processes: [] }, null); // prettier-ignore
  return seconds(since);
}

function attribute(): number {
  const since = process.hrtime.bigint();
  const account = new IdleAnalysis();
  account.beginProcess(events[0] as EventOf<'hello'>, 0, true);
  for (const event of events) account.take(event);
  account.build({ run: 'r1', state: 'finished', engine: 'builtin', scheduler: SCHEDULER, proofsInFlight: null }, null);
  return seconds(since);
}

function pair(): number {
  const since = process.hrtime.bigint();
  let id = 0;
  const tracker = new SpanTracker(0, () => undefined, () => id++); // prettier-ignore
  for (const event of events) tracker.take(event);
  return seconds(since);
}

const rates: { ours: number[]; cpu: number[]; plain: number[] } = { ours: [], cpu: [], plain: [] };
const bytes = { ours: 0, plain: 0 };
for (let round = 0; round < rounds; round++) {
  const folder = mkdtempSync(path.join(tmpdir(), 'interlock-bench-'));
  try {
    const mine = await ours(path.join(folder, 'data'));
    const other = plain(folder);
    rates.ours.push(mine.rate);
    rates.cpu.push(mine.cpuRate);
    rates.plain.push(other.rate);
    Object.assign(bytes, { ours: mine.bytes, plain: other.bytes });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
const analysis = (median(Array.from({ length: 3 }, analyse)) / events.length) * 1e6;
const causes = (median(Array.from({ length: 3 }, attribute)) / events.length) * 1e6;
const pairing = (median(Array.from({ length: 3 }, pair)) / events.length) * 1e6;
const rows = [
  {
    name: 'E3 journal to SQLite, events/s',
    ours: median(rates.ours),
    reference: median(rates.plain),
    target: 100_000,
    met: median(rates.ours) >= 100_000,
  },
  { name: '   events per CPU second', ours: median(rates.cpu), reference: null, target: null, met: null },
  { name: 'E5 bytes an event', ours: bytes.ours, reference: bytes.plain, target: 40, met: bytes.ours <= 40 },
  { name: 'E4 report of 1,000,000 events, s', ours: analysis, reference: null, target: 1, met: analysis <= 1 },
  { name: 'E4 idle causes of 1,000,000 events, s', ours: causes, reference: null, target: 1, met: causes <= 1 },
  { name: '   pairing of spans alone, s', ours: pairing, reference: null, target: null, met: null },
];
if (process.env.INTERLOCK_BENCH_JSON) console.log(JSON.stringify(rows));
else console.table(rows);
