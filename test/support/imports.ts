/** Imports without threads: a database in memory or a file, a clock that is moved by hand, and input made by hand. */
import Database from 'better-sqlite3';
import type { ImportProblem, ImportReport } from '../../electron/contract/transfer.ts';
import type { EventOf, TimelineEvent } from '../../electron/contract/timeline-events.ts';
import type { ImportReader, ImportSink } from '../../electron/formats/import-sink.ts';
import { RunFileWriter } from '../../electron/formats/run-file/writer.ts';
import { createRunFileReader } from '../../electron/formats/run-file/reader.ts';
import { EventWriter } from '../../electron/store/event-writer.ts';
import { Imports } from '../../electron/store/imports.ts';
import { LiveFeed } from '../../electron/store/live-feed.ts';
import { migrate } from '../../electron/store/migrations/index.ts';
import { Processes } from '../../electron/store/processes.ts';
import { inTransaction } from '../../electron/store/queue.ts';
import { Reads } from '../../electron/store/reads.ts';
import { RunReads } from '../../electron/store/run-reads.ts';
import { SCHEDULER } from './journal.ts';
import { ManualClock } from './manual-clock.ts';

export const UID = '5f0f6f0a-0000-4000-8000-0000000000aa';

export interface RunFileParts {
  uid?: string;
  run?: string;
  events: TimelineEvent[];
  holds?: [from: number, to: number | null][];
  attempt?: string;
  /** Written while it lasted. */
  lasts?: boolean;
}

/** A whole run as a file. */
export function makeRunFile({ uid = UID, run = 'r7', events, holds = [], attempt, lasts = false }: RunFileParts): string {
  let text = '';
  const writer = new RunFileWriter((part) => (text += part));
  const hello = events[0] as EventOf<'hello'>;
  const started = events.find((event) => event.e === 'run_started') as EventOf<'run_started'>;
  const ended = events.find((event) => event.e === 'run_ended');
  writer.head({
    run, uid, state: lasts ? 'running' : 'finished', endedBy: lasts ? null : 'drained', engine: 'builtin', backend: 'cpu', emulate: null, scheduler: SCHEDULER, found: {},
    startedWallNs: '1796043668739000001',
  }); // prettier-ignore
  writer.process({
    hello, seqFrom: 0, startedSeq: started.seq, startedT: started.t, seqTo: ended?.seq ?? null, endedT: ended?.t ?? null,
    reason: lasts ? null : 'drained', ended: lasts ? null : 'drained', exit: lasts ? null : 0, signal: null, horizon: events.at(-1)?.t ?? 0, peakRssBytes: 2000, unparsed: 0,
  }); // prettier-ignore
  for (const event of events) writer.event(event);
  for (const [from, to] of holds) writer.hold(from, to);
  if (attempt !== undefined) {
    writer.attempt({ proof: attempt, attempt: 1, outcome: 'failed', sha256: null, file: null, code: 'panicked', message: 'it fell' });
  }
  writer.end();
  return text;
}

/**
 * A log as simple as can be: its first line is a run's uid, then one event a line; what ends with ` !` is not understood. What its end
 * leaves open is closed by two made-up events.
 */
export function createSimpleLogReader(sink: ImportSink): ImportReader {
  let rest = '';
  let seq = 0;
  let last = 0;
  let begun = false;
  let offset = 0;
  const reader = {
    lines: 0,
    push(bytes: Uint8Array) {
      rest += Buffer.from(bytes).toString('utf8');
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) take(line);
    },
    end() {
      if (!begun) return;
      sink.event({ seq, t: last + 1, e: 'run_ended', run: 'r', reason: 'stopped' });
      sink.event({ seq: seq + 1, t: last + 1, e: 'bye', reason: 'failed', exit: -1 });
      sink.endProcess({
        seqTo: seq + 1, endedT: last + 1, reason: 'stopped', ended: 'the log ends', exit: null, signal: null, horizon: last + 1,
        peakRssBytes: null, unparsed: 0,
      }); // prettier-ignore
      sink.endRun({ state: 'interrupted', endedBy: 'the log ends' });
    },
  };
  const problem = (kind: ImportProblem['kind'], text: string) =>
    sink.problem({ line: reader.lines, offset, bytes: text.length, kind, problem: 'not understood', text });
  function take(line: string) {
    reader.lines += 1;
    if (line.startsWith('uid ')) begin(line.slice(4));
    else if (line.endsWith(' !')) problem('unparsed', line);
    else {
      const event = JSON.parse(line) as TimelineEvent;
      seq = event.seq + 1;
      last = event.t;
      sink.event(event);
      sink.horizon(event.t);
    }
    offset += line.length + 1;
  }
  function begin(uid: string) {
    begun = true;
    const hello: EventOf<'hello'> = {
      seq: 0, t: 0, e: 'hello', format: 2, process: uid, pid: 0, start_ticks: '0', boot_id: 'imported', monotonic_ns: '0', wall_ns: '0',
      version: '', engine: 'cuzk', backend: 'cuda', devices: [{ device: 'gpu0', kind: 'cuda', name: '', workers_max: 1, clock: 'host' }],
      grace_ns: 0, host_cpus: 0, memory_total_bytes: 0,
    }; // prettier-ignore
    sink.beginRun({ uid, originRun: null, engine: 'cuzk', backend: 'cuda', emulate: null, scheduler: null, found: { 'gpu-workers': '1' }, startedWallNs: '0' }); // prettier-ignore
    sink.beginProcess({ hello, seqFrom: 0, startedSeq: 1, startedT: 0 });
    sink.event(hello);
    seq = 1;
  }
  return reader;
}

export function openImports(options: { file?: string; log?: (sink: ImportSink, more: { name: string }) => ImportReader } = {}) {
  const db = new Database(options.file ?? ':memory:');
  db.pragma('foreign_keys = ON');
  migrate(db);
  const clock = new ManualClock();
  const { dictionary } = new EventWriter(db, () => 0);
  const live = new LiveFeed(clock);
  let full = false;
  const imports = new Imports({
    clock,
    live,
    readers: { runFile: createRunFileReader, log: options.log ?? createSimpleLogReader },
    transact: (work) => {
      try {
        const value = inTransaction(db, () => {
          const done = work(db, dictionary);
          if (full) throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
          return done;
        });
        dictionary.committed();
        return value;
      } catch (error) {
        dictionary.forget();
        throw error;
      }
    },
  });
  const processes = new Processes(db, () => 0);
  return {
    db,
    clock,
    live,
    imports,
    processes,
    reads: () => new RunReads(new Reads(db)),
    fillDisk: (is: boolean) => (full = is),
    begin: (name = 'x.log', follow = false) => imports.begin({ name, follow }).import,
    piece: (id: string, bytes: string | Uint8Array) => imports.piece(id, Buffer.from(bytes).toString('base64')),
    async importAll(input: string | Uint8Array, step = 100_000, name = 'x.log'): Promise<ImportReport> {
      const { import: id } = imports.begin({ name, follow: false });
      const bytes = Buffer.from(input);
      for (let at = 0; at < bytes.length; at += step) await imports.piece(id, bytes.subarray(at, at + step).toString('base64'));
      return imports.end(id);
    },
    stored: (run: string) => {
      const reads = new Reads(db);
      return reads.stretchesOf(run).flatMap((stretch) => reads.readPage(stretch.id, stretch.seqFrom, Number.MAX_SAFE_INTEGER, 1e6));
    },
    /** All that is stored, to see that nothing changed. */
    dump: () =>
      ['run', 'run_process', 'process', 'journal', 'event', 'loss', 'hold', 'imported_attempt', 'problem'].map((table) =>
        db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all(),
      ),
  };
}
