/** The window’s decisions as data, held against literal tables: what Electron is told, what it may load, where it may go. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { CONTENT_SECURITY_POLICY } from '../../../electron/doors/page-policy.ts';
import { createShell } from '../../../electron/doors/shell.ts';
import { guardContents, guardSession, type GuardedContents, type GuardedSession } from '../../../electron/doors/window/contents-guard.ts';
import { CHANNELS } from '../../../electron/doors/window/ipc-channels.ts';
import { EXTERNAL_LINKS, externalLink, isOwnPage, isOwnUrl } from '../../../electron/doors/window/navigation.ts';
import { denyByDefault, mayHave, PERMISSIONS, type PermissionSession } from '../../../electron/doors/window/permissions.ts';
import { answerScheme, APP_URL, SCHEME_PRIVILEGES } from '../../../electron/doors/window/scheme.ts';
import { HOST_ARGUMENTS, hostEnvironment } from '../../../electron/doors/window/start-host.ts';
import { REFUSED_SWITCHES, SOFTWARE_RENDERING_SWITCHES, windowOptions } from '../../../electron/doors/window/window-options.ts';
import { TRAVERSALS } from '../web/attacks.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

describe('how the window is made', () => {
  test('every guard is written out', () => {
    expect(windowOptions('/app/preload.cjs', { devTools: false })).toEqual({
      title: 'Interlock',
      width: 1280,
      height: 800,
      minWidth: 1024,
      minHeight: 640,
      show: false,
      autoHideMenuBar: true,
      backgroundColor: '#16181d',
      webPreferences: {
        preload: '/app/preload.cjs',
        sandbox: true,
        contextIsolation: true,
        nodeIntegration: false,
        nodeIntegrationInWorker: false,
        nodeIntegrationInSubFrames: false,
        webviewTag: false,
        webSecurity: true,
        allowRunningInsecureContent: false,
        experimentalFeatures: false,
        navigateOnDragDrop: false,
        disableDialogs: true,
        spellcheck: false,
        devTools: false,
      },
    });
  });

  test('main enables the sandbox, the scheme and the switches before ready, and refuses root', () => {
    const main = read('electron/main.ts');
    const at = (text: string) => {
      expect(main, text).toContain(text);
      return main.indexOf(text);
    };
    const ready = at('.whenReady()');
    for (const text of [
      'app.enableSandbox()',
      'registerSchemesAsPrivileged',
      'appendSwitch',
      'requestSingleInstanceLock',
      'getuid?.() === 0',
    ]) {
      expect(at(text)).toBeLessThan(ready);
    }
    expect(main).not.toMatch(/ipcMain\s*\.\s*(?:on|handle)|loadFile|bypassCSP|openDevTools|executeJavaScript/);
  });

  test('debugging switches are refused, hardware rendering is off by default', () => {
    expect(REFUSED_SWITCHES).toContain('remote-debugging-port');
    expect(SOFTWARE_RENDERING_SWITCHES.map(([name]) => name)).toEqual(['disable-gpu', 'disable-gpu-compositing']);
  });

  test('its host has no web door and none of Electron’s variables', () => {
    expect(HOST_ARGUMENTS).toEqual(['serve', '--no-web']);
    const kept = hostEnvironment({
      HOME: '/h',
      LD_LIBRARY_PATH: '/l',
      ELECTRON_RUN_AS_NODE: '1',
      NODE_OPTIONS: '--x',
      LD_PRELOAD: 'x',
      CHROME_DESKTOP: 'x',
    });
    expect(kept).toEqual({ HOME: '/h', LD_LIBRARY_PATH: '/l' });
  });
});

describe('permissions', () => {
  test('the table names every permission that this Electron knows', () => {
    const typings = read('node_modules/electron/electron.d.ts');
    const names = new Set<string>();
    for (const method of ['setPermissionCheckHandler', 'setPermissionRequestHandler']) {
      const line = typings.split('\n').find((text) => text.trim().startsWith(`${method}(handler`)) ?? '';
      for (const match of (/permission: ((?:'[\w-]+'(?: \| )?)+)/.exec(line)?.[1] ?? '').matchAll(/'([\w-]+)'/g)) names.add(match[1] ?? '');
    }
    expect(names.size).toBeGreaterThan(40);
    expect([...names].filter((name) => !(name in PERMISSIONS))).toEqual([]);
  });

  test('all are denied but copying, and that only for our own main frame', () => {
    expect(Object.keys(PERMISSIONS).filter((name) => mayHave(name, true))).toEqual(['clipboard-sanitized-write']);
    expect(Object.keys(PERMISSIONS).filter((name) => mayHave(name, false))).toEqual([]);
    expect(['constructor', '__proto__', 'toString', '', 'brand-new'].filter((name) => mayHave(name, true))).toEqual([]);
  });

  test('every handler is set, and answers by the table', () => {
    const set: Record<string, (...args: never[]) => unknown> = {};
    const session = new Proxy({}, { get: (_target, name) => (handler: (...args: never[]) => unknown) => (set[String(name)] = handler) });
    denyByDefault(session as PermissionSession, isOwnUrl);
    expect(Object.keys(set).sort()).toEqual([
      'setBluetoothPairingHandler',
      'setDevicePermissionHandler',
      'setDisplayMediaRequestHandler',
      'setPermissionCheckHandler',
      'setPermissionRequestHandler',
      'setUSBProtectedClassesHandler',
    ]);
    const call = (name: string, ...args: unknown[]) => (set[name] as (...all: unknown[]) => unknown)(...args);
    const ours = { isMainFrame: true, requestingUrl: APP_URL };
    expect(call('setPermissionCheckHandler', null, 'clipboard-sanitized-write', 'interlock-ui://app', ours)).toBe(true);
    expect(
      call('setPermissionCheckHandler', null, 'clipboard-sanitized-write', 'interlock-ui://app', { ...ours, isMainFrame: false }),
    ).toBe(false);
    expect(
      call('setPermissionCheckHandler', null, 'clipboard-sanitized-write', 'https://evil.test', {
        isMainFrame: true,
        requestingUrl: 'https://evil.test/',
      }),
    ).toBe(false);
    expect(call('setPermissionCheckHandler', null, 'media', 'interlock-ui://app', ours)).toBe(false);
    const answers: unknown[] = [];
    call('setPermissionRequestHandler', null, 'geolocation', (granted: boolean) => answers.push(granted), ours);
    call('setDisplayMediaRequestHandler', {}, (streams: object) => answers.push(streams));
    call('setBluetoothPairingHandler', {}, (response: object) => answers.push(response));
    expect(answers).toEqual([false, {}, { confirmed: false }]);
    expect(call('setDevicePermissionHandler')).toBe(false);
    expect(call('setUSBProtectedClassesHandler', { protectedClasses: ['audio'] })).toEqual(['audio']);
  });
});

describe('the scheme', () => {
  const shell = createShell([
    ['index.html', Buffer.from('<!doctype html>')],
    ['assets/main-1a2b3c.js', Buffer.from('1')],
  ]);

  test('serves the listed files under the policy', () => {
    const answer = answerScheme(shell, 'GET', 'interlock-ui://app/assets/main-1a2b3c.js');
    expect([answer.status, String(answer.body), answer.headers['content-type']]).toEqual([200, '1', 'text/javascript; charset=utf-8']);
    expect(answerScheme(shell, 'GET', 'interlock-ui://app/#/runs/r1')).toMatchObject({
      status: 200,
      headers: { 'content-security-policy': CONTENT_SECURITY_POLICY },
    });
    expect(answerScheme(shell, 'HEAD', APP_URL)).toMatchObject({ status: 200, body: null });
  });

  test('has no privilege that weakens it', () => {
    expect(SCHEME_PRIVILEGES).toEqual([{ scheme: 'interlock-ui', privileges: { standard: true, secure: true, supportFetchAPI: true } }]);
  });

  const hostile = [
    ...TRAVERSALS.filter((target) => !target.includes('#') && target !== '/').map((target) => `interlock-ui://app${target}`),
    ...['interlock-ui://app', 'interlock-ui:app/', 'interlock-ui:/app/', 'interlock-ui:///', 'interlock-ui://evil/', 'interlock-ui://app.evil/', 'interlock-ui://app:80/', 'interlock-ui://x@app/', 'interlock-ui://APP/', 'INTERLOCK-UI://app/', 'file:///etc/passwd', 'http://app/', 'data:text/html,x', '', '/', 'interlock-ui://app\\', 'interlock-ui://app/..'],
  ]; // prettier-ignore
  test(`answers ${hostile.length} other spellings with 404`, () => {
    expect(hostile.filter((url) => answerScheme(shell, 'GET', url).status !== 404)).toEqual([]);
    expect(hostile.length).toBeGreaterThan(300);
  });

  test('is read only', () => {
    expect(['POST', 'PUT', 'DELETE', 'OPTIONS', 'CONNECT', ''].map((method) => answerScheme(shell, method, APP_URL).status)).toEqual(
      Array(6).fill(405),
    );
  });
});

describe('navigation', () => {
  const foreign = ['', 'about:blank', 'about:srcdoc', 'https://example.com/', 'http://127.0.0.1/', 'file:///etc/passwd', 'data:text/html,x', 'blob:interlock-ui://app/1', 'javascript:alert(1)', 'app://ui/', 'interlock-ui:app', 'interlock-ui:/app/', 'interlock-ui://evil/', 'interlock-ui://app.evil/', 'interlock-ui://evil/interlock-ui://app/', 'interlock-ui://app:1/', 'interlock-ui://app@evil/', 'interlock-ui://evil@app/', 'interlock-ui://a:b@app/', 'Interlock-UI://app/', 'view-source:interlock-ui://app/', 'filesystem:interlock-ui://app/', 'interlock-ui-x://app/', 'chrome://gpu', 'devtools://devtools/', 'ws://app/', 'interlock-ui://app\\@evil/', ' interlock-ui://app/', 'interlock-ui://%61pp/', 'mailto:x@example.com']; // prettier-ignore

  test(`${foreign.length} foreign URLs are not ours`, () => expect(foreign.filter((url) => isOwnUrl(url))).toEqual([]));
  test('our page is, with any fragment, and our files are no page', () => {
    expect([APP_URL, `${APP_URL}#/runs`].map(isOwnPage)).toEqual([true, true]);
    expect([`${APP_URL}assets/x.js`, `${APP_URL}?x`].map(isOwnPage)).toEqual([false, false]);
  });

  test('contents stay where they are', () => {
    const listeners = new Map<string, (event: { preventDefault(): void; url?: string }, second?: unknown) => void>();
    const loaded: string[] = [];
    let opener: ((details: { url: string }) => { action: string }) | null = null;
    const contents: GuardedContents = {
      on: (name, listener) => listeners.set(name, listener),
      setWindowOpenHandler: (handler) => (opener = handler),
      loadURL: async (url) => void loaded.push(url),
    };
    const prevented: string[] = [];
    guardContents(contents, (what) => prevented.push(what));
    const stopped = (name: string, url: string, asArgument: boolean) => {
      let stops = 0;
      listeners.get(name)?.({ preventDefault: () => stops++, ...(asArgument ? {} : { url }) }, asArgument ? url : undefined);
      return stops === 1;
    };
    for (const name of ['will-navigate', 'will-frame-navigate', 'will-redirect']) {
      for (const asArgument of [true, false]) {
        expect(foreign.filter((url) => !stopped(name, url, asArgument))).toEqual([]);
        expect(stopped(name, APP_URL, asArgument)).toBe(false);
      }
    }
    expect(stopped('will-attach-webview', 'interlock-ui://app/', true)).toBe(true);
    expect((opener as ((details: { url: string }) => { action: string }) | null)?.({ url: APP_URL })).toEqual({ action: 'deny' });
    listeners.get('did-navigate')?.({ preventDefault: () => {}, url: 'about:blank' });
    listeners.get('did-navigate')?.({ preventDefault: () => {}, url: APP_URL });
    expect(loaded).toEqual([APP_URL]);
  });

  test('a session loads our files and images made in place, and downloads what the page made, nothing else', () => {
    let ask: ((details: { url: string }, callback: (answer: { cancel: boolean }) => void) => void) | null = null;
    let download: ((event: { preventDefault(): void }, item: { getURL(): string }) => void) | null = null;
    const session: GuardedSession = {
      webRequest: { onBeforeRequest: (handler) => (ask = handler) },
      on: (_name, listener) => (download = listener),
    };
    guardSession(session, { devTools: false }, () => {});
    const cancelled = (url: string) => {
      let answer = false;
      (ask as unknown as (details: { url: string }, callback: (answer: { cancel: boolean }) => void) => void)(
        { url },
        ({ cancel }) => (answer = cancel),
      );
      return answer;
    };
    // A page's own bytes are no place to go to, but they may be saved.
    const outside = foreign.filter((url) => url !== 'blob:interlock-ui://app/1');
    expect(outside).toHaveLength(foreign.length - 1);
    expect(outside.filter((url) => !cancelled(url))).toEqual([]);
    const made = 'blob:interlock-ui://app/0c1d';
    expect([APP_URL, `${APP_URL}assets/x.js`, 'data:image/png;base64,AAAA', made].map(cancelled)).toEqual([false, false, false, false]);
    const stopped = (url: string) => {
      let stops = 0;
      (download as unknown as (event: { preventDefault(): void }, item: { getURL(): string }) => void)(
        { preventDefault: () => stops++ },
        { getURL: () => url },
      );
      return stops === 1;
    };
    expect(stopped(made)).toBe(false);
    const others = [...outside, 'blob:null/1', 'blob:http://127.0.0.1/1', 'blob:interlock-ui://app.evil/1', 'blob:interlock-ui://apple/1'];
    expect(others.filter((url) => !stopped(url))).toEqual([]);
    expect(others.filter((url) => !cancelled(url))).toEqual([]);
  });

  test('links to the outside are looked up by key, https alone', () => {
    expect(Object.values(EXTERNAL_LINKS).every((url) => new URL(url).protocol === 'https:')).toBe(true);
    expect(
      ['https://rustup.rs/', 'file:///etc/passwd', 'smb://x', '-flag', 'constructor', '__proto__', 7, null, undefined, {}].map(
        externalLink,
      ),
    ).toEqual(Array(10).fill(null));
    expect(externalLink('rustup')).toBe('https://rustup.rs/');
  });
});

test('preload and main name the same channels', () => {
  const preload = read('electron/preload.ts');
  const named = [...preload.matchAll(/'(interlock:[\w-]+)'/g)].map((match) => match[1]);
  expect(named.sort()).toEqual(Object.values(CHANNELS).sort());
});
