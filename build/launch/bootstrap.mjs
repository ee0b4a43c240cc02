/**
 * Brings a checkout to where its programs can run: Node packages, Node 24, the prover, the page, the window's bundle. Each step looks
 * first whether there is anything to do (a stamp over path, size and modification time of its sources), so a second start runs neither
 * npm nor cargo and needs no network. Uses only what Node 20 has; everything it starts runs under the Node 24 that npm brought.
 */
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { MANIFEST_NAME } from '../shell-manifest.mjs';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const NODE = path.join(ROOT, 'node_modules/node/bin/node');
export const PROVER = path.join(ROOT, 'native/target/release/interlock-prover');
export const RENDERER = path.join(ROOT, 'out/renderer');
/** Node keeps what it made of our sources here, which halves a start on a busy machine. */
const COMPILE_CACHE = path.join(ROOT, 'out/compile-cache');
const STAMPS = path.join(ROOT, 'out/stamps');
const NODE_LEAST = 20;
const NODE_BROUGHT = 24;

/** What is missing on this machine, and how to get it. Ends the launcher with these words and exit code 1. */
export class Missing extends Error {}

/** What a missing program is called, and how to get it. The version is that of native/Cargo.toml. */
export const CURES = {
  cargo: 'Rust’s cargo is missing. Get it: https://rustup.rs (or: apt-get install cargo, if it is 1.89 or newer)',
  cc: 'A C compiler (cc) is missing. Get it: apt-get install build-essential (Debian, Ubuntu), dnf install gcc (Fedora)',
  npm: 'npm is missing. Get it: it comes with Node, https://nodejs.org (or: apt-get install npm)',
};

let out = process.stdout;

/** Progress goes to standard error from now on: standard output belongs to the command that comes. */
export function sayOnStandardError() {
  out = process.stderr;
}

export function say(line) {
  out.write(`${line}\n`);
}

export function seconds(sinceMs) {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
}

/** Absolute path of a program on PATH (and in the usual place of cargo), or null. */
export function findProgram(name) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), path.join(os.homedir(), '.cargo/bin')];
  for (const folder of folders) {
    if (!path.isAbsolute(folder)) continue;
    const file = path.join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      if (statSync(file).isFile()) return file;
    } catch {
      // not in this folder
    }
  }
  return null;
}

export function needProgram(name) {
  const found = findProgram(name);
  if (!found) throw new Missing(CURES[name]);
  return found;
}

/**
 * Runs a program to its end. `quiet` keeps its output and shows it only if it fails; `onLine` sees each line of standard error.
 * Resolves with the exit code and everything it wrote; rejects only if it could not be started.
 */
export function run(program, args, { quiet = false, onLine = null, env = {}, cwd = ROOT } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let rest = '';
    const take = (stream, isError) => (chunk) => {
      output += chunk;
      if (!quiet) stream.write(chunk);
      if (!isError || !onLine) return;
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      lines.forEach(onLine);
    };
    child.stdout.setEncoding('utf8').on('data', take(process.stdout, false));
    child.stderr.setEncoding('utf8').on('data', take(process.stderr, true));
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code: code ?? 128 + (os.constants.signals[signal] ?? 0), output }));
  });
}

/** A key over every file below `entries` (folders or files) that `keep` accepts: path, size, modification time. */
function listingKey(entries, keep) {
  const hash = createHash('sha256');
  const visit = (relative) => {
    let stat;
    try {
      stat = statSync(path.join(ROOT, relative));
    } catch {
      return;
    }
    if (stat.isDirectory()) {
      for (const name of readdirSync(path.join(ROOT, relative)).sort()) {
        if (name !== 'target' && name !== 'node_modules') visit(`${relative}/${name}`);
      }
    } else if (keep(relative)) {
      hash.update(`${relative}\0${stat.size}\0${stat.mtimeMs}\n`);
    }
  };
  entries.forEach(visit);
  return hash.digest('hex');
}

export function readStamp(name) {
  try {
    return JSON.parse(readFileSync(path.join(STAMPS, `${name}.json`), 'utf8'));
  } catch {
    return null;
  }
}

export function writeStamp(name, value) {
  mkdirSync(STAMPS, { recursive: true });
  writeFileSync(path.join(STAMPS, `${name}.json`), `${JSON.stringify(value)}\n`);
}

/** One step: skipped without a word while its stamp fits and its result is there. */
async function step(name, words, { key, result, work }) {
  if (readStamp(name)?.key === key && existsSync(result)) return false;
  const begun = performance.now();
  say(`  ${words} …`);
  await work();
  if (!existsSync(result)) throw new Error(`${words}: ended, but ${path.relative(ROOT, result)} is not there`);
  writeStamp(name, { key });
  say(`  ${words}: done, ${seconds(begun)}`);
  return true;
}

/** True if node_modules holds exactly what package-lock.json names for this platform. */
function modulesFit() {
  try {
    const wanted = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')).packages;
    const present = JSON.parse(readFileSync(path.join(ROOT, 'node_modules/.package-lock.json'), 'utf8')).packages;
    return Object.entries(wanted).every(([where, entry]) => where === '' || entry.optional || present[where]?.version === entry.version);
  } catch {
    return false;
  }
}

function majorOf(version) {
  return Number(version.split('.')[0]);
}

/** `npm ci` where node_modules is missing or does not fit the lockfile; then Node 24 must be there. */
export async function ensureModules() {
  if (majorOf(process.versions.node) < NODE_LEAST) {
    throw new Missing(`Node ${process.versions.node} is too old, ${NODE_LEAST} or newer is needed. Get it: https://nodejs.org`);
  }
  if (!modulesFit()) {
    const npm = needProgram('npm');
    const begun = performance.now();
    say('  Node packages (npm ci) …');
    const { code, output } = await run(npm, ['ci', '--no-progress'], { quiet: true });
    if (code !== 0) throw new Error(`npm ci failed (exit ${code}):\n${output.trimEnd()}`);
    say(`  Node packages: done, ${seconds(begun)}`);
  }
  const brought = JSON.parse(readFileSync(path.join(ROOT, 'node_modules/node/package.json'), 'utf8')).version;
  if (majorOf(brought) < NODE_BROUGHT || !existsSync(NODE)) {
    throw new Missing(`Node ${NODE_BROUGHT} should have come with npm ci, found ${brought}. Cure: rm -r node_modules; npm start`);
  }
}

/** `cargo build --release --locked`, with a line every ten seconds so that nobody wonders. */
export async function ensureProver() {
  const key = listingKey(['native'], (file) => /(\.rs|\.toml|\.lock|\.cu|\.cuh|\.c|\.h)$/.test(file));
  return step('prover', 'prover (cargo build --release)', {
    key,
    result: PROVER,
    work: async () => {
      const cargo = needProgram('cargo');
      needProgram('cc');
      const begun = performance.now();
      let compiled = 0;
      let waits = '';
      const ticker = setInterval(() => say(`    prover: ${compiled} crates begun, ${seconds(begun)}${waits}`), 10_000);
      try {
        const args = ['build', '--release', '--locked', '--manifest-path', 'native/Cargo.toml', '-p', 'interlock-prover'];
        const { code, output } = await run(cargo, args, {
          quiet: true,
          onLine: (line) => {
            if (/^\s*Compiling /.test(line)) compiled += 1;
            waits = /^\s*Blocking /.test(line) ? ' (another cargo is at work; waiting for it)' : '';
          },
        });
        if (code !== 0) throw new Error(`cargo build failed (exit ${code}):\n${output.trimEnd()}`);
      } finally {
        clearInterval(ticker);
      }
    },
  });
}

/** Builds the page with vite into out/renderer. */
export async function ensureRenderer() {
  const key = listingKey(['renderer', 'electron/contract', 'build/shell-manifest.mjs', 'package-lock.json'], () => true);
  return step('renderer', 'page (vite build)', {
    key,
    result: path.join(RENDERER, MANIFEST_NAME),
    work: async () => {
      const args = ['node_modules/vite/bin/vite.js', 'build', 'renderer', '--config', 'renderer/vite.config.ts', '--logLevel', 'warn'];
      const { code, output } = await run(NODE, args, { quiet: true });
      if (code !== 0) throw new Error(`vite build failed (exit ${code}):\n${output.trimEnd()}`);
    },
  });
}

/** Bundles the window's main and preload into out/window. */
export async function ensureWindowBundle() {
  const key = listingKey(['electron', 'build/bundle.mjs', 'package-lock.json'], () => true);
  return step('window', 'window (esbuild)', {
    key,
    result: path.join(ROOT, 'out/window/main.cjs'),
    work: async () => {
      const { code, output } = await run(NODE, ['build/bundle.mjs'], { quiet: true });
      if (code !== 0) throw new Error(`bundling the window failed (exit ${code}):\n${output.trimEnd()}`);
    },
  });
}

/** Everything that `parts` names, packages first, the rest side by side. All are waited for, then the first failure is thrown. */
export async function ensure(parts = ['prover', 'renderer']) {
  await ensureModules();
  const steps = { prover: ensureProver, renderer: ensureRenderer, window: ensureWindowBundle };
  const ends = await Promise.allSettled(parts.map((part) => steps[part]()));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

/**
 * Hands the terminal over to a program and resolves with its exit code. On a terminal Ctrl-C reaches it by the process group (and npm
 * sends the launcher one more); without a terminal what the launcher gets is passed on, at most once a second, for the same reason.
 */
export function handOver(program, args, { env = { NODE_COMPILE_CACHE: COMPILE_CACHE }, cwd = ROOT } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: 'inherit' });
    let lastMs = -Infinity;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      process.on(signal, () => {
        if (performance.now() - lastMs < 1000 || (signal === 'SIGINT' && process.stdin.isTTY)) return;
        lastMs = performance.now();
        child.kill(signal);
      });
    }
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? 128 + (os.constants.signals[signal] ?? 0)));
  });
}

/** Runs a launcher's `main`; what is missing or broken ends it with plain words and exit code 1. */
export async function launch(main) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
