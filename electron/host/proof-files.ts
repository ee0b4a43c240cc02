/**
 * From the prover's spool to the proofs' own folder. A proof counts only once its bytes are durable under `<data>/proofs/` and their
 * hash is the one that the journal names; what is there already is never overwritten by other bytes.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InterlockError } from '../contract/errors.ts';
import { writeDurably } from './durable-files.ts';

/** A 32 GiB PoRep's proof file has a few KiB; 1,024 partitions with many inputs stay far below this. */
const MOST_BYTES = 64 * 2 ** 20;

export interface SpoolRef {
  processFolder: string;
  /** As named by `proof_ended`. */
  file: string | null;
  proof: string;
  attempt: number;
}

/** Copies one proof out of the spool and checks it. Doing it again is harmless. Answers the path of the copy. */
export async function collectProof(ref: SpoolRef, sha256: string, proofsFolder: string): Promise<string> {
  const target = join(proofsFolder, `${ref.proof}.json`);
  const beside = join(proofsFolder, `${ref.proof}.${ref.attempt}.json`);
  // An earlier host may have got this far.
  for (const there of [target, beside]) if ((await hashOf(there)) === sha256) return there;
  const bytes = await readSpool(ref);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== sha256) {
    throw new InterlockError(
      'corrupt_data',
      `The proof file of ${ref.proof} in the spool has hash ${found}, but the journal says ${sha256}.`,
    );
  }
  try {
    await writeDurably(target, bytes, { replace: false });
    return target;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  // Another attempt's proof is there; both are kept.
  await writeDurably(beside, bytes, { replace: true });
  return beside;
}

/** Reads a collected proof. */
export async function readProofText(path: string): Promise<string> {
  return readFile(path, 'utf8');
}

async function readSpool(ref: SpoolRef): Promise<Buffer> {
  const name = `${ref.proof}.${ref.attempt}.proof.json`;
  const path = join(ref.processFolder, 'spool', name);
  let file;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    throw new InterlockError('corrupt_data', `The proof file ${name} is not in the spool (${(error as NodeJS.ErrnoException).code}).`);
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > MOST_BYTES) throw new InterlockError('corrupt_data', `The spool's ${name} is no proof file.`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function hashOf(path: string): Promise<string | null> {
  try {
    return createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  } catch {
    return null;
  }
}
