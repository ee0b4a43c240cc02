/**
 * Starts the host that a window needs when none is running: a process of its own, so that neither a crash nor the end of the window
 * touches a run. From a checkout that is Node and the sources; in a package it is a utility process (a packaged Electron cannot be used
 * as Node: that fuse is off).
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What the host is started with: no web door, so the windowed program opens no TCP port at all. */
export const HOST_ARGUMENTS = ['serve', '--no-web'] as const;

/** Never handed on: they would change what the child is. */
const DROPPED_VARIABLES = /^(?:ELECTRON_|NODE_|LD_PRELOAD$|LD_AUDIT$|CHROME_|GDK_|GTK_|DBUS_)/;

export function hostEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !DROPPED_VARIABLES.test(name)));
}

const CLOSE_ON_EXEC = 0o2000000;

/** Descriptors of this process that a child would keep (see close-inherited.ts). */
export function inheritedDescriptors(): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => {
      if (fd <= 2) return false;
      try {
        const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
        return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
      } catch {
        return false;
      }
    });
}

export interface Utility {
  fork(
    modulePath: string,
    args: string[],
    options: { serviceName: string; stdio: 'ignore'; env: Record<string, string> },
  ): { once(event: 'exit', listener: (code: number) => void): unknown; kill(): boolean };
}

export interface StartedHost {
  /** Resolves with why it ended. */
  ended: Promise<string>;
  /** Asks for a clean stop; the host drains in its own time. */
  stop(): void;
}

export interface HostPlaces {
  /** The checkout or the package's app folder. */
  root: string;
  packaged: boolean;
  args: readonly string[];
  environment: NodeJS.ProcessEnv;
  utility: Utility | null;
}

export function startHost(places: HostPlaces): StartedHost {
  const args = [...HOST_ARGUMENTS, ...places.args];
  const env = hostEnvironment(places.environment);
  if (places.packaged && places.utility) {
    const child = places.utility.fork(path.join(places.root, 'out/app/electron/headless.mjs'), args, {
      serviceName: 'Interlock host',
      stdio: 'ignore',
      env: env as Record<string, string>,
    });
    return {
      ended: new Promise((resolve) => child.once('exit', (code) => resolve(`it ended with exit ${code}`))),
      stop: () => child.kill(),
    };
  }
  const node = path.join(places.root, 'node_modules/node/bin/node');
  const script = path.join(places.root, 'electron/headless.ts');
  if (!existsSync(node) || !existsSync(script)) {
    return { ended: Promise.resolve(`${existsSync(node) ? script : node} is not there; npm start puts it there`), stop: () => {} };
  }
  // Its own session: Ctrl-C in the window's terminal is the window's, and the host outlives it if it has to.
  const prelude = path.join(places.root, 'electron/doors/window/close-inherited.ts');
  const child = spawn(node, ['--import', prelude, script, ...args], {
    cwd: places.root,
    env: { ...env, INTERLOCK_INHERITED_DESCRIPTORS: inheritedDescriptors().join(',') },
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let last = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    last = (last + text).slice(-2000);
  });
  child.stderr.on('error', () => {});
  child.unref();
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) =>
      resolve(last.trim().split('\n').at(-1) || (signal ? `it was ended by ${signal}` : `it ended with exit ${String(code)}`)),
    );
  });
  return { ended, stop: () => child.kill('SIGTERM') };
}
