/**
 * A run of 1,000,000 events to CSV, through the reading thread as every door asks for it: seconds, and memory beyond what was held before.
 * The other formats beside it, for comparison.
 *
 *   node test/bench/export.bench.ts [events] [formats]      prints a table; with INTERLOCK_BENCH_JSON=1 one JSON line
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EXPORT_FORMATS, type ExportFormat } from '../../electron/contract/transfer.ts';
import { openStore } from '../../electron/store/store.ts';
import { workerClock } from '../../electron/store/worker-clock.ts';
import { makeRun, PROCESS_A, SCHEDULER } from '../support/journal.ts';

const wanted = Number(process.argv[2] ?? 1_000_000);
const formats = (process.argv[3]?.split(',') ?? [...EXPORT_FORMATS]) as ExportFormat[];
/** Targets of the CSV of a million events. */
const MOST_SECONDS = 5;
const MOST_MIB = 200;

/** The whole process, threads and all, as the system counts it. */
const residentMib = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;

async function prepare(folder: string): Promise<number> {
  const store = await openStore({ folder, clock: workerClock });
  const { run } = await store.createRun({ scheduler: SCHEDULER, backend: 'cpu', engine: 'builtin', emulate: null });
  const own = path.join(folder, 'p');
  mkdirSync(own);
  const journal = path.join(own, 'journal.ndjson');
  const { text, events } = makeRun({ proofs: Math.max(1, Math.ceil(wanted / (10 * 29 + 2))), partitions: 10, run });
  writeFileSync(journal, text);
  await store.addProcess({ process: PROCESS_A, pid: 1, startTicks: '1', folder: own, journal, backend: 'cpu', run });
  await store.follow(PROCESS_A);
  await store.finishFollowing(PROCESS_A);
  await store.closeProcess(PROCESS_A, { ended: 'drained', exit: 0, signal: null });
  await store.closeRun(run, { state: 'finished', endedBy: 'drained', atLastEvent: false });
  await store.close();
  rmSync(journal);
  return events.length;
}

/** One export in a store that has done nothing else. */
async function measure(folder: string, format: ExportFormat): Promise<{ seconds: number; cpuSeconds: number; mib: number; bytes: number }> {
  const store = await openStore({ folder, clock: workerClock });
  await store.listRuns({ limit: 1 }).catch(() => undefined);
  const before = residentMib();
  let most = before;
  let bytes = 0;
  const cpu = process.cpuUsage();
  const since = process.hrtime.bigint();
  const begun = await store.beginExport({ run: 'last', format, redact: false });
  for (let done = false; !done;) {
    const piece = await store.exportPiece(begun.export);
    bytes += Buffer.byteLength(piece.base64, 'base64');
    most = Math.max(most, residentMib());
    ({ done } = piece);
  }
  const seconds = Number(process.hrtime.bigint() - since) / 1e9;
  const used = process.cpuUsage(cpu);
  await store.close();
  return { seconds, cpuSeconds: (used.user + used.system) / 1e6, mib: most - before, bytes };
}

const given = process.argv[4];
const folder = given ?? mkdtempSync(path.join(tmpdir(), 'interlock-bench-'));
try {
  if (given === undefined) {
    // Made in a process of its own: its memory is not to count.
    execFileSync(process.execPath, [import.meta.filename, String(wanted), '', folder], { stdio: 'inherit' });
    const rows: { name: string; seconds: number; 'CPU s': number; 'more MiB': number; MB: number; met: boolean | null }[] = [];
    for (const format of formats) {
      const { seconds, cpuSeconds, mib, bytes } = await measure(folder, format);
      const met = format === 'csv' && wanted === 1_000_000 ? seconds <= MOST_SECONDS && mib <= MOST_MIB : null;
      rows.push({ name: `${wanted} events to ${format}`, seconds, 'CPU s': cpuSeconds, 'more MiB': mib, MB: bytes / 1e6, met });
    }
    if (process.env.INTERLOCK_BENCH_JSON) console.log(JSON.stringify(rows));
    else console.table(rows);
  } else await prepare(folder);
} finally {
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
}
