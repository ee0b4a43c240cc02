/**
 * The host without a window: wiring only. `serve` is the host, its socket door and its web door in one process; the first SIGINT, SIGTERM
 * or SIGHUP drains, the second ends at once.
 */
import { join } from 'node:path';
import { InterlockError } from './contract/errors.ts';
import { sleep } from './contract/clock.ts';
import { createClient } from './contract/client.ts';
import { runFirstProof } from './doors/cli/first-proof.ts';
import { findOtherProvers } from './doors/cli/other-provers.ts';
import type { Output } from './doors/cli/output.ts';
import { connectToHost } from './doors/socket/client.ts';
import { localTransport } from './doors/socket/local.ts';
import { startSocketDoor, type SocketDoor } from './doors/socket/server.ts';
import { checkoutFolder } from './engines/builtin/binary.ts';
import { systemClock } from './host/clock.ts';
import { createHost, type HostOptions, type RunningHost } from './host/host.ts';
import { dataLayout, hostSocketPath } from './host/paths.ts';
import { clockTime } from './host/words.ts';

/** Signals closer together than this are one. */
const SAME_SIGNAL_NS = 3e8;

export interface ServeOptions {
  host: HostOptions;
  web: { port: number | null; publicOrigin: string | null } | null;
  firstProof: boolean;
}

/** Why a socket cannot be bound where the file system does not allow it: then the host goes without that door. */
const UNBINDABLE = new Set(['EROFS', 'EACCES', 'ENOSPC', 'EDQUOT']);

/** A host with its socket door, for `serve` and for `prove` alike. */
export async function openHostWithSocket(options: HostOptions): Promise<{ host: RunningHost; door: SocketDoor | null }> {
  const host = await createHost(options);
  const path = hostSocketPath(host.dataFolder, options.environment ?? process.env);
  try {
    return { host, door: await startSocketDoor(host, path) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined && UNBINDABLE.has(code)) {
      options.onNotice?.('warning', `There is no socket at ${path} (${code}): other commands cannot reach this host.`);
      return { host, door: null };
    }
    await host.close('now');
    throw error;
  }
}

/** Runs until it is told to end. Answers the exit code. */
export async function serve(options: ServeOptions, output: Output): Promise<number> {
  const log = (line: string) => output.say(`${clockTime(systemClock.wallMs())}  ${line}`);
  const opened = await openOrFindRunning(options, log, output);
  if (opened === null) return 0;
  const { host, door } = opened;
  const ending = new AbortController();
  let interrupts = 0;
  let lastNs = -Infinity;
  let tellEnd: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (tellEnd = resolve));
  const onSignal = (signal: NodeJS.Signals) => {
    // One Ctrl-C may come twice: from the terminal, and passed on by what started us.
    const nowNs = systemClock.nowNs();
    if (nowNs - lastNs < SAME_SIGNAL_NS) return;
    lastNs = nowNs;
    interrupts++;
    if (interrupts === 1) log(`${signal}: finishing what was begun; once more ends at once.`);
    else void host.close('now');
    tellEnd();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  let web: { close(): Promise<void> } | null = null;
  try {
    if (options.web) web = await openPage(host, options.web, log, output);
    log(`History and proofs are in ${host.dataFolder}`);
    if (options.firstProof) void beginFirstProof(host, log, ending.signal);
    await asked;
  } finally {
    ending.abort();
    await web?.close();
    await host.close('drain');
    await door?.close();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, onSignal);
  }
  log('Ended.');
  return 0;
}

/** Null when another host runs already: then its link is printed. */
async function openOrFindRunning(options: ServeOptions, log: (line: string) => void, output: Output) {
  const socket = hostSocketPath(options.host.dataFolder, options.host.environment ?? process.env);
  for (let tries = 0; ; tries++) {
    const running = await connectToHost(socket);
    if (running) {
      log('A host is running already; this is its link.');
      try {
        const { url } = await createClient(running).make_link({});
        await output.data(`${url}\n`);
      } catch (error) {
        log(error instanceof Error ? error.message : String(error));
      } finally {
        running.close();
      }
      return null;
    }
    try {
      return await openHostWithSocket({
        ...options.host,
        onNotice: (severity, message) => log(severity === 'info' ? message : `${severity}: ${message}`),
      });
    } catch (error) {
      // A host that is just starting or ending holds the folder without answering yet, or still.
      if (!(error instanceof InterlockError) || error.code !== 'host_running' || tries >= 20) throw error;
      await sleep(systemClock, 250);
    }
  }
}

async function openPage(host: RunningHost, web: NonNullable<ServeOptions['web']>, log: (line: string) => void, output: Output) {
  const { startWebDoor } = await import('./doors/web/web-door.ts');
  const { loadShell } = await import('./doors/shell.ts');
  const door = await startWebDoor(host, {
    port: web.port ?? undefined,
    publicOrigin: web.publicOrigin ?? undefined,
    clock: systemClock,
    shell: loadShell(join(checkoutFolder(), 'out', 'renderer')),
    tokenFile: dataLayout(host.dataFolder).token,
    log,
  });
  host.setLinkMaker(() => door.makeLink());
  const fresh = process.stdin.isTTY ? 'Enter, or npx interlock link' : 'npx interlock link';
  log(`Open this link in a browser on this machine (it works once; a fresh one: ${fresh})`);
  await output.data(`${door.makeLink()}\n`);
  const stopListening = linkOnEnter(() => void output.data(`${door.makeLink()}\n`));
  return {
    close: () => {
      stopListening();
      return door.close();
    },
  };
}

/** In a terminal, Enter asks for a fresh link. Returns the function that ends it. */
function linkOnEnter(printLink: () => void): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => undefined;
  stdin.on('data', printLink);
  return () => {
    stdin.off('data', printLink);
    stdin.pause();
  };
}

async function beginFirstProof(host: RunningHost, log: (line: string) => void, signal: AbortSignal): Promise<void> {
  try {
    await runFirstProof({ client: createClient(localTransport(host)), clock: systemClock, log, others: findOtherProvers, signal });
  } catch (error) {
    if (!signal.aborted) log(error instanceof Error ? error.message : String(error));
  }
}

// Not awaited: the command line imports this module again, and would wait for it.
if (import.meta.main) void import('./cli.ts').then(({ runProgram }) => runProgram(process.argv.slice(2)));
