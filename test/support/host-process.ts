/** A host as a process of its own (`interlock serve`), for tests that kill it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createClient } from '../../electron/contract/client.ts';
import type { Client } from '../../electron/contract/api.ts';
import { connectToHost, type SocketTransport } from '../../electron/doors/socket/client.ts';
import { hostSocketPath } from '../../electron/host/paths.ts';

export const ROOT = path.resolve(import.meta.dirname, '../..');
export const CLI = path.join(ROOT, 'electron/cli.ts');

export interface HostProcess {
  child: ChildProcess;
  client: Client;
  transport: SocketTransport;
  stderr(): string;
  /** Resolves with code or signal. */
  ended: Promise<number | NodeJS.Signals | null>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export function testEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, XDG_RUNTIME_DIR: '', XDG_CONFIG_HOME: '/nonexistent', ...more };
  for (const name of Object.keys(env)) if (name.startsWith('INTERLOCK_') && !(name in more)) delete env[name];
  return env;
}

export async function startHostProcess(dataFolder: string, env: NodeJS.ProcessEnv = {}, args: string[] = []): Promise<HostProcess> {
  const full = testEnvironment(env);
  const child = spawn(process.execPath, [CLI, 'serve', '--no-web', '--data-dir', dataFolder, ...args], {
    env: full,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
  let gone = false;
  void ended.then(() => (gone = true));
  const socket = hostSocketPath(dataFolder, full);
  for (;;) {
    const transport = await connectToHost(socket);
    if (transport) {
      const client = createClient(transport);
      return {
        child, client, transport, ended, stderr: () => said,
        async kill(signal) {
          child.kill(signal);
          await ended;
        },
      }; // prettier-ignore
    }
    if (gone) throw new Error(`the host ended before it answered: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Runs one command line to its end. */
export function runCli(args: string[], options: { env?: NodeJS.ProcessEnv; onSpawn?: (child: ChildProcess) => void } = {}) {
  return new Promise<{ code: number | NodeJS.Signals | null; stdout: string; stderr: string }>((resolve) => {
    const child = spawn(process.execPath, [CLI, ...args], { env: testEnvironment(options.env), stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('close', (code, signal) => resolve({ code: code ?? signal, stdout, stderr }));
    options.onSpawn?.(child);
  });
}

/** Living processes whose command line names this folder (zombies are dead). */
export function processesOf(folder: string): { pid: number; command: string }[] {
  const found: { pid: number; command: string }[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const state = /\) (\w)/.exec(readFileSync(`/proc/${name}/stat`, 'latin1'))?.[1];
      if (command.includes(folder) && state !== 'Z') found.push({ pid: Number(name), command });
    } catch {
      // gone meanwhile
    }
  }
  return found;
}

export async function until(what: string, holds: () => Promise<boolean> | boolean, ms = 30_000): Promise<void> {
  const from = performance.now();
  while (!(await holds())) {
    if (performance.now() - from > ms) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A small reproducible random source. */
export function randomSource(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
