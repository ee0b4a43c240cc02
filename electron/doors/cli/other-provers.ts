/**
 * Whether something else proves on this machine: known provers among the processes, and programs that compute on a GPU. Looks, reads,
 * and touches nothing; what cannot be found out counts as not seen.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** Names as the kernel shows them (15 characters). */
const PROVERS = new Set([
  'interlock-prove',
  'cuzk-daemon',
  'cuzk',
  'curio',
  'lotus-worker',
  'lotus-miner',
  'lotus-bench',
  'venus-worker',
  'venus-cluster-',
  'boostd',
]);
const NVIDIA_SMI = '/usr/bin/nvidia-smi';
/** It can hang for good in a driver: it gets a deadline, and is asked once. */
const DEADLINE_MS = 5000;

export interface Surroundings {
  procFolder: string;
  /** Pids that compute on a GPU. */
  computePids: () => Promise<number[]>;
}

export const machineSurroundings: Surroundings = {
  procFolder: '/proc',
  computePids: () =>
    new Promise((resolve) => {
      if (!existsSync(NVIDIA_SMI)) return resolve([]);
      execFile(
        NVIDIA_SMI,
        ['--query-compute-apps=pid', '--format=csv,noheader'],
        { timeout: DEADLINE_MS, killSignal: 'SIGKILL' },
        (_error, stdout) =>
          resolve(
            stdout
              .split('\n')
              .map((line) => Number(line.trim()))
              .filter((pid) => Number.isInteger(pid) && pid > 0),
          ),
      );
    }),
};

/** What proves or computes besides us, in words, or null. */
export async function findOtherProvers({ procFolder, computePids }: Surroundings = machineSurroundings): Promise<string | null> {
  for (const name of readdirSync(procFolder)) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const comm = readComm(procFolder, name);
    if (comm !== null && PROVERS.has(comm)) return `${comm} is running (pid ${name})`;
  }
  const [pid] = (await computePids()).filter((found) => found !== process.pid);
  if (pid === undefined) return null;
  return `${readComm(procFolder, String(pid)) ?? 'a program'} computes on a GPU (pid ${pid})`;
}

function readComm(procFolder: string, pid: string): string | null {
  try {
    // A zombie proves nothing any more.
    if (/^\d+ \(.*\) Z /s.test(readFileSync(path.join(procFolder, pid, 'stat'), 'utf8'))) return null;
    return readFileSync(path.join(procFolder, pid, 'comm'), 'utf8').trim();
  } catch {
    return null;
  }
}
