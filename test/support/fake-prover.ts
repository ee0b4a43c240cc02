/** Writes an executable that is the scripted prover with one scenario (see fake-prover.mjs). */
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface Scenario {
  partitionMs?: number;
  startMs?: number;
  refuseStart?: { exit: number; stderr: string };
  dieAt?: { event: string; count: number; signal?: string; exit?: number };
  dieAfterMs?: { ms: number; signal?: string; exit?: number };
  silentAt?: { event: string; count: number };
  spinAt?: { event: string; count: number };
  garbleAt?: { cmd: string; once?: boolean };
  ignoreTerm?: boolean;
  ignoreCommands?: boolean;
  ignoreLifeline?: boolean;
  grandchild?: boolean;
  floodBytes?: number;
  refuse?: Record<string, { code: string; message: string }>;
  failProof?: { proof: string; code: string; message: string };
  invalidProof?: string;
  verifyExit?: number;
}

const SOURCE = path.join(import.meta.dirname, 'fake-prover.mjs');

/** The path of the executable. */
export function makeFakeProver(scenario: Scenario = {}, folder = makeTempFolder('fake-prover')): string {
  const file = path.join(folder, 'interlock-prover.mjs');
  const text = `#!${process.execPath}\nimport { main } from ${JSON.stringify(SOURCE)};\nmain(${JSON.stringify(scenario)});\n`;
  writeFileSync(file, text, { mode: 0o755 });
  chmodSync(file, 0o755);
  return file;
}

/** Every folder that this process made; `leave-nothing.ts` clears them away when a test file ends. */
export const tempFolders: string[] = [];

/** A fresh folder of ours under the temporary folder (0700). */
export function makeTempFolder(name: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), `interlock-${name}-`));
  tempFolders.push(folder);
  return folder;
}
