/**
 * Electron's own binary: npm brings only its wrapper, the binary comes from elsewhere at the first start. It is tried once; where it
 * cannot be had that is remembered, so that the next start does not wait again.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { NODE, readStamp, ROOT, say, writeStamp } from './bootstrap.mjs';

/** This long without a byte means: it cannot be had. */
const SILENCE_MS = 60_000;
const WRAPPER = path.join(ROOT, 'node_modules/electron');

function version() {
  return JSON.parse(readFileSync(path.join(WRAPPER, 'package.json'), 'utf8')).version;
}

/** Path of an installed binary, or null. ELECTRON_OVERRIDE_DIST_PATH names a folder that holds one. */
export function findElectron() {
  const name =
    process.platform === 'win32' ? 'electron.exe' : process.platform === 'darwin' ? 'Electron.app/Contents/MacOS/Electron' : 'electron';
  const folder = process.env.ELECTRON_OVERRIDE_DIST_PATH || path.join(WRAPPER, 'dist');
  const file = path.join(folder, name);
  return existsSync(file) ? file : null;
}

function bytesIn(folder) {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    try {
      if (entry.isFile()) bytes += statSync(path.join(entry.parentPath ?? entry.path, entry.name)).size;
    } catch {
      // moved away between listing and looking
    }
  }
  return bytes;
}

/** Runs the wrapper's installer, with progress; resolves with null or the reason why not. */
function install(silenceMs) {
  const folder = path.join(ROOT, 'out/electron-download');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return new Promise((resolve) => {
    // The download goes to a temporary folder of ours, so that its growth can be seen.
    const child = spawn(NODE, [path.join(WRAPPER, 'install.js')], {
      cwd: ROOT,
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errors = '';
    let bytes = 0;
    let grewMs = performance.now();
    let saidMs = grewMs;
    let reason = null;
    child.stderr.setEncoding('utf8').on('data', (chunk) => (errors += chunk));
    const watch = setInterval(() => {
      const now = performance.now();
      const size = bytesIn(folder);
      if (size > bytes) grewMs = now;
      bytes = size;
      if (now - saidMs > 5000) {
        saidMs = now;
        say(`    Electron: ${(bytes / 2 ** 20).toFixed(0)} MiB`);
      }
      if (now - grewMs > silenceMs) {
        reason = `no byte in ${silenceMs / 1000} s`;
        child.kill('SIGKILL');
      }
    }, 500);
    const end = (why) => {
      clearInterval(watch);
      rmSync(folder, { recursive: true, force: true });
      resolve(why);
    };
    child.on('error', (error) => end(error.message));
    child.on('close', (code) => {
      const last = errors.split('\n').find((line) => /Error|failed|refused/i.test(line)) ?? `exit ${code}`;
      end(reason ?? (code === 0 ? null : last.trim().slice(0, 200)));
    });
  });
}

/** `{binary}` or `{binary: null, reason}`. */
export async function obtainElectron({ again = false, silenceMs = SILENCE_MS } = {}) {
  const found = findElectron();
  if (found) return { binary: found, reason: null };
  const refused = readStamp('electron-refused');
  if (refused?.version === version() && !again) {
    return {
      binary: null,
      reason: `Electron’s binary could not be had before (${refused.why}); to try again: npm start -- --fetch-window`,
    };
  }
  say(`  Electron ${version()}: fetching its binary (once) …`);
  const why = await install(silenceMs);
  const binary = findElectron();
  if (binary) return { binary, reason: null };
  writeStamp('electron-refused', { version: version(), why: why ?? 'the installer ended without it' });
  return {
    binary: null,
    reason: `Electron’s binary could not be had (${why ?? 'the installer ended without it'}); to try again: npm start -- --fetch-window`,
  };
}
