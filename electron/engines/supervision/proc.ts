/**
 * What /proc says about a process. `kill(pid, 0)` calls zombies alive, and pids are reused: here a process is (pid, start time, boot),
 * and a zombie is dead.
 */
import { readFileSync, readdirSync } from 'node:fs';

export interface ProcStat {
  /** R, S, D (in the kernel), T (stopped), Z (zombie), X … */
  state: string;
  parent: number;
  group: number;
  /** Field 22, clock ticks since boot. */
  startTicks: string;
}

/** The seam for tests: a folder that looks like /proc. */
export type ReadStat = (pid: number) => ProcStat | null;

/** Null when there is no such process. */
export const readStat: ReadStat = (pid) => {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  try {
    return decodeStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return null;
  }
};

/** The name (field 2) may hold blanks and brackets: fields count from the last `)`. */
export function decodeStat(text: string): ProcStat | null {
  const close = text.lastIndexOf(')');
  if (close < 0) return null;
  const fields = text
    .slice(close + 2)
    .trim()
    .split(' ');
  const [state, parent, group] = fields;
  const startTicks = fields[19];
  if (!state || parent === undefined || group === undefined || startTicks === undefined) return null;
  return { state, parent: Number(parent), group: Number(group), startTicks };
}

/** The state letter of exactly this process, or null when it is gone, a zombie, or another one under the same pid. */
export function stateOf(identity: { pid: number; startTicks: string }, read: ReadStat = readStat): string | null {
  const stat = read(identity.pid);
  if (!stat || stat.startTicks !== identity.startTicks) return null;
  return stat.state === 'Z' || stat.state === 'X' ? null : stat.state;
}

export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}

/** Living members of a process group (zombies are dead). */
export function groupMembers(group: number): { pid: number; state: string }[] {
  const members: { pid: number; state: string }[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readStat(Number(name));
    if (stat && stat.group === group && stat.state !== 'Z' && stat.state !== 'X') members.push({ pid: Number(name), state: stat.state });
  }
  return members;
}
