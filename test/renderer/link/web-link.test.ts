import { beforeEach, describe, expect, test } from 'vitest';
import { createWebTransport, type WebSurroundings } from '../../../renderer/link/web-link.ts';

let sent: { url: string; init: RequestInit }[];
let kept: Map<string, string>;
let wiped: number;
let reply: (url: string) => Response;
let sockets: FakeSocket[];

class FakeSocket {
  sent: string[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  onerror: (() => void) | null = null;
  readonly url: string;
  constructor(url: string) {
    this.url = url;
    sockets.push(this);
  }
  send(text: string) {
    this.sent.push(text);
  }
  close() {
    this.onclose?.();
  }
}

const around = (hash: string): WebSurroundings => ({
  fetch: (async (url: string, init: RequestInit) => {
    sent.push({ url, init });
    return reply(url);
  }) as unknown as typeof fetch,
  openSocket: (url) => new FakeSocket(url) as unknown as WebSocket,
  store: {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  },
  location: { hash, host: '127.0.0.1:9720', protocol: 'http:' },
  wipeFragment: () => (wiped += 1),
});
const json = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });

beforeEach(() => {
  sent = [];
  kept = new Map();
  wiped = 0;
  sockets = [];
  reply = (url) => (url === '/session' ? json(200, { token: 't-1' }) : json(200, { ok: true, value: { runs: [], more: false } }));
});

describe('a browser tab', () => {
  test('wipes the code from the address before anything else, trades it once, and keeps the token in the tab', async () => {
    const transport = createWebTransport(around('#code=abc%20d'));
    expect(wiped).toBe(1);
    const answers = await Promise.all([transport.call('list_runs', {}), transport.call('list_runs', {})]);
    expect(answers[0]).toEqual({ ok: true, value: { runs: [], more: false } });
    expect(sent.filter((one) => one.url === '/session').map((one) => one.init.body)).toEqual(['{"code":"abc d"}']);
    expect(kept.get('interlock.token')).toBe('t-1');
    expect(new Headers(sent.at(-1)!.init.headers).get('authorization')).toBe('Bearer t-1');
  });

  test('a spent link with a session still kept goes on with the session; without one it is unauthorised', async () => {
    reply = (url) =>
      url === '/session' ? json(401, { ok: false, code: 'unauthorised', message: 'spent' }) : json(200, { ok: true, value: 1 });
    expect(await createWebTransport(around('#code=old')).call('status', {})).toMatchObject({ ok: false, code: 'unauthorised' });
    kept.set('interlock.token', 't-0');
    expect(await createWebTransport(around('#code=old')).call('status', {})).toEqual({ ok: true, value: 1 });
  });

  test('no code and no token: unauthorised, and nothing is sent', async () => {
    expect(await createWebTransport(around('#/runs')).call('status', {})).toMatchObject({ ok: false, code: 'unauthorised' });
    expect(sent).toEqual([]);
    expect(wiped).toBe(0);
  });

  test('a host that does not answer, a 401, and an answer that is no result', async () => {
    kept.set('interlock.token', 't');
    const transport = createWebTransport(around(''));
    reply = () => {
      throw new TypeError('Failed to fetch');
    };
    expect(await transport.call('status', {})).toMatchObject({ code: 'no_host' });
    reply = () => json(401, {});
    expect(await transport.call('status', {})).toMatchObject({ code: 'unauthorised' });
    reply = () => new Response('<html>', { status: 502 });
    expect(await transport.call('status', {})).toMatchObject({ code: 'bad_request' });
    reply = () => json(200, { ok: false, code: 'made_up', message: '' });
    expect(await transport.call('status', {})).toMatchObject({ code: 'bad_request' });
  });

  test('the live socket says the token first and closes once', async () => {
    kept.set('interlock.token', 't');
    const got: unknown[] = [];
    let closed = 0;
    createWebTransport(around('')).live(
      (message) => got.push(message),
      () => (closed += 1),
    );
    await new Promise((resolve) => setTimeout(resolve, 0));
    const [socket] = sockets;
    expect(socket!.url).toBe('ws://127.0.0.1:9720/live');
    socket!.onopen!();
    expect(socket!.sent).toEqual(['{"token":"t"}']);
    socket!.onmessage!({ data: '{"kind":"no_run"}' });
    socket!.onerror!();
    socket!.onclose!();
    expect([got, closed]).toEqual([[{ kind: 'no_run' }], 1]);
  });

  test('left before the socket was there: none is opened', async () => {
    kept.set('interlock.token', 't');
    createWebTransport(around('')).live(
      () => {},
      () => {},
    )();
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(sockets).toEqual([]);
  });
});
