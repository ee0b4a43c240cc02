/** Looks at everything that proving needs, changes nothing, and says for each thing how to mend it. */
import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DoctorCheck } from '../contract/api.ts';
import type { MachineFacts } from '../contract/scheduler.ts';
import { presetDefaults } from '../contract/scheduler.ts';
import { formatBytes } from '../contract/units.ts';
import { visibleText } from '../contract/visible-text.ts';
import type { Engine } from '../engines/engine.ts';

export interface DoctorFacts {
  engine: Engine;
  dataFolder: string;
  paramsFolder: string;
  machine: MachineFacts & { memoryFrom?: string };
  memoryBudgetBytes: number;
  environment: NodeJS.ProcessEnv;
  checkout: string | null;
  /** A running host answered, and where. */
  hostRunning: { pid: number | null; socket: string } | null;
  /** What opening the database said, and the version of SQLite; null when it was not opened. */
  sqlite: { version: string; problem: string | null } | null;
}

/** Below this a run's history and proofs may not fit. */
const LEAST_FREE_BYTES = 2 ** 30;

export async function runDoctor(facts: DoctorFacts): Promise<DoctorCheck[]> {
  return [
    await proverCheck(facts),
    folderCheck('data folder', facts.dataFolder, 'Choose a folder that you own: --data-dir DIR'),
    diskCheck(facts.dataFolder),
    paramsCheck(facts.paramsFolder),
    memoryCheck(facts),
    cpuCheck(facts),
    sqliteCheck(facts),
    displayCheck(facts),
    electronCheck(facts),
    hostCheck(facts),
  ];
}

async function proverCheck({ engine }: DoctorFacts): Promise<DoctorCheck> {
  const check = 'prover binary';
  try {
    const path = await engine.findBinary();
    const version = await engine.version();
    if (version === '')
      return { check, state: 'error', found: `${path} does not answer "version"`, cure: 'Build the prover anew: npm start does it.' };
    return { check, state: 'ok', found: `${path} (${version.split('\n')[0]})`, cure: '' };
  } catch (error) {
    return { check, state: 'error', found: textOf(error), cure: 'Build the prover: npm start does it.' };
  }
}

function folderCheck(check: string, folder: string, cure: string): DoctorCheck {
  if (!existsSync(folder)) return { check, state: 'ok', found: `${visibleText(folder)} (will be made)`, cure: '' };
  try {
    const stat = statSync(folder);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    if (!stat.isDirectory()) return { check, state: 'error', found: `${visibleText(folder)} is no folder`, cure };
    if (stat.mode & 0o022) {
      return { check, state: 'error', found: `others may write to ${visibleText(folder)}`, cure: `chmod 700 ${visibleText(folder)}` };
    }
    return { check, state: 'ok', found: visibleText(folder), cure: '' };
  } catch (error) {
    return { check, state: 'error', found: textOf(error), cure };
  }
}

function diskCheck(folder: string): DoctorCheck {
  const check = 'disk';
  try {
    let at = folder;
    while (!existsSync(at)) at = join(at, '..');
    const { bavail, bsize } = statfsSync(at);
    const free = bavail * bsize;
    const found = `${formatBytes(free)} free`;
    return free < LEAST_FREE_BYTES
      ? { check, state: 'warning', found, cure: `Free space in the data folder: at least ${formatBytes(LEAST_FREE_BYTES)}.` }
      : { check, state: 'ok', found, cure: '' };
  } catch (error) {
    return { check, state: 'error', found: textOf(error), cure: 'Choose another data folder: --data-dir DIR' };
  }
}

function paramsCheck(folder: string): DoctorCheck {
  const base = folderCheck('params folder', folder, 'Let the prover’s user read and write the params folder.');
  if (base.state !== 'ok' || !existsSync(folder)) return base;
  const files = readdirSync(folder).filter((name) => name.endsWith('.params'));
  return { ...base, found: `${base.found}, ${files.length} file${files.length === 1 ? '' : 's'}` };
}

function memoryCheck({ machine, memoryBudgetBytes }: DoctorFacts): DoctorCheck {
  const check = 'memory budget';
  const found = `${formatBytes(memoryBudgetBytes)} of ${formatBytes(machine.memoryBytes)} (${machine.memoryFrom ?? 'MemTotal'})`;
  if (memoryBudgetBytes > machine.memoryBytes) return { check, state: 'error', found, cure: 'Lower the memory budget.' };
  const usual = presetDefaults('interlock', machine).memory_budget_bytes;
  if (memoryBudgetBytes > usual * 1.2) {
    return { check, state: 'warning', found, cure: `Leave the system more: ${formatBytes(usual)} is the default here.` };
  }
  return { check, state: 'ok', found, cure: '' };
}

function cpuCheck({ machine }: DoctorFacts): DoctorCheck {
  const found = `${machine.cpus} hardware thread${machine.cpus === 1 ? '' : 's'} usable`;
  if (machine.cpus >= 4) return { check: 'cpus', state: 'ok', found, cure: '' };
  const cure = 'On fewer than 4 threads the CPU device and the synthesis take them from each other; a second worker may gain nothing.';
  return { check: 'cpus', state: 'warning', found, cure };
}

function sqliteCheck({ sqlite }: DoctorFacts): DoctorCheck {
  const check = 'sqlite';
  if (!sqlite) return { check, state: 'not_run', found: 'no database is open here', cure: '' };
  if (sqlite.problem !== null) return { check, state: 'error', found: sqlite.problem, cure: 'See the message; the file is left as it is.' };
  return { check, state: 'ok', found: `history opened${sqlite.version ? ` (SQLite ${sqlite.version})` : ''}`, cure: '' };
}

function displayCheck({ environment }: DoctorFacts): DoctorCheck {
  const display = environment.WAYLAND_DISPLAY ?? environment.DISPLAY;
  if (display) return { check: 'display', state: 'ok', found: visibleText(display), cure: '' };
  return {
    check: 'display',
    state: 'warning',
    found: 'no DISPLAY, no WAYLAND_DISPLAY',
    cure: 'None is needed: npm start serves the same page to a browser.',
  };
}

function electronCheck({ environment, checkout }: DoctorFacts): DoctorCheck {
  const check = 'electron binary';
  const override = environment.ELECTRON_OVERRIDE_DIST_PATH;
  const places = [
    override ? join(override, 'electron') : null,
    checkout ? join(checkout, 'node_modules', 'electron', 'dist', 'electron') : null,
  ];
  const found = places.find((place) => place !== null && existsSync(place));
  if (found) return { check, state: 'ok', found: visibleText(found), cure: '' };
  return {
    check,
    state: 'warning',
    found: 'not there',
    cure: 'npm start fetches it where it can; without it the page is served to a browser.',
  };
}

function hostCheck({ hostRunning }: DoctorFacts): DoctorCheck {
  const check = 'host running';
  if (!hostRunning) return { check, state: 'ok', found: 'none', cure: '' };
  const pid = hostRunning.pid === null ? '' : ` (process ${hostRunning.pid})`;
  return { check, state: 'ok', found: `yes${pid}, at ${visibleText(hostRunning.socket)}`, cure: '' };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
