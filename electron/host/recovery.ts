/**
 * What a host does first: every process that an earlier host left is taken over if it lives and answers, or closed if it is gone; runs
 * and proofs that were left hanging get their end. Each thing that happened becomes a notice in plain words. Being killed in the middle
 * of it is harmless: every step is decided anew from the store and the journals.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep, type Clock } from '../contract/clock.ts';
import type { Engine, ProcessIdentity, ProverProcess } from '../engines/engine.ts';
import { readBootId, stateOf } from '../engines/supervision/proc.ts';
import type { OpenRun, ProcessRecord, RunningProof, Store } from '../store/types.ts';
import { scanJournal, type JournalScan } from './journal-scan.ts';
import { closeEndedProcess, deleteJournal, type ClosingDeps } from './process-closing.ts';
import { finishAsSaid } from './proof-ends.ts';
import { clockTime, listOf, tellClosed } from './words.ts';

export interface RecoveryDeps extends ClosingDeps {
  store: Store;
  engine: Engine;
  clock: Clock;
  notify(severity: 'info' | 'warning' | 'error', code: 'info' | string, message: string): void;
  /** Takes over a living process and what it still holds. */
  takeOver(adopted: ProverProcess, record: ProcessRecord, run: OpenRun | null, held: RunningProof[]): Promise<void>;
}

/** How long a living process gets to answer. */
const PATIENCE_MS = 10_000;

export async function recover(deps: RecoveryDeps): Promise<void> {
  const { store } = deps;
  await store.endLeftHolds({ bootId: readBootId(), ns: String(Math.round(deps.clock.nowNs())) });
  let adopted: string | null = null;
  const records = (await store.liveProcesses()).toReversed();
  for (const record of records) {
    const scan = await scanJournal(record.journal);
    const taken = adopted === null && (await adopt(deps, record, scan));
    if (taken) adopted = record.process;
    else await closeLeft(deps, record, scan);
  }
  await settleRest(deps, adopted);
  for (const record of await store.journalsLeft()) {
    if (record.process !== adopted) await deleteJournal(deps, record);
  }
  await sweepFolders(deps);
}

async function adopt(deps: RecoveryDeps, record: ProcessRecord, scan: JournalScan): Promise<boolean> {
  const { store, engine } = deps;
  if (scan.bootId === null) return false;
  const process = await engine.adopt(identityOf(record, scan), PATIENCE_MS);
  if (!process) return false;
  const there = new Set(process.attached.proofs.map((proof) => `${proof.proof}.${proof.attempt}`));
  const running = (await store.listRunning()).filter((proof) => proof.process === record.process);
  const held = running.filter((proof) => there.has(`${proof.proof}.${proof.attempt}`));
  const run = (await store.openRuns()).find((open) => open.run === process.attached.run) ?? null;
  await settleGone(
    deps,
    record,
    running.filter((proof) => !held.includes(proof)),
  );
  await deps.takeOver(process, record, run, held);
  for (const proof of held) if (proof.withdrawAsked) await process.withdraw(proof.proof).catch(() => undefined);
  for (const entry of process.attached.proofs) {
    // Not known to the store under this process: it must not be proved twice.
    if (!running.some((proof) => proof.proof === entry.proof)) await process.withdraw(entry.proof).catch(() => undefined);
  }
  const work = held.length > 0 ? `; ${listOf(held.map((proof) => proof.proof))} ${held.length === 1 ? 'is' : 'are'} in work` : '';
  const goesOn = run ? `; run ${run.run} goes on` : '';
  deps.notify(
    'info',
    'info',
    `${hostEnded(scan, record)}; its prover (process ${record.pid}) lived on and was taken over${goesOn}${work}.`,
  );
  return true;
}

/** Proofs that an adopted process no longer holds: it said so in its journal, of which the last lines may still be on their way. */
async function settleGone(deps: RecoveryDeps, record: ProcessRecord, gone: RunningProof[]): Promise<void> {
  let left = gone;
  for (let round = 0; left.length > 0 && round < 8; round++) {
    if (round > 0) await sleep(deps.clock, 400);
    const { fates } = await scanJournal(record.journal);
    const undecided: RunningProof[] = [];
    for (const proof of left) {
      const fate = fates.get(`${proof.proof}.${proof.attempt}`);
      if (fate?.ended) await finishAsSaid(deps, fate.ended, record.folder);
      else if (fate?.returned) await deps.store.returnToHead(proof.proof, { countsAsAttempt: false });
      else undecided.push(proof);
    }
    left = undecided;
  }
  // Never taken over: the earlier host died between its note and the handing over.
  for (const proof of left) await deps.store.returnToHead(proof.proof, { countsAsAttempt: false });
}

async function closeLeft(deps: RecoveryDeps, record: ProcessRecord, scan: JournalScan): Promise<void> {
  const identity = identityOf(record, scan);
  if (scan.bootId !== null && stateOf(identity) !== null) {
    const steps = await deps.engine.endOrphan(identity);
    for (const step of steps) await deps.store.recordStep(record.process, `${step.rung}_${step.result}`, { ...step });
    if (steps.at(-1)?.result === 'stuck') {
      deps.notify('error', 'prover_lost', `An earlier prover (process ${record.pid}) cannot be ended: ${steps.at(-1)?.message}`);
    }
  }
  const held = (await deps.store.listRunning()).filter((proof) => proof.process === record.process);
  const message = scan.bye ? `ended by itself after its host was lost (${scan.bye.reason})` : 'was gone when the host came back';
  const facts = {
    process: record.process,
    folder: record.folder,
    journal: record.journal,
    message,
    exit: null,
    signal: null,
    asked: false,
    blamed: null,
  };
  const closed = await closeEndedProcess(deps, facts, held);
  const level = closed.failed.length > 0 ? 'error' : closed.again.length > 0 ? 'warning' : 'info';
  deps.notify(level, level === 'info' ? 'info' : 'interrupted', tellClosed(hostEnded(closed.scan, record), closed));
}

/** Runs without a process and proofs that nobody holds. */
async function settleRest(deps: RecoveryDeps, adopted: string | null): Promise<void> {
  const { store } = deps;
  const left = await store.journalsLeft();
  for (const proof of await store.listRunning()) {
    if (proof.process !== null && proof.process === adopted) continue;
    const record = left.find((entry) => entry.process === proof.process);
    const fate = record && (await scanJournal(record.journal)).fates.get(`${proof.proof}.${proof.attempt}`);
    if (record && fate?.ended) await finishAsSaid(deps, fate.ended, record.folder);
    else await store.returnToHead(proof.proof, { countsAsAttempt: false });
  }
  for (const run of await store.openRuns()) {
    if (adopted !== null && run.processes.includes(adopted)) continue;
    await store.closeRun(run.run, { state: 'interrupted', endedBy: 'the host was lost', atLastEvent: true });
  }
}

/** Process folders without a record: their prover never got a proof, saw the end of its lifeline and ended by itself. */
async function sweepFolders(deps: RecoveryDeps): Promise<void> {
  const known = new Set((await deps.store.journalsLeft()).map((record) => record.folder));
  for (const name of await readdir(deps.processesFolder).catch(() => [])) {
    const folder = join(deps.processesFolder, name);
    if (!known.has(folder) && /^[0-9a-f-]{36}$/.test(name)) await rm(folder, { recursive: true, force: true });
  }
  for (const name of await readdir(deps.proofsFolder).catch(() => [])) {
    if (name.startsWith('.') && name.endsWith('.tmp')) await rm(join(deps.proofsFolder, name), { force: true });
  }
}

function identityOf(record: ProcessRecord, scan: JournalScan): ProcessIdentity {
  const { process, folder, pid, startTicks } = record;
  return { process, folder, pid, startTicks, bootId: scan.bootId ?? '' };
}

/** "The host was killed at 14:03:22": the prover saw the end of its lifeline, or else the journal's last line says when. */
function hostEnded(scan: JournalScan, record: ProcessRecord): string {
  if (scan.originWallMs === null) return `The host was killed soon after ${clockTime(record.startedWallMs)}`;
  if (scan.hostLostNs !== null) return `The host was killed at ${clockTime(scan.originWallMs + scan.hostLostNs / 1e6)}`;
  return `The host was killed at about ${clockTime(scan.originWallMs + scan.lastNs / 1e6)}`;
}
