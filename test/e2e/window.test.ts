/** The window’s real bundles (main, preload, page) in a real, old Electron on a display of its own; see test/support/old-electron.ts. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import type { ElectronApplication, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Host, LiveSubscriber } from '../../electron/contract/api.ts';
import type { LiveMessage } from '../../electron/contract/live.ts';
import { CONTENT_SECURITY_POLICY } from '../../electron/doors/page-policy.ts';
import { startSocketDoor, type SocketDoor } from '../../electron/doors/socket/server.ts';
import { hostSocketPath } from '../../electron/host/paths.ts';
import type { InterlockLink } from '../../renderer/link/window-link.ts';
import {
  giveAway,
  launchWindow,
  listeners,
  makePlace,
  prepareOldElectron,
  processTree,
  spawnWindow,
  startDisplay,
  type WindowPlace,
} from '../support/old-electron.ts';

const missing = prepareOldElectron();
const STATUS = {
  version: '0.1.0-test',
  dataFolder: '/nowhere',
  readOnly: null,
  machine: { cpus: 2, memoryBytes: 2 ** 33, hostname: 'test' },
  prover: { phase: 'absent', pid: null, backend: null, detail: null, sinceMs: 0 },
  run: null,
  queue: { waiting: 0, inProver: 0, held: null },
  ingest: { lagNs: 0, lost: 0, unparsed: 0, failing: null },
  notices: [],
};

/** A host that says as little as a host may, and counts. */
function quietHost(): { host: Host; calls: string[]; subscribers: Set<LiveSubscriber> } {
  const calls: string[] = [];
  const subscribers = new Set<LiveSubscriber>();
  const handlers = new Proxy(
    {},
    {
      get: (_target, name) => async () => {
        calls.push(String(name));
        return name === 'status' ? STATUS : { runs: [], more: false, proofs: [], values: [], checks: [] };
      },
    },
  ) as Host['handlers'];
  const host: Host = {
    handlers,
    subscribe(subscriber) {
      subscribers.add(subscriber);
      subscriber.send({ kind: 'status', status: STATUS } as unknown as LiveMessage);
      subscriber.send({ kind: 'no_run' });
      return () => subscribers.delete(subscriber);
    },
  };
  return { host, calls, subscribers };
}

async function until(condition: () => boolean | Promise<boolean>, what: string, ms = 30_000): Promise<void> {
  for (let waited = 0; waited < ms; waited += 50) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`did not happen in time: ${what}`);
}

describe.skipIf(missing)(`the window in an old Electron${missing ? ` (${missing})` : ''}`, () => {
  let display: Awaited<ReturnType<typeof startDisplay>>;
  let place: WindowPlace;
  let door: SocketDoor;
  let app: ElectronApplication;
  let page: Page;
  const quiet = quietHost();
  const violations: string[] = [];
  const requests: string[] = [];

  beforeAll(async () => {
    display = await startDisplay();
    place = makePlace(display.display);
    door = await startSocketDoor(quiet.host, hostSocketPath(place.dataFolder, place.env));
    giveAway(place.home);
    app = await launchWindow(place);
    page = await app.firstWindow();
    page.on('console', (message) => {
      if (/Content Security Policy|Trusted Type/i.test(message.text())) violations.push(message.text());
    });
    page.on('request', (request) => requests.push(request.url()));
    await page.waitForLoadState('load');
  });
  afterAll(async () => {
    await app?.close();
    await door?.close();
    display?.stop();
    if (place) rmSync(place.home, { recursive: true, force: true });
  });

  test('the page comes over our own scheme, with its policy as a header', async () => {
    expect(page.url()).toMatch(/^interlock-ui:\/\/app\/(#.*)?$/);
    const policy = await page.evaluate(() =>
      fetch('interlock-ui://app/').then((response) => response.headers.get('content-security-policy')),
    );
    expect(policy).toBe(CONTENT_SECURITY_POLICY);
  });

  test('the page draws itself from the host’s live feed', async () => {
    await until(() => quiet.subscribers.size > 0, 'a subscription');
    await page.waitForFunction(() => (document.querySelector('#app')?.textContent ?? '').length > 20);
  });

  test('a call goes to the host and comes back', async () => {
    const result = await page.evaluate(() => window.interlockLink?.call('status', {}));
    expect(result).toMatchObject({ ok: true, value: { version: '0.1.0-test' } });
  });

  test('a bad call is refused before the host', async () => {
    const before = quiet.calls.length;
    const results = await page.evaluate(async () => {
      const call = (window.interlockLink as InterlockLink).call as unknown as (
        name: unknown,
        input: unknown,
      ) => Promise<{ ok: boolean; code?: string }>;
      const cyclic: Record<string, unknown> = {};
      cyclic['self'] = cyclic;
      const tries = [
        ['nonsense', {}],
        ['make_link', {}],
        ['constructor', {}],
        ['show_run', { run: 7 }],
        ['status', { extra: 1 }],
        ['status', cyclic],
        ['status', 'x'.repeat(2 ** 21)],
      ] as const;
      return Promise.all(tries.map(([name, input]) => call(name, input).then((result) => result.code ?? 'served')));
    });
    expect(results).toEqual(['bad_request', 'bad_request', 'bad_request', 'usage', 'usage', 'bad_request', 'too_large']);
    expect(quiet.calls.length).toBe(before);
  });

  test('the page has none of Node or Electron, and two frozen functions', async () => {
    const seen = await page.evaluate(() => ({
      globals: ['require', 'process', 'module', 'Buffer', 'global', 'ipcRenderer', 'electron'].filter((name) => name in window),
      link: Object.entries(window.interlockLink ?? {}).map(([name, value]) => `${name}: ${typeof value}`),
      frozen: Object.isFrozen(window.interlockLink),
    }));
    expect(seen).toEqual({ globals: [], link: ['call: function', 'live: function'], frozen: true });
  });

  test('permissions are denied, but for copying', async () => {
    const states = await page.evaluate(async () => {
      const answer = async (name: string) => (await navigator.permissions.query({ name: name as PermissionName })).state;
      return {
        geolocation: await answer('geolocation'),
        notifications: await answer('notifications'),
        camera: await answer('camera'),
        midi: await answer('midi'),
      };
    });
    expect(states).toEqual({ geolocation: 'denied', notifications: 'denied', camera: 'denied', midi: 'denied' });
    const media = await page.evaluate(() =>
      navigator.mediaDevices.getUserMedia({ audio: true }).then(
        () => 'granted',
        (error: Error) => error.name,
      ),
    );
    expect(media).not.toBe('granted');
  });

  test('navigation, windows, frames and the network lead nowhere', async () => {
    const before = page.url();
    const outcome = await page.evaluate(async () => {
      const opened = ['http://127.0.0.1:9/', 'file:///etc/passwd', 'about:blank', 'interlock-ui://app/', 'data:text/html,x'].map(
        (url) => window.open(url) !== null,
      );
      const fetched = await Promise.all(
        [
          'http://127.0.0.1:9/',
          'https://example.com/',
          'file:///etc/passwd',
          'interlock-ui://evil/',
          'interlock-ui://app/../package.json',
          'interlock-ui://app/shell-manifest.json',
        ].map((url) =>
          fetch(url).then(
            (response) => response.status,
            () => 'failed',
          ),
        ),
      );
      return { opened, fetched };
    });
    expect(outcome).toEqual({ opened: [false, false, false, false, false], fetched: ['failed', 'failed', 'failed', 'failed', 404, 404] });
    const places = [
      'http://127.0.0.1:9/',
      'https://example.com/',
      'file:///etc/passwd',
      'data:text/html,hi',
      'javascript:document.title="hit"',
      'interlock-ui://evil/',
      'interlock-ui://app.evil/',
      'interlock-ui://app/assets/',
      'blob:null/1',
    ];
    for (const url of places) {
      await page.evaluate((target) => {
        const link = document.createElement('a');
        link.href = target;
        document.body.append(link);
        link.click();
        link.remove();
      }, url);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(page.url(), url).toBe(before);
    }
    // about:blank is entered without asking, and left again.
    await page.evaluate(() => {
      location.href = 'about:blank';
    });
    await until(() => page.url() === before, 'back home from about:blank');
    await page.waitForFunction(() => (document.querySelector('#app')?.textContent ?? '').length > 20);
    expect(app.windows().length).toBe(1);
    expect(await page.title()).not.toBe('hit');
  });

  test('a webview is no webview', async () => {
    await page.evaluate(() => {
      const element = document.createElement('webview');
      element.setAttribute('src', 'https://example.com/');
      document.body.append(element);
    });
    const count = await app.evaluate(({ webContents }) => webContents.getAllWebContents().length);
    expect(count).toBe(1);
    await page.evaluate(() => document.querySelector('webview')?.remove());
  });

  test('the renderer is sandboxed', async () => {
    const pid = await app.evaluate(({ webContents }) => webContents.getAllWebContents()[0]?.getOSProcessId() ?? 0);
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    expect([/^Seccomp:\s+(\d)/m.exec(status)?.[1], /^NoNewPrivs:\s+(\d)/m.exec(status)?.[1]]).toEqual(['2', '1']);
  });

  test('a page that crashes comes back, and the host never notices more than a new subscription', async () => {
    await until(() => quiet.subscribers.size === 1, 'one subscription');
    const [before] = quiet.subscribers;
    const pid = await app.evaluate(({ webContents }) => webContents.getAllWebContents()[0]?.getOSProcessId() ?? 0);
    process.kill(pid, 'SIGKILL');
    const renewed = () => app.evaluate(({ webContents }) => webContents.getAllWebContents()[0]?.getOSProcessId() ?? 0);
    await until(async () => ![0, pid].includes(await renewed()), 'a new renderer');
    await until(() => quiet.subscribers.size === 1 && !quiet.subscribers.has(before as LiveSubscriber), 'a new subscription');
  });

  test('the whole tour broke no policy and asked for nothing from outside', () => {
    expect(violations.filter((text) => !/webview|example\.com|127\.0\.0\.1:9|file:|evil|data:text|javascript:|blob:/.test(text))).toEqual(
      [],
    );
    expect(
      requests.filter(
        (url) => !/^(interlock-ui:\/\/app\/|data:image\/)/.test(url) && !/example\.com|127\.0\.0\.1:9|file:|evil|data:text|blob:/.test(url),
      ),
    ).toEqual([]);
  });

  test('no TCP port, and a second start hands over to the first', async () => {
    await app.close();
    const calls = quiet.subscribers.size;
    expect(calls).toBeLessThanOrEqual(1);
    const first = spawnWindow(place);
    await until(() => quiet.subscribers.size > 0, 'the page without a debugger');
    expect(listeners(processTree(first.pid ?? 0))).toEqual([]);
    const second = spawnWindow(place);
    const code = await new Promise((resolve) => second.once('exit', resolve));
    expect(code).toBe(0);
    expect(first.exitCode).toBeNull();
    first.kill('SIGTERM');
    await new Promise((resolve) => (first.exitCode === null && first.signalCode === null ? first.once('exit', resolve) : resolve(null)));
  });

  test('without a host the window starts one of its own, without any port, and it ends with the window', async () => {
    const alone = makePlace(display.display);
    giveAway(alone.home);
    const app2 = await launchWindow(alone);
    const page2 = await app2.firstWindow();
    const result = await page2.evaluate(() => window.interlockLink?.call('status', {}));
    expect(result).toMatchObject({ ok: true, value: { dataFolder: alone.dataFolder, readOnly: null } });
    const main = app2.process().pid ?? 0;
    const host = processTree(main).filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('headless.ts'));
    expect(host.length).toBe(1);
    expect(listeners(host)).toEqual([]);
    await app2.close();
    await until(() => !existsSync(`/proc/${host[0]}`) || / Z /.test(readFileSync(`/proc/${host[0]}/stat`, 'utf8')), 'the host’s end');
    rmSync(alone.home, { recursive: true, force: true });
  });
});
