/** The web door’s good side: sessions, calls, the live feed and its back-pressure, ports, files. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { spawn, spawnSync } from 'node:child_process';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { WebSocket } from 'ws';
import { CALLS, type CallName } from '../../../electron/contract/api.ts';
import type { LiveMessage } from '../../../electron/contract/live.ts';
import { createShell, loadShell, MANIFEST_NAME } from '../../../electron/doors/shell.ts';
import { localTransport } from '../../../electron/doors/socket/local.ts';
import { addressesOf, parsePublicOrigin } from '../../../electron/doors/web/guards.ts';
import { BUFFER_MOST } from '../../../electron/doors/web/live.ts';
import { startWebDoor } from '../../../electron/doors/web/web-door.ts';
import { systemClock } from '../../../electron/host/clock.ts';
import { request, sendRaw } from '../../support/raw-http.ts';
import { writeShellManifest } from '../../../build/shell-manifest.mjs';
import { openDoor, SECRET_ANSWER, testShell, type Fixture } from './fixture.ts';

const doors: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(doors.splice(0).map((door) => door.close()));
});
async function open(options: Parameters<typeof openDoor>[0] = {}): Promise<Fixture> {
  const at = await openDoor(options);
  doors.push(at);
  return at;
}

function post(
  at: Fixture,
  target: string,
  body: unknown,
  token: string | null = at.token,
  origin = `127.0.0.1:${at.port}`,
): Promise<{ status: number; json: unknown }> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = { 'content-type': 'application/json', host: origin };
    if (token) headers['authorization'] = `Bearer ${token}`;
    const sent = http.request({ host: '127.0.0.1', port: at.port, path: target, method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) }));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}

/** Opens the live feed and collects what comes. */
function openLive(
  at: Fixture,
  first: unknown = { token: at.token },
): { socket: WebSocket; messages: LiveMessage[]; closed: Promise<number> } {
  const socket = new WebSocket(`ws://127.0.0.1:${at.port}/live`, { origin: `http://127.0.0.1:${at.port}` });
  const messages: LiveMessage[] = [];
  socket.on('open', () => socket.send(JSON.stringify(first)));
  socket.on('message', (data) => messages.push(JSON.parse(String(data)) as LiveMessage));
  socket.on('error', () => {});
  const closed = new Promise<number>((resolve) => socket.on('close', (code) => resolve(code)));
  return { socket, messages, closed };
}

async function until(condition: () => boolean, ms = 5000): Promise<void> {
  const from = systemClock.nowNs();
  while (!condition()) {
    if (systemClock.nowNs() - from > ms * 1e6) throw new Error('did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('sessions and calls', () => {
  test('a link’s code opens a session, whose token is good for calls', async () => {
    const at = await open();
    const link = at.door.makeLink();
    expect(link).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${at.port}/#code=[A-Za-z0-9_-]{43}$`));
    const opened = await post(at, '/session', { code: at.makeCode() }, null);
    expect(opened).toEqual({ status: 200, json: { ok: true, value: { token: at.token } } });
    expect(await post(at, '/api/status', {})).toEqual({ status: 200, json: { ok: true, value: { secret: SECRET_ANSWER } } });
  });

  test('bad input is told apart from an unknown call', async () => {
    const at = await open();
    expect(await post(at, '/api/show_run', { run: 7 })).toMatchObject({ status: 400, json: { ok: false, code: 'usage' } });
    expect(await post(at, '/api/nonsense', {})).toMatchObject({ status: 400, json: { ok: false, code: 'bad_request' } });
    expect(at.entered()).toBe(0);
  });

  test('the newest sixteen links work, older ones do not', async () => {
    const at = await open();
    const codes = Array.from({ length: 17 }, () => at.makeCode());
    expect((await post(at, '/session', { code: codes[0] }, null)).status).toBe(401);
    expect((await post(at, '/session', { code: codes[1] }, null)).status).toBe(200);
    expect((await post(at, '/session', { code: codes[16] }, null)).status).toBe(200);
  });

  test('a wrong code says what to do and not what was sent', async () => {
    const at = await open();
    const { json } = await post(at, '/session', { code: 'Z'.repeat(43) }, null);
    expect(json).toMatchObject({ ok: false, code: 'unauthorised', message: expect.stringContaining('npx interlock link') as string });
    expect(JSON.stringify(json)).not.toContain('ZZZ');
  });

  test('keep-alive serves many calls on one connection', async () => {
    const at = await open();
    const headers = [
      ['Host', `127.0.0.1:${at.port}`],
      ['Authorization', `Bearer ${at.token}`],
      ['Content-Type', 'application/json'],
      ['Content-Length', '2'],
    ] as const;
    const one = request('POST', '/api/status', headers, '{}');
    const answer = await sendRaw(at.port, one.repeat(50), { deadlineMs: 500 });
    expect(answer.text.split(SECRET_ANSWER).length - 1).toBe(50);
  });
});

test('any call gets the same answer here as through any other door', async () => {
  const at = await open();
  const other = localTransport(at.host);
  const names = fc.oneof(
    fc.constantFrom(...Object.keys(CALLS).filter((name) => name !== 'make_link')),
    fc.constantFrom('nonsense', 'constructor', 'status_'),
  );
  const inputs = fc.oneof(
    fc.constant({}),
    fc.record({ run: fc.oneof(fc.constant('last'), fc.string({ maxLength: 10 }), fc.integer()) }),
    fc.jsonValue({ maxDepth: 2 }),
  );
  await fc.assert(
    fc.asyncProperty(names, inputs, async (name, input) => {
      const text = JSON.stringify(input);
      fc.pre(!/__proto__|constructor|prototype/.test(text));
      const here = await post(at, `/api/${name}`, input);
      expect(here.json).toEqual(JSON.parse(JSON.stringify(await other.call(name as CallName, JSON.parse(text)))));
    }),
    { numRuns: 300 },
  );
});

describe('the live feed', () => {
  test('begins after the token and ends with the socket', async () => {
    const at = await open();
    const { socket, messages } = openLive(at);
    await until(() => messages.length === 2);
    expect(messages.map((message) => message.kind)).toEqual(['status', 'no_run']);
    expect(at.subscribers.size).toBe(1);
    socket.close();
    await until(() => at.subscribers.size === 0);
  });

  test('a wrong token closes with 4401 and says nothing', async () => {
    const at = await open();
    const { messages, closed } = openLive(at, { token: 'A'.repeat(43) });
    expect([await closed, messages]).toEqual([4401, []]);
  });

  test('a second message is one too many', async () => {
    const at = await open();
    const { socket, messages, closed } = openLive(at);
    await until(() => messages.length === 2);
    socket.send('{}');
    expect(await closed).toBe(4400);
  });

  test('a message of 100 KiB, or in 100 fragments, closes', async () => {
    const at = await open();
    const long = openLive(at, { token: 'A'.repeat(100 * 1024) });
    expect(await long.closed).toBe(1009);
    const pieces = new WebSocket(`ws://127.0.0.1:${at.port}/live`);
    const closed = new Promise<number>((resolve) => pieces.on('close', (code) => resolve(code)));
    pieces.on('error', () => {});
    pieces.on('open', () => {
      for (let index = 0; index < 100; index++) pieces.send('a', { fin: false });
    });
    expect(await closed).toBe(1008);
  });

  test('a reader that stops is told to skip, at a bounded cost, and gets the newest afterwards', async () => {
    const at = await open();
    const { socket, messages } = openLive(at);
    await until(() => messages.length === 2);
    const [subscriber] = at.subscribers;
    if (!subscriber) throw new Error('no subscriber');
    socket.pause();
    const filler = 'x'.repeat(64 * 1024);
    let taken = 0;
    let refused = 0;
    for (let index = 0; index < 2000; index++) {
      if (subscriber.send({ kind: 'no_run', filler, index } as unknown as LiveMessage)) taken += 1;
      else refused += 1;
      if (index % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(refused).toBeGreaterThan(1000);
    // What was taken is the limit, one message over it, and what the two kernels’ buffers hold.
    expect(taken * filler.length).toBeLessThan(4 * BUFFER_MOST);
    socket.resume();
    await until(() => subscriber.send({ kind: 'no_run', last: true } as unknown as LiveMessage));
    await until(() => messages.some((message) => 'last' in message));
    expect(messages.length).toBe(2 + taken + 1);
  });
});

describe('ports, addresses and files', () => {
  test('an explicit port that is taken is an error with a code', async () => {
    const at = await open();
    const second = startWebDoor({} as never, { port: at.port, clock: systemClock, shell: testShell, tokenFile: `${at.tokenFile}.2` });
    await expect(second).rejects.toMatchObject({ code: 'port_taken' });
    expect(existsSync(`${at.tokenFile}.2`)).toBe(false);
  });

  test('without one, two doors find two ports', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'interlock-ports-'));
    const options = (name: string) => ({ clock: systemClock, shell: testShell, tokenFile: path.join(folder, name) });
    const first = await startWebDoor({} as never, options('a'));
    const second = await startWebDoor({} as never, options('b'));
    doors.push(first, second);
    expect(second.port).not.toBe(first.port);
    expect(first.port).toBeGreaterThanOrEqual(9720);
  });

  test('listens on 127.0.0.1 and nowhere else', async () => {
    const at = await open();
    const hex = at.port.toString(16).toUpperCase().padStart(4, '0');
    const listening = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
      (existsSync(file) ? readFileSync(file, 'utf8') : '').split('\n').filter((line) => line.includes(`:${hex} `) && / 0A /.test(line)),
    );
    expect(listening.map((line) => line.trim().split(/\s+/)[1])).toEqual([`0100007F:${hex}`]);
  });

  test('a public origin adds exactly one Host and one Origin', async () => {
    expect([...addressesOf(9720, 'http://box.lan:8080')]).toEqual([
      ['127.0.0.1:9720', 'http://127.0.0.1:9720'],
      ['localhost:9720', 'http://localhost:9720'],
      ['[::1]:9720', 'http://[::1]:9720'],
      ['box.lan:8080', 'http://box.lan:8080'],
    ]);
    const at = await open({ publicOrigin: 'http://localhost:8080' });
    expect(at.door.makeLink()).toMatch(/^http:\/\/localhost:8080\/#code=/);
    expect((await post(at, '/api/status', {}, at.token, 'localhost:8080')).status).toBe(200);
    expect((await post(at, '/api/status', {}, at.token, 'localhost:8081')).status).toBe(403);
  });

  test.each(['http://x@h:1', 'http://h:1/path', 'http://h:1?x', 'ftp://h', 'h:1', '', 'javascript:alert(1)', 'http://h:1#x'])(
    '%s is no public origin',
    (text) => expect(parsePublicOrigin(text)).toBeNull(),
  );

  test('the token file is 0600 in a 0700 folder, new each start, and gone afterwards', async () => {
    const at = await openDoor();
    expect(statSync(at.tokenFile).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(at.tokenFile)).mode & 0o777).toBe(0o700);
    expect(Buffer.from(at.token, 'base64url').length).toBe(32);
    const other = await open();
    expect(other.token).not.toBe(at.token);
    await at.close();
    expect(existsSync(at.tokenFile)).toBe(false);
    expect(at.lines.join('\n')).not.toContain(at.token);
  });

  test.skipIf(process.getuid?.() !== 0)(
    'another user of the machine can connect, and gets neither the token nor anything else',
    async () => {
      const at = await open();
      const as = (args: string[]) =>
        spawnSync('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', ...args], { encoding: 'utf8' });
      expect(as(['cat', at.tokenFile])).toMatchObject({ stdout: '', status: 1 });
      const script = `fetch('http://127.0.0.1:${at.port}/api/status', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }).then((r) => console.log(r.status))`;
      // Not synchronous: the door answers from this very process.
      const child = spawn('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, '-e', script]);
      let text = '';
      child.stdout.on('data', (chunk) => (text += String(chunk)));
      await new Promise((resolve) => child.once('close', resolve));
      expect([text.trim(), at.entered()]).toEqual(['401', 0]);
    },
  );

  test('a file planted where the token goes is replaced, never followed or reused', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'interlock-plant-'));
    const tokenFile = path.join(folder, 'web.token');
    writeFileSync(tokenFile, 'planted');
    chmodSync(tokenFile, 0o666);
    const door = await startWebDoor({} as never, { port: 0, clock: systemClock, shell: testShell, tokenFile });
    doors.push(door);
    expect([statSync(tokenFile).mode & 0o777, readFileSync(tokenFile, 'utf8')]).not.toContain('planted');
    expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
  });
});

describe('the shell', () => {
  test('serves what the build listed, byte for byte, and refuses what was changed since', () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'interlock-shell-'));
    writeFileSync(path.join(folder, 'index.html'), '<!doctype html>');
    writeFileSync(path.join(folder, 'icon.svg'), '<svg/>');
    writeFileSync(path.join(folder, 'main.js.map'), '{}');
    expect(() => loadShell(folder)).toThrowError(expect.objectContaining({ code: 'folder_unusable' }) as Error);
    writeShellManifest(folder);
    expect([...loadShell(folder).keys()].sort()).toEqual(['/', '/icon.svg']);
    writeFileSync(path.join(folder, 'index.html'), '<!doctype html><script>');
    expect(() => loadShell(folder)).toThrowError(expect.objectContaining({ code: 'folder_unusable' }) as Error);
    writeFileSync(path.join(folder, MANIFEST_NAME), JSON.stringify({ files: [{ path: '../x.html', sha256: '0'.repeat(64), size: 1 }] }));
    expect(() => loadShell(folder)).toThrowError(expect.objectContaining({ code: 'folder_unusable' }) as Error);
    rmSync(folder, { recursive: true });
  });

  test('has nothing under names that every object has', () => {
    const shell = createShell([['index.html', Buffer.from('x')]]);
    expect(['/constructor', '__proto__', '/toString'].map((name) => shell.get(name))).toEqual([undefined, undefined, undefined]);
  });
});
