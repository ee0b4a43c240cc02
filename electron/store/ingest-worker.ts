/** Entry of the writing thread: the only one that changes the history. Answers calls one by one; tells what became durable. */
import { parentPort, workerData } from 'node:worker_threads';
import { InterlockError } from '../contract/errors.ts';
import type { Notice } from '../contract/live.ts';
import type { EventName } from '../contract/timeline-events.ts';
import { Experiments } from './experiments.ts';
import { createCuzkReader } from '../formats/cuzk/reader.ts';
import { createRunFileReader } from '../formats/run-file/reader.ts';
import { toStoreFailure } from './failures.ts';
import { beginHold, endHold, endLeftHolds } from './holds.ts';
import { Ingest } from './ingest.ts';
import { journalFiles } from './journal-files.ts';
import { Imports } from './imports.ts';
import { LiveFeed } from './live-feed.ts';
import type { CallOf, Told, WriterCalls, WriterSetup } from './messages.ts';
import { getMeta, openBeside, openWriter, setMeta, type Opened } from './open.ts';
import { Processes } from './processes.ts';
import { Queue } from './queue.ts';
import { workerClock } from './worker-clock.ts';

const LIVE_MS = 100;

const port = parentPort;
if (!port) throw new Error('this file is the entry of a thread');
const setup = workerData as WriterSetup;
const tell = (told: Told) => port.postMessage(told);

let wanted: { committed: Set<EventName> | 'all' | null; state: boolean; live: boolean } = { committed: null, state: false, live: false };

function start(): void {
  let opened: Opened;
  try {
    opened = setup.readOnly ? openBeside(setup.folder) : openWriter({ ...setup, wallMs: workerClock.wallMs() });
  } catch (error) {
    tell({ told: 'refused', failure: toStoreFailure(error, setup.folder) });
    return;
  }
  const calls = opened.readOnly === null && opened.db ? writingCalls(opened) : readingCalls(opened);
  port?.on('message', (message: CallOf<WriterCalls>) => void answer(calls, message));
}

async function answer(calls: WriterCalls, { id, call, args }: CallOf<WriterCalls>): Promise<void> {
  try {
    const value = await (calls[call] as (...values: unknown[]) => unknown)(...args);
    port?.postMessage({ id, ok: true, value });
  } catch (error) {
    port?.postMessage({ ...toStoreFailure(error, setup.folder), id });
  }
}

function writingCalls(opened: Opened): WriterCalls {
  if (!opened.db) throw new Error('nothing is open');
  const live = new LiveFeed(workerClock);
  const ingest = new Ingest({
    folder: setup.folder,
    db: opened.db,
    clock: workerClock,
    files: journalFiles,
    live,
    sink: {
      committed(process, events, lastSeq) {
        const names = wanted.committed;
        if (names === null) return;
        const told = names === 'all' ? events : events.filter((event) => names.has(event.e));
        if (told.length > 0) tell({ told: 'committed', process, events: told, lastSeq });
      },
      state: (process, state) => wanted.state && tell({ told: 'state', process, state }),
      notice: (notice) => tell({ told: 'notice', notice }),
      failing: (failing) => tell({ told: 'failing', failing }),
      walLarge: (bytes) => tell({ told: 'wal_large', bytes }),
    },
  });
  const ticker = setInterval(() => {
    if (wanted.live) for (const message of live.takeMessages()) tell({ told: 'live', message });
  }, LIVE_MS);
  ticker.unref();
  const notices = opened.notices.map((notice) => ingest.processes.recordNotice(notice));
  tell({ told: 'opened', readOnly: null, notices, uuid: getMeta(ingest.db, 'uuid') ?? '', unclean: opened.unclean });
  const imports = new Imports({
    clock: workerClock,
    transact: (work) => ingest.transact(work),
    live,
    readers: { runFile: createRunFileReader, log: createCuzkReader },
  });
  const queue = <T>(work: (queue: Queue) => T): T => ingest.guard(() => work(ingest.queue));
  // Made anew each time: the connection may have been thrown away.
  const experiments = <T>(work: (experiments: Experiments) => T): T =>
    ingest.guard(() => work(new Experiments(ingest.db, () => workerClock.wallMs())));
  const records = <T>(work: (processes: Processes) => T): T => ingest.guard(() => work(ingest.processes));
  return {
    addProofs: (specs) => queue((q) => q.addProofs(specs)),
    takeWaiting: (limit) => queue((q) => q.takeWaiting(limit)),
    listRunning: () => queue((q) => q.listRunning()),
    countProofs: () => queue((q) => q.countProofs()),
    markSubmitted: (proof, attempt, run, process) => queue((q) => q.markSubmitted(proof, attempt, run, process)),
    returnToHead: (proof, how) => queue((q) => q.returnToHead(proof, how)),
    finishProof: (proof, attempt, finish) => queue((q) => q.finishProof(proof, attempt, finish)),
    withdraw: (proofs) => queue((q) => q.withdraw(proofs)),
    createRun: (run) => records((p) => p.createRun(run)),
    closeRun: (run, close) => {
      records((p) => p.closeRun(run, close));
      live.runClosed(run);
    },
    storeSummary: (run, summary) => records((p) => p.storeSummary(run, summary)),
    openRuns: () => records((p) => p.openRuns()),
    addProcess: (process) => records((p) => p.addProcess(process)),
    liveProcesses: () => records((p) => p.liveProcesses()),
    journalsLeft: () => records((p) => p.journalsLeft()),
    closeProcess: (process, end) => records((p) => p.closeProcess(process, end)),
    follow: (process) => ingest.guard(() => ingest.follow(process)),
    finishFollowing: (process) => ingest.finishFollowing(process),
    journalDone: (process) => {
      ingest.flush();
      return records((p) => p.journalDone(process));
    },
    journalDeleted: (process) => records((p) => p.journalDeleted(process)),
    recordStep: (process, step, detail) => records((p) => p.recordStep(process, step, detail)),
    recordNotice: (notice) => records((p) => p.recordNotice(notice)),
    beginHold: (hold) => {
      const id = ingest.transact((db) => beginHold(db, hold));
      live.holdBegan(id, hold);
      return id;
    },
    endHold: (id, toNs) => {
      ingest.transact((db) => endHold(db, id, toNs));
      live.holdEnded(id, toNs);
    },
    endLeftHolds: (now) => ingest.transact((db) => endLeftHolds(db, now)),
    liveSnapshot: (run) => live.snapshot(run),
    ingestStatus: () => ingest.status(),
    listen: (next) => listen(next, live),
    beginImport: (input) => imports.begin(input),
    importPiece: (id, base64) => imports.piece(id, base64),
    endImport: (id) => imports.end(id),
    createExperiment: (start) => experiments((x) => x.create(start)),
    beginBlock: (experiment, block, specs) => experiments((x) => x.beginBlock(experiment, block, specs)),
    endBlock: (experiment, position, end) => experiments((x) => x.endBlock(experiment, position, end)),
    endExperiment: (experiment, end) => experiments((x) => x.end(experiment, end)),
    openExperiments: () => experiments((x) => x.open()),
    backup(file) {
      ingest.flush();
      ingest.guard(() => ingest.db.prepare('VACUUM INTO ?').run(file));
    },
    async close() {
      clearInterval(ticker);
      await imports.endAll();
      ingest.close();
      setMeta(ingest.db, 'clean_shutdown', '1');
      ingest.db.pragma('wal_checkpoint(TRUNCATE)');
      ingest.db.close();
      setImmediate(() => port?.close());
    },
  };
}

function listen(next: { committed: 'all' | EventName[]; state: boolean; live: boolean }, live: LiveFeed): void {
  const names = next.committed === 'all' ? 'all' : next.committed.length === 0 ? null : new Set(next.committed);
  if (next.live && !wanted.live) live.restart();
  wanted = { committed: names, state: next.state, live: next.live };
}

/** A history that is only shown: what changes it is refused with the reason. */
function readingCalls(opened: Opened): WriterCalls {
  const { db, readOnly } = opened;
  const reason = readOnly ?? { code: 'read_only' as const, message: 'The history cannot be written.' };
  const wallMs = workerClock.wallMs();
  const notices: Notice[] = opened.notices.map((notice, index) => ({ id: -1 - index, wallMs, ...notice }));
  tell({ told: 'opened', readOnly: reason, notices, uuid: (db && getMeta(db, 'uuid')) ?? '', unclean: false });
  const refuse = (): never => {
    throw new InterlockError(reason.code, reason.message);
  };
  const queue = db ? new Queue(db, refuse) : null;
  const records = db ? new Processes(db, refuse) : null;
  return {
    addProofs: refuse,
    takeWaiting: (limit) => queue?.takeWaiting(limit) ?? [],
    listRunning: () => queue?.listRunning() ?? [],
    countProofs: () => queue?.countProofs() ?? { waiting: 0, running: 0 },
    markSubmitted: refuse,
    returnToHead: refuse,
    finishProof: refuse,
    withdraw: refuse,
    createRun: refuse,
    closeRun: refuse,
    storeSummary: refuse,
    openRuns: () => records?.openRuns() ?? [],
    addProcess: refuse,
    liveProcesses: () => records?.liveProcesses() ?? [],
    journalsLeft: () => records?.journalsLeft() ?? [],
    closeProcess: refuse,
    follow: refuse,
    finishFollowing: refuse,
    journalDone: (process) => records?.journalDone(process) ?? refuse(),
    journalDeleted: refuse,
    recordStep: refuse,
    recordNotice: refuse,
    beginHold: refuse,
    endHold: refuse,
    endLeftHolds: refuse,
    liveSnapshot: () => null,
    ingestStatus: () => ({ lagNs: 0, lost: 0, unparsed: 0, failing: reason, following: [] }),
    listen: () => undefined,
    beginImport: refuse,
    importPiece: refuse,
    endImport: refuse,
    createExperiment: refuse,
    beginBlock: refuse,
    endBlock: refuse,
    endExperiment: refuse,
    openExperiments: () => [],
    backup: (file) => (db ? void db.prepare('VACUUM INTO ?').run(file) : refuse()),
    close() {
      db?.close();
      setImmediate(() => port?.close());
    },
  };
}

start();
