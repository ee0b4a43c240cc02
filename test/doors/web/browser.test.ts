/**
 * A real browser against the door: pages of other origins, and a name that an attacker rebinds to 127.0.0.1. Each attack is seen to work
 * where its guard is off. The operator’s own page works, and nothing it does breaks its own policy.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Guard } from '../../../electron/doors/web/types.ts';
import { findChromium, launchChromium, watchPage } from '../../support/chromium.ts';
import { createShell } from '../../../electron/doors/shell.ts';
import { openDoor, PAGE_MARK, SECRET_ANSWER, testShell, type Fixture } from './fixture.ts';

describe.skipIf(!findChromium())('in Chromium', () => {
  let browser: Browser;
  let attacker: http.Server;
  let attackerPort = 0;

  beforeAll(async () => {
    browser = await launchChromium(['--host-resolver-rules=MAP evil.test 127.0.0.1']);
    attacker = http.createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<!doctype html><title>attacker</title><body></body>');
    });
    await new Promise<void>((resolve) => attacker.listen(0, '127.0.0.1', resolve));
    attackerPort = (attacker.address() as AddressInfo).port;
  });
  afterAll(async () => {
    await browser.close();
    attacker.close();
  });

  async function withPage<T>(guardsOff: readonly Guard[], use: (page: Page, at: Fixture) => Promise<T>, shell = testShell): Promise<T> {
    const at = await openDoor({ guardsOff, shell });
    const context = await browser.newContext();
    try {
      return await use(await context.newPage(), at);
    } finally {
      await context.close();
      await at.close();
    }
  }

  /** What a page on `name` can get out of the door at `target`. */
  async function tryFromPage(page: Page, from: string, target: string, token: string): Promise<Record<string, string>> {
    await page.goto(from);
    return page.evaluate(
      async ([base, stolen]) => {
        const got: Record<string, string> = {};
        const text = (promise: Promise<string>) => promise.catch(() => 'failed');
        got['fetch'] = await text(fetch(`${base}/`).then((response) => response.text()));
        got['call'] = await text(
          fetch(`${base}/api/status`, {
            method: 'POST',
            body: '{}',
            headers: { 'content-type': 'application/json', authorization: `Bearer ${stolen}` },
          }).then((response) => response.text()),
        );
        got['plain'] = await text(
          fetch(`${base}/api/status`, { method: 'POST', body: '{}', mode: 'no-cors' }).then((response) => response.type),
        );
        got['socket'] = await new Promise((resolve) => {
          const socket = new WebSocket(`${base?.replace('http', 'ws')}/live`);
          let seen = '';
          socket.onopen = () => socket.send(JSON.stringify({ token: stolen }));
          socket.onmessage = (event) => {
            seen += String(event.data);
          };
          socket.onclose = () => resolve(seen || 'closed');
          setTimeout(() => resolve(seen || 'silent'), 1000);
        });
        got['frame'] = await new Promise((resolve) => {
          const frame = document.createElement('iframe');
          frame.src = `${base}/`;
          frame.onload = () => resolve(frame.contentDocument ? 'readable' : 'opaque');
          document.body.append(frame);
          setTimeout(() => resolve('nothing'), 1000);
        });
        return got;
      },
      [target, token] as const,
    );
  }

  test('a rebound name does not get the page', () =>
    withPage([], async (page, at) => {
      const response = await page.goto(`http://evil.test:${at.port}/`);
      expect([response?.status(), (await page.content()).includes(PAGE_MARK)]).toEqual([403, false]);
    }));

  test('… but does with the Host check off', () =>
    withPage(['host'], async (page, at) => {
      await page.goto(`http://evil.test:${at.port}/`);
      expect(await page.content()).toContain(PAGE_MARK);
    }));

  test.each([
    ['another port of this address', () => `http://127.0.0.1:${attackerPort}/`],
    ['another name of this address', () => `http://localhost:${attackerPort}/`],
    ['a foreign name', () => `http://evil.test:${attackerPort}/`],
  ])('a page on %s gets nothing, even with a stolen token', (_name, from) =>
    withPage([], async (page, at) => {
      const got = await tryFromPage(page, from(), `http://127.0.0.1:${at.port}`, at.token);
      expect(at.entered()).toBe(0);
      expect([got['fetch'], got['call'], got['socket']]).toEqual(['failed', 'failed', 'closed']);
      expect(JSON.stringify(got)).not.toMatch(new RegExp(`${PAGE_MARK}|${SECRET_ANSWER}|readable`));
    }),
  );

  test('… but its socket does with the Origin and Sec-Fetch-Site checks off', () =>
    withPage(['origin', 'fetch_site'], async (page, at) => {
      const got = await tryFromPage(page, `http://evil.test:${attackerPort}/`, `http://127.0.0.1:${at.port}`, at.token);
      expect(got['socket']).toContain(SECRET_ANSWER);
    }));

  test('a form and a link from elsewhere do nothing', () =>
    withPage([], async (page, at) => {
      await page.goto(`http://evil.test:${attackerPort}/`);
      await page.evaluate((base) => {
        const form = document.createElement('form');
        form.method = 'POST';
        form.enctype = 'text/plain';
        form.action = `${base}/api/prove`;
        const field = document.createElement('input');
        field.name = '{"count":1,"x":"';
        field.value = '"}';
        form.append(field);
        document.body.append(form);
        form.submit();
      }, `http://127.0.0.1:${at.port}`);
      await page.waitForURL(/api\/prove/);
      expect([at.entered(), (await page.content()).includes(SECRET_ANSWER)]).toEqual([0, false]);
    }));

  test('the operator’s own page runs, its session and feed work, and no cookie is ever set', () =>
    withPage([], async (page, at) => {
      const seen = watchPage(page);
      await page.goto(at.door.makeLink());
      await page.waitForFunction(() => document.body.dataset['ran'] === 'yes');
      const got = await page.evaluate(async () => {
        const code = location.hash.slice('#code='.length);
        const json = (target: string, body: unknown, token?: string) =>
          fetch(target, {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
            body: JSON.stringify(body),
          }).then((response) => response.json() as Promise<{ ok: boolean; value: { token: string; secret: string } }>);
        const { token } = (await json('/session', { code })).value;
        const again = await json('/session', { code });
        const first = await new Promise<string>((resolve) => {
          const socket = new WebSocket(`ws://${location.host}/live`);
          socket.onopen = () => socket.send(JSON.stringify({ token }));
          socket.onmessage = (event) => resolve(String(event.data));
          socket.onclose = () => resolve('closed');
        });
        return { secret: (await json('/api/status', {}, token)).value.secret, again: again.ok, first, cookie: document.cookie };
      });
      expect(got).toMatchObject({ secret: SECRET_ANSWER, again: false, cookie: '' });
      expect(got.first).toContain('"kind":"status"');
      expect(await page.context().cookies()).toEqual([]);
      expect(seen.errors.filter((text) => !text.includes('401'))).toEqual([]);
    }));

  test('planted script does not run under the page’s policy', async () => {
    const shell = createShell([
      [
        'index.html',
        Buffer.from('<!doctype html><link rel="icon" href="data:,"><script type="module" src="./assets/plant.js"></script><body></body>'),
      ],
      ['assets/plant.js', Buffer.from(`(${plant.toString()})(${JSON.stringify(PAYLOADS)})`)],
    ]);
    const look = (guardsOff: readonly Guard[]) =>
      withPage(
        guardsOff,
        async (page, at) => {
          await page.goto(`http://127.0.0.1:${at.port}/`);
          await page.waitForFunction(() => document.documentElement.dataset['found'] !== undefined);
          return JSON.parse((await page.evaluate(() => document.documentElement.dataset['found'])) ?? '') as string[];
        },
        shell,
      );
    expect(await look([])).toEqual([]);
    // Without the policy the same payloads do run: the test has teeth.
    expect(await look(['headers'])).toContain('a script ran');
  });
});

const PAYLOADS = [
  '<script>window.hit=1</script>', '<img src=x onerror="window.hit=1">', '<svg onload="window.hit=1">', '<a href="javascript:window.hit=1" id=a>x</a>',
  '<iframe srcdoc="<script>parent.hit=1</script>"></iframe>', '<iframe src="javascript:parent.hit=1"></iframe>', '<base href="http://evil.test/">',
  '<body onload="window.hit=1">', '<details open ontoggle="window.hit=1">', '<input autofocus onfocus="window.hit=1">', '<video><source onerror="window.hit=1"></video>',
  '<math><mtext><script>window.hit=1</script></mtext></math>', '<object data="javascript:window.hit=1">', '<embed src="javascript:window.hit=1">',
  '<style>@import "http://evil.test/x.css"</style>', '<link rel=stylesheet href="http://evil.test/x.css">', '<img src="http://evil.test/x.png">',
]; // prettier-ignore

/** Runs as the page’s own script (what a test’s evaluate does is exempt from the policy): tries each payload and notes what got through. */
async function plant(payloads: string[]): Promise<void> {
  const found: string[] = [];
  const attempt = (run: () => void) => {
    try {
      run();
    } catch {
      // refused
    }
  };
  for (const payload of payloads) {
    attempt(() => {
      document.body.innerHTML = payload;
      found.push(`markup accepted: ${payload}`);
    });
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  // oxlint-disable-next-line no-eval -- the attack itself
  attempt(() => (0, eval)('window.hit=1'));
  attempt(() => new Function('window.hit=1')());
  // oxlint-disable-next-line no-implied-eval -- the attack itself
  attempt(() => setTimeout('window.hit=1' as unknown as () => void, 0));
  attempt(() => {
    const script = document.createElement('script');
    script.textContent = 'window.hit=1';
    document.body.append(script);
  });
  attempt(() => {
    const remote = document.createElement('script');
    remote.src = 'data:text/javascript,window.hit=1';
    document.body.append(remote);
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  if ('hit' in window) found.push('a script ran');
  document.documentElement.dataset['found'] = JSON.stringify(found);
}
