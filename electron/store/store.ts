/** The store's door for the host: opens a data folder and talks to the writing and the reading thread. SQL is theirs alone. */
import { InterlockError } from '../contract/errors.ts';
import type { LiveMessage, Notice } from '../contract/live.ts';
import type { EventName, StateLine } from '../contract/timeline-events.ts';
import { prepareFolder, writeMarker } from './folder.ts';
import { lockFolder, type FolderLock } from './lock.ts';
import type { ReaderCalls, ReaderSetup, Told, WriterCalls, WriterSetup } from './messages.ts';
import { codeOf, explainUnwritable } from './open.ts';
import { failureToError, Thread, type ThreadOptions } from './thread.ts';
import type { CommittedBatch, IngestStatus, Store, StoreOptions, Unsubscribe } from './types.ts';
import { ingestWorkerUrl, readWorkerUrl } from './worker-urls.ts';

export type * from './types.ts';

type OpenedTold = Extract<Told, { told: 'opened' }>;

const SLOW_MS = 200;
/** A read that has not answered by then is ended, so that it cannot hold the WAL; its caller gets `interrupted`. */
const READ_DEADLINE_MS = 30_000;

/**
 * Opens (or makes) the history in a data folder and takes the folder's lock. Fails with `host_running` (another host holds it) or
 * `folder_unusable`; everything less is told in `access` and `notices`.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  prepareFolder(options.folder, options.fileSystemType);
  const lock = takeLock(options);
  try {
    return await openThreads(options, lock);
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** Opens the history read-only, beside a running host or none: only the reads work, everything else fails with `read_only`. */
export async function openStoreReadOnly(options: StoreOptions): Promise<Store> {
  return openThreads(options, null, true);
}

/** A folder that cannot be written needs no lock: nobody changes it. */
function takeLock(options: StoreOptions): FolderLock | null {
  try {
    return lockFolder(options.folder, options.clock.wallMs());
  } catch (error) {
    if (error instanceof InterlockError || !(explainUnwritable(error, options.folder) || codeOf(error).startsWith('SQLITE_'))) throw error;
    return null;
  }
}

async function openThreads(options: StoreOptions, lock: FolderLock | null, readOnly = false): Promise<Store> {
  const common = {
    clock: options.clock,
    slowMs: options.slowMs ?? SLOW_MS,
    onSlow: options.onSlow ?? (() => undefined),
  };
  const heard = new Listeners();
  const { opened, thread } = await startWriter(options, common, heard, readOnly);
  heard.onWanted = () => void thread.call('listen', heard.wanted()).catch(() => undefined);
  const reader = new Reader(options.folder, common);
  heard.onWalLarge = () => reader.restart();
  const notices = [...opened.notices];
  heard.onNotice = (notice) => notices.push(notice);
  const call = thread.call.bind(thread);

  if (opened.unclean) {
    void reader.call('quickCheck').then(
      async (damage) => {
        if (damage === null) return;
        writeMarker(options.folder, damage);
        const message = `The history is damaged (${damage.slice(0, 200)}). At the next start it is kept aside and a new one begun.`;
        notices.push(await call('recordNotice', { severity: 'error', code: 'corrupt_data', message }));
      },
      () => undefined,
    );
  }

  return {
    access: { readOnly: opened.readOnly },
    notices,
    uuid: opened.uuid,
    addProofs: (specs) => call('addProofs', specs),
    listProofs: (input) => reader.call('listProofs', input),
    takeWaiting: (limit) => call('takeWaiting', limit),
    listRunning: () => call('listRunning'),
    countProofs: () => call('countProofs'),
    markSubmitted: (proof, attempt, run, process) => call('markSubmitted', proof, attempt, run, process),
    returnToHead: (proof, how) => call('returnToHead', proof, how),
    finishProof: (proof, attempt, finish) => call('finishProof', proof, attempt, finish),
    withdraw: (proofs) => call('withdraw', proofs),
    createRun: (start) => call('createRun', start),
    closeRun: (run, close) => call('closeRun', run, close),
    openRuns: () => call('openRuns'),
    addProcess: (start) => call('addProcess', start),
    liveProcesses: () => call('liveProcesses'),
    closeProcess: (process, end) => call('closeProcess', process, end),
    journalsLeft: () => call('journalsLeft'),
    follow: (process) => call('follow', process),
    finishFollowing: (process) => call('finishFollowing', process),
    journalDone: (process) => call('journalDone', process),
    journalDeleted: (process) => call('journalDeleted', process),
    recordStep: (process, step, detail) => call('recordStep', process, step, ...(detail ? [detail] : [])),
    recordNotice: (notice) => call('recordNotice', notice),
    beginHold: (hold) => call('beginHold', hold),
    endHold: (hold, toNs) => call('endHold', hold, toNs),
    endLeftHolds: (now) => call('endLeftHolds', now),
    listNotices: (limit) => reader.call('listNotices', limit),
    onCommitted: (listener, names) => heard.addCommitted(listener, names),
    onState: (listener) => heard.addState(listener),
    onLive: (listener) => heard.addLive(listener),
    onFailing: (listener) => heard.addFailing(listener),
    liveSnapshot: (run) => call('liveSnapshot', ...(run === undefined ? [] : [run])),
    ingestStatus: () => call('ingestStatus'),
    async listRuns(input) {
      const { runs, more, computed } = await reader.call('listRuns', input);
      if (opened.readOnly === null) {
        // A finished run is summed up once; the next list finds it ready.
        for (const { run, summary } of computed) void call('storeSummary', run, summary).catch(() => undefined);
      }
      return { runs, more };
    },
    showRun: (run) => reader.call('showRun', run),
    readEvents: (input) => reader.call('readEvents', input),
    showProof: (proof) => reader.call('showProof', proof),
    proofFile: (proof) => reader.call('proofFile', proof),
    idle: (run) => reader.call('idle', run),
    gaps: (input) => reader.call('gaps', input),
    simulate: (input) => reader.call('simulate', input),
    compare: (runs) => reader.call('compare', runs),
    createExperiment: (start) => call('createExperiment', start),
    beginBlock: (experiment, block, specs) => call('beginBlock', experiment, block, specs),
    endBlock: (experiment, position, end) => call('endBlock', experiment, position, end),
    endExperiment: (experiment, end) => call('endExperiment', experiment, end),
    openExperiments: () => call('openExperiments'),
    showExperiment: (experiment) => reader.call('showExperiment', experiment),
    beginImport: (input) => call('beginImport', input),
    importPiece: (id, base64) => call('importPiece', id, base64),
    endImport: (id) => call('endImport', id),
    beginExport: (input) => reader.call('beginExport', input),
    exportPiece: (id) => reader.call('exportPiece', id),
    stopExport: (id) => reader.call('stopExport', id),
    backup: (file) => call('backup', file),
    async close() {
      await reader.end();
      await thread.callLast('close');
      lock?.release();
    },
  };
}

type Common = Pick<ThreadOptions, 'clock' | 'slowMs' | 'onSlow'>;

interface StartedWriter {
  thread: Thread<WriterCalls>;
  opened: OpenedTold;
}

function startWriter(options: StoreOptions, common: Common, heard: Listeners, readOnly: boolean): Promise<StartedWriter> {
  const setup: WriterSetup = { folder: options.folder, fileSystemType: options.fileSystemType, readOnly };
  return new Promise((resolve, reject) => {
    const thread: Thread<WriterCalls> = new Thread<WriterCalls>({
      ...common,
      url: ingestWorkerUrl,
      data: setup,
      onTold(told) {
        if (told.told === 'opened') resolve({ thread, opened: told });
        else if (told.told === 'refused') {
          void thread.terminate();
          reject(failureToError(told.failure));
        } else heard.hear(told);
      },
      onLost(why) {
        const failing = { code: 'internal' as const, message: `The thread that writes the history ended: ${why}` };
        reject(new InterlockError(failing.code, failing.message));
        heard.hear({ told: 'failing', failing });
      },
    });
  });
}

/** The reading thread; begun when first asked, and begun anew after it was ended. */
class Reader {
  readonly #folder: string;
  readonly #common: Common;
  #thread: Thread<ReaderCalls> | null = null;
  #ended = false;

  constructor(folder: string, common: Common) {
    this.#folder = folder;
    this.#common = common;
  }

  async call<K extends keyof ReaderCalls>(call: K, ...args: Parameters<ReaderCalls[K]>): Promise<Awaited<ReturnType<ReaderCalls[K]>>> {
    if (this.#ended) throw new InterlockError('interrupted', 'The history is closed.');
    const thread = (this.#thread ??= this.#start());
    const deadline = this.#common.clock.after(READ_DEADLINE_MS, () => call !== 'quickCheck' && this.restart());
    try {
      return (await (thread.call as (name: K, ...values: unknown[]) => Promise<unknown>).call(thread, call, ...args)) as never;
    } finally {
      deadline.cancel();
    }
  }

  /** Ends whatever it is reading; the caller gets `interrupted`. */
  restart(): void {
    const thread = this.#thread;
    this.#thread = null;
    void thread?.terminate();
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#thread?.terminate();
  }

  #start(): Thread<ReaderCalls> {
    const setup: ReaderSetup = { folder: this.#folder };
    const thread: Thread<ReaderCalls> = new Thread<ReaderCalls>({
      ...this.#common,
      url: readWorkerUrl,
      data: setup,
      onTold: () => undefined,
      onLost: () => {
        if (this.#thread === thread) this.#thread = null;
      },
    });
    return thread;
  }
}

/** Who listens to what. Only what somebody listens to crosses the thread boundary. */
class Listeners {
  onWanted: () => void = () => undefined;
  onNotice: (notice: Notice) => void = () => undefined;
  onWalLarge: () => void = () => undefined;
  readonly #committed = new Map<(batch: CommittedBatch) => void, ReadonlySet<EventName> | null>();
  readonly #state = new Set<(message: { process: string; state: StateLine }) => void>();
  readonly #live = new Set<(message: LiveMessage) => void>();
  readonly #failing = new Set<(failing: IngestStatus['failing']) => void>();

  wanted(): { committed: 'all' | EventName[]; state: boolean; live: boolean } {
    const names = [...this.#committed.values()];
    const committed = names.includes(null) ? 'all' : [...new Set(names.flatMap((set) => [...(set ?? [])]))];
    return { committed, state: this.#state.size > 0, live: this.#live.size > 0 };
  }

  hear(told: Told): void {
    switch (told.told) {
      case 'committed':
        for (const [listener, names] of this.#committed) this.#tellCommitted(listener, names, told);
        break;
      case 'state':
        for (const listener of this.#state) listener({ process: told.process, state: told.state });
        break;
      case 'live':
        for (const listener of this.#live) listener(told.message);
        break;
      case 'failing':
        for (const listener of this.#failing) listener(told.failing);
        break;
      case 'notice':
        this.onNotice(told.notice);
        break;
      case 'wal_large':
        this.onWalLarge();
        break;
      case 'opened':
      case 'refused':
        break;
    }
  }

  addCommitted(listener: (batch: CommittedBatch) => void, names?: readonly EventName[]): Unsubscribe {
    this.#committed.set(listener, names ? new Set(names) : null);
    this.onWanted();
    return () => {
      this.#committed.delete(listener);
      this.onWanted();
    };
  }

  addState(listener: (message: { process: string; state: StateLine }) => void): Unsubscribe {
    return this.#add(this.#state, listener);
  }

  addLive(listener: (message: LiveMessage) => void): Unsubscribe {
    return this.#add(this.#live, listener);
  }

  addFailing(listener: (failing: IngestStatus['failing']) => void): Unsubscribe {
    return this.#add(this.#failing, listener);
  }

  #add<T>(set: Set<T>, listener: T): Unsubscribe {
    set.add(listener);
    this.onWanted();
    return () => {
      set.delete(listener);
      this.onWanted();
    };
  }

  #tellCommitted(listener: (batch: CommittedBatch) => void, names: ReadonlySet<EventName> | null, batch: CommittedBatch): void {
    const events = names ? batch.events.filter((event) => names.has(event.e)) : batch.events;
    if (events.length > 0) listener({ process: batch.process, events, lastSeq: batch.lastSeq });
  }
}
