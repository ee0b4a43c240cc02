/**
 * What becomes of a proof that a prover is done with: collected and finished, returned to the head, or given up. Exactly once per
 * (proof, attempt): the store decides, so doing it again after a crash of the host heals and never doubles.
 */
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { InterlockError } from '../contract/errors.ts';
import type { EventOf } from '../contract/timeline-events.ts';
import type { ProofFinish, Store } from '../store/types.ts';
import { collectProof } from './proof-files.ts';

/** Attempts at a proof whose prover died. */
export const MOST_ATTEMPTS = 2;

export interface ProofEndsDeps {
  store: Store;
  proofsFolder: string;
}

/** Finishes a proof as `proof_ended` says. Rejects only when the disk (or the store) does not take it: then it is to be tried again. */
export async function finishAsSaid(deps: ProofEndsDeps, event: EventOf<'proof_ended'>, processFolder: string): Promise<void> {
  if (event.code === 'spool_failed' && event.attempt < MOST_ATTEMPTS) {
    // The proof was made, but its bytes found no room: it is made again rather than given up.
    const running = (await deps.store.listRunning()).some((proof) => proof.proof === event.proof && proof.attempt === event.attempt);
    if (running)
      await deps.store.returnToHead(event.proof, { countsAsAttempt: true, message: event.message ?? 'the spool could not be written' });
    return;
  }
  const finish = await finishOf(deps, event, processFolder);
  const answer = await deps.store.finishProof(event.proof, event.attempt, finish);
  if (answer.accepted && event.sha256 !== null) {
    await unlink(join(processFolder, 'spool', `${event.proof}.${event.attempt}.proof.json`)).catch(() => undefined);
  }
}

async function finishOf(deps: ProofEndsDeps, event: EventOf<'proof_ended'>, processFolder: string): Promise<ProofFinish> {
  const { proof, attempt, sha256 } = event;
  const outcome = event.outcome === 'valid' || event.outcome === 'invalid' ? event.outcome : 'failed';
  if (outcome !== 'valid') return { outcome, sha256: null, path: null, code: event.code ?? outcome, message: event.message };
  // An emulated process makes no proof.
  if (sha256 === null) return { outcome, sha256: null, path: null, code: null, message: null };
  try {
    const path = await collectProof({ processFolder, file: event.file, proof, attempt }, sha256, deps.proofsFolder);
    return { outcome, sha256, path, code: null, message: null };
  } catch (error) {
    if (!(error instanceof InterlockError) || error.code !== 'corrupt_data') throw error;
    return { outcome: 'failed', sha256: null, path: null, code: 'corrupt_data', message: error.message };
  }
}

/** A proof whose prover is gone without having said anything about it: next attempt, or given up. */
export async function settleLost(
  deps: ProofEndsDeps,
  lost: { proof: string; attempt: number },
  why: string,
): Promise<'waiting' | 'withdrawn' | 'valid' | 'failed'> {
  if (lost.attempt >= MOST_ATTEMPTS) {
    const message = `The prover was lost ${lost.attempt} times while it made this proof; the last time it ${why}`;
    await deps.store.finishProof(lost.proof, lost.attempt, { outcome: 'failed', sha256: null, path: null, code: 'prover_lost', message });
    return 'failed';
  }
  return (await deps.store.returnToHead(lost.proof, { countsAsAttempt: true, message: `the prover ${why}` })).state;
}
