/**
 * Nothing hostile is served, and every answer, good or bad, carries the headers. Then the sabotage twins: with a guard off, the attacks
 * that only it stops do get in; a guard whose loss nobody would notice is no guard.
 */
import path from 'node:path';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CONTENT_SECURITY_POLICY, CONTENT_TYPES, PAGE_HEADERS } from '../../../electron/doors/page-policy.ts';
import type { Shell, ShellFile } from '../../../electron/doors/shell.ts';
import { GUARDS, type Guard } from '../../../electron/doors/web/types.ts';
import { request, sendRaw, type RawAnswer } from '../../support/raw-http.ts';
import { ATTACKS, CROWD_ATTACKS, goodCall, GUESS_ATTACKS, SLOW_ATTACKS, SOCKET_ATTACKS, TOKEN_ATTACKS, type Attack } from './attacks.ts';
import { openDoor, SECRET_ANSWER, testShell, type Fixture } from './fixture.ts';

const ALL: readonly Attack[] = [...ATTACKS, ...TOKEN_ATTACKS, ...GUESS_ATTACKS, ...SOCKET_ATTACKS, ...CROWD_ATTACKS, ...SLOW_ATTACKS];

/** Names of the headers that an answer lacks (or has wrong). */
function lacking(answer: RawAnswer): string[] {
  if (answer.status === 0 || answer.status === 101) return [];
  const wrong = Object.entries(PAGE_HEADERS).filter(([name, value]) => answer.headers[name] !== value);
  const never = ['set-cookie', 'access-control-allow-origin', 'access-control-allow-credentials', 'server', 'x-powered-by'];
  return [...wrong.map(([name]) => name), ...never.filter((name) => name in answer.headers).map((name) => `${name}!`)];
}

async function runAll(at: Fixture, attacks: readonly Attack[]): Promise<{ served: string[]; bare: string[] }> {
  const served: string[] = [];
  const bare: string[] = [];
  for (const attack of attacks) {
    const result = await attack.run(at);
    if (result.served) served.push(attack.name);
    for (const answer of result.answers) {
      const names = lacking(answer);
      if (names.length > 0) bare.push(`${attack.name} (${answer.status}): ${names.join(', ')}`);
      if (answer.text.includes(at.token)) served.push(`${attack.name}: the token came back`);
    }
  }
  return { served, bare };
}

async function withDoor<T>(options: Parameters<typeof openDoor>[0], use: (at: Fixture) => Promise<T>): Promise<T> {
  const at = await openDoor(options);
  try {
    return await use(at);
  } finally {
    await at.close();
  }
}

describe.concurrent('the hostile suite', () => {
  test('has at least 200 requests', () => expect(ALL.length).toBeGreaterThanOrEqual(200));

  test('the operator’s own call is served', () =>
    withDoor({}, async (at) => {
      const answer = await sendRaw(at.port, goodCall(at));
      expect([answer.status, answer.body.includes(SECRET_ANSWER)]).toEqual([200, true]);
    }));

  test('no single request gets in', () => withDoor({}, async (at) => expect(await runAll(at, ATTACKS)).toEqual({ served: [], bare: [] })));

  test.each([
    ['without the token', TOKEN_ATTACKS],
    ['by guessing', GUESS_ATTACKS],
    ['through the socket', SOCKET_ATTACKS],
    ['in a crowd', CROWD_ATTACKS],
  ])('nobody gets in %s', (_name, attacks) =>
    withDoor({}, async (at) => expect(await runAll(at, attacks)).toEqual({ served: [], bare: [] })),
  );

  test.each(SLOW_ATTACKS.map((attack) => [attack.name, attack] as const))('%s is cut off', (_name, attack) =>
    withDoor({}, async (at) => expect((await attack.run(at)).served).toBe(false)),
  );

  test('guessing never locks the operator out', () =>
    withDoor({}, async (at) => {
      for (const attack of GUESS_ATTACKS) await attack.run(at);
      expect((await sendRaw(at.port, goodCall(at))).status).toBe(200);
    }));
});

describe.concurrent('sabotage twins: with its guard off, an attack gets in', () => {
  const quick = GUARDS.filter((guard) => !['headers', 'slow', 'target'].includes(guard));
  test.each(quick)('%s', async (guard) => {
    const attacks = ALL.filter((attack) => attack.guard === guard);
    expect(attacks.length).toBeGreaterThan(0);
    const { served } = await withDoor({ guardsOff: [guard] }, (at) => runAll(at, attacks));
    expect(served.length).toBeGreaterThan(0);
  });

  test.each(SLOW_ATTACKS.map((attack) => [attack.name, attack] as const))('slow: %s', (_name, attack) =>
    withDoor({ guardsOff: ['slow'] }, async (at) => expect((await attack.run(at)).served).toBe(true)),
  );

  test('headers', () =>
    withDoor({ guardsOff: ['headers'] }, async (at) => {
      const { bare } = await runAll(at, ATTACKS.slice(0, 10));
      expect(bare.length).toBe(10);
    }));

  /** What servers do who decode, normalise and join: the list of the build is what stands against it. */
  class JoiningShell extends Map<string, ShellFile> {
    override get(target: string): ShellFile | undefined {
      const joined = path.join(
        '/work-folder-that-is-not-there/assets',
        decodeURIComponent(target.replace(/^http:\/\/[^/]*/i, '').split(/[?#]/)[0] ?? ''),
      );
      const known =
        testShell.get(joined.slice(joined.indexOf('/assets/'))) ??
        (/^\/?$/.test(target.replace(/^http:\/\/[^/]*/i, '')) ? testShell.get('/') : undefined);
      if (known) return known;
      try {
        const bytes = readFileSync(joined);
        return { bytes, type: CONTENT_TYPES['.txt'] ?? '', etag: '"x"', immutable: false };
      } catch {
        return undefined;
      }
    }
  }
  const joining: Shell = new JoiningShell();

  test('shell: with a folder joined to the path, traversals get in', async () => {
    const attacks = ALL.filter((attack) => attack.guard === 'shell');
    const { served } = await withDoor({ shell: joining }, (at) => runAll(at, attacks));
    expect(served.length).toBeGreaterThan(0);
  });

  test('target', async () => {
    const attacks = ALL.filter((attack) => attack.guard === 'target');
    const careless = await withDoor({ shell: joining, guardsOff: ['target'] }, (at) => runAll(at, attacks));
    expect(careless.served.length).toBeGreaterThan(0);
    const careful = await withDoor({ shell: joining }, (at) => runAll(at, attacks));
    expect(careful.served).toEqual([]);
  });

  test('every guard has attacks of its own', () => {
    const named = new Set(ALL.map((attack) => attack.guard));
    const missing = GUARDS.filter((guard: Guard) => guard !== 'headers' && !named.has(guard));
    expect(missing).toEqual([]);
  });
});

describe('headers of each route', () => {
  let at: Fixture;
  beforeAll(async () => {
    at = await openDoor();
  });
  afterAll(() => at.close());
  const host = (): [string, string] => ['Host', `127.0.0.1:${at.port}`];
  const close: [string, string] = ['Connection', 'close'];
  const ROUTES: [string, () => string][] = [
    ['GET /', () => request('GET', '/', [host(), close])],
    ['HEAD /', () => request('HEAD', '/', [host(), close])],
    ['GET an asset', () => request('GET', '/assets/main-1a2b3c.js', [host(), close])],
    [
      'GET an asset again',
      () =>
        request('GET', '/assets/main-1a2b3c.js', [host(), close, ['If-None-Match', testShell.get('/assets/main-1a2b3c.js')?.etag ?? '']]),
    ],
    ['a call', () => goodCall(at)],
    [
      'a call without the token',
      () => request('POST', '/api/status', [host(), close, ['Content-Type', 'application/json'], ['Content-Length', '2']], '{}'),
    ],
    ['a call that does not exist', () => goodCall(at).replace('/api/status', '/api/nonsense')],
    ['a call with broken JSON', () => goodCall(at, [], '{"')],
    ['GET of a call', () => request('GET', '/api/status', [host(), close])],
    ['OPTIONS', () => request('OPTIONS', '/api/status', [host(), close])],
    ['an unknown path', () => request('GET', '/nowhere', [host(), close])],
    ['GET /live without upgrade', () => request('GET', '/live', [host(), close])],
    ['a foreign Host', () => request('GET', '/', [['Host', 'evil.test'], close])],
    ['a long header', () => request('GET', '/', [host(), ['X-Long', 'a'.repeat(9000)]])],
    ['a long body', () => goodCall(at, [], ' '.repeat(70_000))],
    ['no HTTP', () => 'hello\r\n\r\n'],
    ['Expect', () => request('POST', '/api/status', [host(), close, ['Expect', '100-continue'], ['Content-Length', '2']])],
    ['Expect something else', () => request('POST', '/api/status', [host(), close, ['Expect', 'x'], ['Content-Length', '2']])],
    ['CONNECT', () => request('CONNECT', 'evil.test:443', [host()])],
    [
      'a socket from elsewhere',
      () => request('GET', '/live', [host(), ['Origin', 'http://evil.test'], ['Connection', 'Upgrade'], ['Upgrade', 'websocket']]),
    ],
  ];

  test.each(ROUTES)('%s', async (_name, make) => {
    const answer = await sendRaw(at.port, make());
    expect(lacking(answer)).toEqual([]);
    const { date: _date, etag: _etag, 'content-length': _length, ...rest } = answer.headers;
    for (const name of Object.keys(PAGE_HEADERS)) delete rest[name];
    expect({ status: answer.status, headers: rest }).toMatchSnapshot();
  });

  test('the policy is the required one, word by word', () => {
    expect(CONTENT_SECURITY_POLICY).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; " +
        "form-action 'none'; frame-ancestors 'none'; object-src 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html",
    );
  });
});
