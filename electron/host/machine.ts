/** How much of this machine may be used: hardware threads and memory, with what control groups allow. */
import { readFileSync } from 'node:fs';
import { availableParallelism, hostname, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import type { MachineFacts } from '../contract/scheduler.ts';

export interface MachineReading extends MachineFacts {
  hostname: string;
  /** Which limit decided, in words: "MemTotal", "cgroup memory.max (/system.slice/…)". */
  memoryFrom: string;
}

/** Reads a file, or null: the seam for tests. */
export type ReadText = (path: string) => string | null;

const readText: ReadText = (path) => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
};

export function readMachine(read: ReadText = readText): MachineReading {
  const kib = /^MemTotal:\s+(\d+) kB$/m.exec(read('/proc/meminfo') ?? '')?.[1];
  let memoryBytes = kib === undefined ? totalmem() : Number(kib) * 1024;
  let memoryFrom = 'MemTotal';
  let cpus = availableParallelism();
  for (const { folder, name } of cgroups(read)) {
    const most = limit(read(join(folder, 'memory.max')) ?? read(join(folder, 'memory.limit_in_bytes')));
    if (most !== null && most < memoryBytes) {
      memoryBytes = most;
      memoryFrom = `cgroup memory.max (${name})`;
    }
    const [quota, period] = (read(join(folder, 'cpu.max')) ?? '').trim().split(/\s+/).map(Number);
    if (quota && period && Number.isFinite(quota)) cpus = Math.min(cpus, Math.max(1, Math.floor(quota / period)));
  }
  return { cpus, memoryBytes, memoryFrom, hostname: hostname() };
}

/** This process's group and every one above it: each may limit. */
function cgroups(read: ReadText): { folder: string; name: string }[] {
  const found: { folder: string; name: string }[] = [];
  for (const line of (read('/proc/self/cgroup') ?? '').split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (path === undefined) continue;
    const root = controllers === '' ? '/sys/fs/cgroup' : controllers?.split(',').includes('memory') ? '/sys/fs/cgroup/memory' : null;
    if (root === null) continue;
    for (let name = path; ; name = dirname(name)) {
      found.push({ folder: join(root, name), name });
      if (name === '/') break;
    }
  }
  return found;
}

function limit(text: string | null): number | null {
  if (text === null || text.trim() === 'max') return null;
  const bytes = Number(text.trim());
  // Version 1 says "no limit" by a huge number.
  return Number.isFinite(bytes) && bytes > 0 && bytes < 2 ** 62 ? bytes : null;
}
