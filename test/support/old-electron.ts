/**
 * A real, old Electron (22) for smoke tests of the window: the newest that a package registry has. It proves the wiring of main, preload,
 * IPC, scheme, policy and permissions; Electron 45’s own behaviour needs Electron 45. Where it cannot be had, tests skip by name.
 *
 * It is fetched once into out/electron22 by a script beside the checkout (../shared/electron22), runs as an ordinary user (its real
 * sandbox refuses root), on a display of its own.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { _electron, type ElectronApplication } from 'playwright-core';

export const ROOT = path.resolve(import.meta.dirname, '../..');
const KIT = path.resolve(ROOT, '../shared/electron22');
const CACHE = path.join(ROOT, 'out/electron22');
const DIST = path.join(CACHE, 'dist');
const UNDICI = '5.29.0';
/** nobody: an ordinary user for root’s tests. */
const ORDINARY = 65_534;

const asRoot = process.getuid?.() === 0;

/** True if an ordinary user can come to this file. */
function reachable(file: string): boolean {
  for (let at = path.dirname(file); at !== path.dirname(at); at = path.dirname(at)) {
    if (!(statSync(at).mode & 0o001)) return false;
  }
  return true;
}

/** Fetches what is missing; resolves with null, or with why there is no old Electron here. */
export function prepareOldElectron(): string | null {
  for (const program of ['Xvfb', 'unzip', 'pip', ...(asRoot ? ['setpriv'] : [])]) {
    if (spawnSync('which', [program]).status !== 0) return `${program} is not installed`;
  }
  if (!existsSync(path.join(DIST, 'electron'))) {
    if (!existsSync(path.join(KIT, 'get-electron22.sh'))) return '../shared/electron22 is not there';
    mkdirSync(CACHE, { recursive: true });
    const got = spawnSync('bash', [path.join(KIT, 'get-electron22.sh'), DIST], { encoding: 'utf8', timeout: 120_000 });
    if (got.status !== 0) return `it could not be fetched: ${got.stderr.trim().split('\n').at(-1)}`;
  }
  if (!existsSync(path.join(CACHE, 'node_modules/undici'))) {
    const got = spawnSync('npm', ['install', '--no-save', '--no-package-lock', '--prefix', CACHE, `undici@${UNDICI}`], {
      encoding: 'utf8',
      timeout: 120_000,
    });
    if (got.status !== 0) return `undici could not be fetched: ${got.stderr.trim().split('\n')[0]}`;
  }
  // A copy that an ordinary user may read.
  cpSync(path.join(KIT, 'shim-electron22.cjs'), path.join(CACHE, 'shim.cjs'));
  chmodSync(path.join(CACHE, 'shim.cjs'), 0o644);
  const libraries = spawnSync('ldd', [path.join(DIST, 'electron')], { encoding: 'utf8' }).stdout.match(/\S+ => not found/g);
  if (libraries) return `libraries are missing: ${libraries.map((line) => line.split(' ')[0]).join(' ')}`;
  if (asRoot && !reachable(path.join(DIST, 'electron')))
    return 'the checkout cannot be read by an ordinary user, and its sandbox refuses root';
  return null;
}

/** A display of its own. */
export async function startDisplay(): Promise<{ display: string; stop(): void }> {
  const child = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1280x900x24', '-nolisten', 'tcp', '-ac'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const number = await new Promise<string>((resolve, reject) => {
    const pipe = child.stdio[3] as NodeJS.ReadableStream;
    let text = '';
    pipe.on('data', (data: Buffer) => {
      text += String(data);
      if (text.includes('\n')) resolve(text.trim());
    });
    child.once('exit', () => reject(new Error('Xvfb ended')));
  });
  return { display: `:${number}`, stop: () => child.kill() };
}

export interface WindowPlace {
  home: string;
  dataFolder: string;
  env: Record<string, string>;
  /** A program that starts the old Electron with the given arguments, as an ordinary user. */
  launcher: string;
}

/** Folders for one window; {@link giveAway} hands them to the user that it runs as once the test has put in what it wants. */
export function makePlace(display: string): WindowPlace {
  const home = mkdtempSync(path.join(os.tmpdir(), 'interlock-window-'));
  const [run, dataFolder] = [path.join(home, 'run'), path.join(home, 'data')];
  for (const folder of [run, path.join(run, 'interlock'), dataFolder]) mkdirSync(folder, { mode: 0o700 });
  const launcher = path.join(home, 'electron.sh');
  const identity = asRoot ? `setpriv --reuid=${ORDINARY} --regid=${ORDINARY} --clear-groups ` : '';
  writeFileSync(launcher, `#!/bin/sh\nexec ${identity}"${path.join(DIST, 'electron')}" -r "${path.join(CACHE, 'shim.cjs')}" "$@"\n`, {
    mode: 0o755,
  });
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    XDG_RUNTIME_DIR: run,
    INTERLOCK_DATA_DIR: dataFolder,
    DISPLAY: display,
    LANG: 'C.UTF-8',
    SMOKE_APP: CACHE,
  };
  return { home, dataFolder, env, launcher };
}

/** Hands a folder and everything in it to the ordinary user. */
export function giveAway(folder: string): void {
  if (!asRoot) return;
  chownSync(folder, ORDINARY, ORDINARY);
  if (!lstatSync(folder).isDirectory()) return;
  for (const name of readdirSync(folder)) giveAway(path.join(folder, name));
}

export function launchWindow(place: WindowPlace): Promise<ElectronApplication> {
  return _electron.launch({
    executablePath: place.launcher,
    args: [ROOT],
    cwd: place.home,
    env: place.env,
    chromiumSandbox: true,
    timeout: 60_000,
  });
}

/** The same without any debugger attached. */
export function spawnWindow(place: WindowPlace): ChildProcess {
  return spawn(place.launcher, [ROOT], { cwd: place.home, env: place.env, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** A process and all its descendants. */
export function processTree(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      parents.set(Number(name), Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1] ?? 0));
    } catch {
      // gone meanwhile
    }
  }
  const tree = [pid];
  for (let at = 0; at < tree.length; at++) {
    for (const [child, parent] of parents) if (parent === tree[at]) tree.push(child);
  }
  return tree;
}

/** Local addresses (hex, as the kernel prints them) of TCP sockets that any of these processes listens on. */
export function listeners(pids: readonly number[]): string[] {
  const inodes = new Set<string>();
  for (const pid of pids) {
    try {
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
        if (inode) inodes.add(inode);
      }
    } catch {
      // gone meanwhile
    }
  }
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => {
    if (!existsSync(file)) return [];
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((cells) => cells[3] === '0A' && inodes.has(cells[9] ?? ''))
      .map((cells) => cells[1] ?? '');
  });
}
