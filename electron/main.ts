/**
 * The window's program: wiring only. Everything it decides is data or a function in electron/doors/window; the host is another process,
 * reached over its unix socket. Bundled to CommonJS without top-level await: schemes, switches and the sandbox are set before `ready`.
 */
import { app, BrowserWindow, ipcMain, Menu, protocol, session, utilityProcess } from 'electron';
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import path from 'node:path';
import type { LiveMessage } from './contract/live.ts';
import { loadShell, type Shell } from './doors/shell.ts';
import { connectToHost } from './doors/socket/client.ts';
import { guardContents, guardSession, type GuardedContents, type GuardedSession } from './doors/window/contents-guard.ts';
import { HostConnection } from './doors/window/host-connection.ts';
import { CHANNELS } from './doors/window/ipc-channels.ts';
import { openGate, type GateMain } from './doors/window/ipc-gate.ts';
import { LiveRelay } from './doors/window/live-relay.ts';
import { isOwnUrl } from './doors/window/navigation.ts';
import { denyByDefault, type PermissionSession } from './doors/window/permissions.ts';
import { answerScheme, APP_URL, SCHEME, SCHEME_PRIVILEGES } from './doors/window/scheme.ts';
import { startHost, type StartedHost } from './doors/window/start-host.ts';
import { QUIET_SWITCHES, REFUSED_SWITCHES, SOFTWARE_RENDERING_SWITCHES, windowOptions } from './doors/window/window-options.ts';
import { systemClock } from './host/clock.ts';
import { defaultDataFolder, hostSocketPath, resolveFolder } from './host/paths.ts';

/** A page that crashes more often than this in a minute is left alone, with the reason on the terminal. */
const RELOADS_A_MINUTE = 5;

const root = app.getAppPath();
const say = (line: string) => process.stderr.write(`interlock window: ${line}\n`);

function refuse(reason: string): never {
  say(reason);
  app.exit(1);
  throw new Error(reason);
}

/** What the user typed after the program (in a checkout: after the app's folder). */
function ownArguments(): string[] {
  const at = app.isPackaged ? 0 : process.argv.findIndex((argument) => path.resolve(argument) === root);
  return process.argv.slice(at + 1);
}

function dataFolder(args: readonly string[]): string {
  const at = args.findIndex((argument) => argument === '--data-dir' || argument.startsWith('--data-dir='));
  const flag = at === -1 ? undefined : (args[at]?.split('=')[1] ?? args[at + 1]);
  return resolveFolder(flag ?? process.env['INTERLOCK_DATA_DIR'] ?? defaultDataFolder(process.env));
}

function stateFolder(socketPath: string): string {
  const state = process.env['XDG_STATE_HOME'];
  const base = state && path.isAbsolute(state) ? state : path.join(process.env['HOME'] ?? homedir(), '.local', 'state');
  return path.join(base, 'interlock', `window-${createHash('sha256').update(socketPath).digest('hex').slice(0, 16)}`);
}

if (process.getuid?.() === 0) {
  refuse(
    'a window as root would run without its sandbox. As the service’s own user there can be one; as root: npm start (serves the page)',
  );
}
const opened = REFUSED_SWITCHES.find((name) => app.commandLine.hasSwitch(name));
if (app.isPackaged && opened) refuse(`--${opened} is not accepted`);

const args = ownArguments();
const socketPath = hostSocketPath(dataFolder(args), process.env);
// One window for a data folder; the settings of another one are its own.
app.setPath('userData', stateFolder(socketPath));
if (!app.requestSingleInstanceLock()) {
  say('a window is open already; it was brought to the front');
  app.exit(0);
}
app.enableSandbox();
protocol.registerSchemesAsPrivileged([...SCHEME_PRIVILEGES]);
const softwareRendering = process.env['INTERLOCK_GPU_WINDOW'] === '1' ? [] : SOFTWARE_RENDERING_SWITCHES;
if (softwareRendering.length > 0) app.disableHardwareAcceleration();
for (const [name, value] of [...QUIET_SWITCHES, ...softwareRendering]) {
  if (value === undefined) app.commandLine.appendSwitch(name);
  else app.commandLine.appendSwitch(name, value);
}

let window: BrowserWindow | null = null;
let started: StartedHost | null = null;
const devTools = !app.isPackaged;

const connection = new HostConnection({
  clock: systemClock,
  connect: () => connectToHost(socketPath),
  startHost: () => {
    started = startHost({
      root,
      packaged: app.isPackaged,
      args,
      environment: process.env,
      utility: app.isPackaged ? utilityProcess : null,
    });
    return started.ended;
  },
});
const relay = new LiveRelay(connection, (id: number, message: LiveMessage | null) => {
  if (window && !window.isDestroyed()) window.webContents.send(CHANNELS.message, id, message);
});
openGate(ipcMain as unknown as GateMain, {
  ownContents: () => (window && !window.isDestroyed() ? window.webContents.id : null),
  transport: connection,
  feeds: relay,
  onRefused: (reason) => say(`refused ${reason}`),
});

function showWindow(): void {
  const made = new BrowserWindow(windowOptions(path.join(root, 'out/window/preload.cjs'), { devTools }));
  window = made;
  const reloads: number[] = [];
  made.once('ready-to-show', () => made.show());
  made.on('closed', () => {
    window = null;
    relay.closeAll();
  });
  made.webContents.on('render-process-gone', (_event, details) => {
    relay.closeAll();
    const nowNs = systemClock.nowNs();
    while (reloads.length > 0 && nowNs - (reloads[0] ?? 0) > 60e9) reloads.shift();
    reloads.push(nowNs);
    say(`the page ended (${details.reason}, exit ${details.exitCode}); the run is not affected`);
    if (reloads.length <= RELOADS_A_MINUTE && !made.isDestroyed()) made.webContents.reload();
    else say('it ended too often; close the window and open it again');
  });
  void made.loadURL(APP_URL);
}

function serveShell(shell: Shell): void {
  protocol.handle(SCHEME, (request) => {
    const { status, headers, body } = answerScheme(shell, request.method, request.url);
    return new Response(body as BodyInit | null, { status, headers });
  });
}

app.on('web-contents-created', (_event, contents) =>
  guardContents(contents as unknown as GuardedContents, (what) => say(`prevented ${what}`)),
);
app.on('second-instance', () => {
  if (!window) return;
  if (window.isMinimized()) window.restore();
  window.focus();
});
app.on('window-all-closed', () => app.quit());
app.on('will-quit', () => {
  // A host that was started for this window ends with it, in its own time: it drains, and nothing here waits for it.
  started?.stop();
  void connection.close();
});

app
  .whenReady()
  .then(
    () => {
      Menu.setApplicationMenu(null);
      denyByDefault(session.defaultSession as unknown as PermissionSession, isOwnUrl);
      guardSession(session.defaultSession as unknown as GuardedSession, { devTools }, (what) => say(`prevented ${what}`));
      serveShell(loadShell(path.join(root, 'out/renderer')));
      showWindow();
    },
    (error: unknown) => refuse(String(error)),
  )
  .catch((error: unknown) => refuse(error instanceof Error ? error.message : String(error)));
