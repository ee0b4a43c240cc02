/** Entry of the reading thread: a connection that cannot write. May be ended at any time; it holds nothing. */
import { parentPort, workerData } from 'node:worker_threads';
import { InterlockError } from '../contract/errors.ts';
import { toStoreFailure } from './failures.ts';
import type { CallOf, ReaderCalls, ReaderSetup } from './messages.ts';
import { checkQuickly, openReader } from './open.ts';
import { listNotices } from './processes.ts';
import { listProofs, readProofFile } from './queue.ts';
import { Exports } from './export-reads.ts';
import { readComparison } from './comparison-reads.ts';
import { readExperiment } from './experiments.ts';
import { readGaps, readIdle } from './idle-reads.ts';
import { Reads } from './reads.ts';
import { RunReads } from './run-reads.ts';
import { readSimulation } from './what-if-reads.ts';

const port = parentPort;
if (!port) throw new Error('this file is the entry of a thread');
const setup = workerData as ReaderSetup;
let open: { reads: Reads; runs: RunReads } | null = null;

/** The database may come later than this thread, in a folder that could not be written at first. */
function reads(): { reads: Reads; runs: RunReads } {
  if (!open) {
    const db = openReader(setup.folder);
    if (!db) throw new InterlockError('not_found', `There is no history in ${setup.folder} yet.`);
    const found = new Reads(db);
    open = { reads: found, runs: new RunReads(found) };
  }
  return open;
}

const exports = new Exports();

const calls: ReaderCalls = {
  listProofs: ({ state, limit }) => listProofs(reads().reads.db, state, limit),
  listRuns: (input) => reads().runs.listRuns(input),
  showRun: (run) => reads().runs.showRun(run),
  readEvents: (input) => reads().reads.readEvents(input),
  showProof: (proof) => reads().runs.showProof(proof),
  proofFile: (proof) => readProofFile(reads().reads.db, proof),
  listNotices: (limit) => listNotices(reads().reads.db, limit),
  quickCheck: () => checkQuickly(reads().reads.db),
  idle: (run) => readIdle(reads().runs, run),
  gaps: (input) => readGaps(reads().runs, input),
  simulate: (input) => readSimulation(reads().runs, input),
  compare: (runs) => readComparison(reads().runs, runs),
  showExperiment: (experiment) => readExperiment(reads().reads.db, experiment),
  beginExport: (input) => exports.begin(reads().runs, input),
  exportPiece: (id) => exports.piece(id),
  stopExport: (id) => exports.stop(id),
};

port.on('message', ({ id, call, args }: CallOf<ReaderCalls>) => {
  void (async () => {
    try {
      const value = await (calls[call] as (...values: unknown[]) => unknown)(...args);
      port.postMessage({ id, ok: true, value });
    } catch (error) {
      port.postMessage({ ...toStoreFailure(error, setup.folder), id });
    }
  })();
});
