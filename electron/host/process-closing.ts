/**
 * After a process is gone: its journal is read to the end, each proof it held gets its fate, its runs are closed, and only when all of
 * that is durable and the counts match are journal and folder deleted. The same whether this host or an earlier one had started it.
 */
import { rm } from 'node:fs/promises';
import { sep } from 'node:path';
import { InterlockError } from '../contract/errors.ts';
import type { ProcessRecord, RunningProof, Store } from '../store/types.ts';
import { scanJournal, type JournalScan } from './journal-scan.ts';
import { finishAsSaid, settleLost, type ProofEndsDeps } from './proof-ends.ts';

export interface ProcessEndFacts {
  process: string;
  folder: string;
  journal: string;
  /** "ended as asked", "killed by signal 9, …": follows the words "the prover". */
  message: string;
  exit: number | null;
  signal: string | null;
  /** We had asked it to end. */
  asked: boolean;
  /** The proof that it hung on: its attempt is used up even if it was handed back. */
  blamed: string | null;
}

export interface ClosedProcess {
  /** Proofs that go again, that failed for good, that were ended by what the journal said. */
  again: { proof: string; nextAttempt: number; lost: boolean }[];
  failed: string[];
  finished: string[];
  /** Runs closed by this, and how far each of their unfinished proofs had come. */
  runs: { run: string; state: 'finished' | 'interrupted' }[];
  progress: { proof: string; valid: number; partitions: number }[];
  scan: JournalScan;
}

export interface ClosingDeps extends ProofEndsDeps {
  store: Store;
  processesFolder: string;
}

export async function closeEndedProcess(deps: ClosingDeps, facts: ProcessEndFacts, held: RunningProof[]): Promise<ClosedProcess> {
  const { store } = deps;
  await store.finishFollowing(facts.process);
  const scan = await scanJournal(facts.journal);
  const closed: ClosedProcess = { again: [], failed: [], finished: [], runs: [], progress: [], scan };
  for (const holding of held) {
    const fate = scan.fates.get(`${holding.proof}.${holding.attempt}`);
    if (fate?.ended) {
      await finishAsSaid(deps, fate.ended, facts.folder);
      closed.finished.push(holding.proof);
      continue;
    }
    if ((fate?.returned || !fate) && holding.proof !== facts.blamed) {
      // Handed back, or never taken over: not a failure, and no attempt used up.
      const { state } = await store.returnToHead(holding.proof, { countsAsAttempt: false });
      if (state === 'waiting') closed.again.push({ proof: holding.proof, nextAttempt: holding.attempt, lost: false });
      continue;
    }
    closed.progress.push({ proof: holding.proof, valid: fate?.valid ?? 0, partitions: fate?.partitions ?? holding.partitions });
    const state = await settleLost(deps, holding, facts.message);
    if (state === 'waiting') closed.again.push({ proof: holding.proof, nextAttempt: holding.attempt + 1, lost: true });
    if (state === 'failed') closed.failed.push(holding.proof);
  }
  await closeRuns(deps, facts, closed);
  await store.closeProcess(facts.process, { ended: facts.message, exit: facts.exit ?? scan.bye?.exit ?? null, signal: facts.signal });
  return closed;
}

/** A run is finished if its process ended in order and left nothing of it undone; otherwise it was interrupted at its last event. */
async function closeRuns(deps: ClosingDeps, facts: ProcessEndFacts, closed: ClosedProcess): Promise<void> {
  const { scan } = closed;
  for (const open of await deps.store.openRuns()) {
    if (!open.processes.includes(facts.process) && !scan.runs.includes(open.run)) continue;
    const undone = [...scan.fates.values()].some((fate) => fate.run === open.run && !fate.ended && !(facts.asked && fate.returned));
    const inOrder = scan.bye !== null && facts.blamed === null && ['drained', 'stopped', 'lifeline'].includes(scan.bye.reason);
    const state = inOrder && !undone ? 'finished' : 'interrupted';
    const endedBy = inOrder ? (scan.bye?.reason ?? 'drained') : facts.message;
    await deps.store.closeRun(open.run, { state, endedBy, atLastEvent: !inOrder });
    closed.runs.push({ run: open.run, state });
  }
}

/** Deletes the journal and the folder of a closed process, if the store says that everything in it is committed and counted. */
export async function deleteJournal(deps: ClosingDeps, record: Pick<ProcessRecord, 'process' | 'folder'>): Promise<string | null> {
  // A proof that could not be taken out of the spool (disk full) still needs it.
  const needed = (await deps.store.listRunning()).find((proof) => proof.process === record.process);
  if (needed) return `${needed.proof} has not been settled`;
  const verdict = await deps.store.journalDone(record.process);
  if (!verdict.done) return verdict.reason;
  if (!record.folder.startsWith(deps.processesFolder + sep) || record.folder.includes(`${sep}..`)) {
    throw new InterlockError('internal', `The process folder ${record.folder} is not inside ${deps.processesFolder}.`);
  }
  await rm(record.folder, { recursive: true, force: true });
  await deps.store.journalDeleted(record.process);
  return null;
}
