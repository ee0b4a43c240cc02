/**
 * The hostile suite as data: each attack is the operator's own good request with exactly one thing wrong, so exactly one guard stands
 * between it and the host. An attack says whether it got what it wanted; hostile.test.ts wants none to, and the sabotage twins want every
 * one to once its guard is off.
 *
 * Long because it is a table: the spellings and their attacks are read side by side.
 */
import net from 'node:net';
import type { Guard } from '../../../electron/doors/web/types.ts';
import { request, sendRaw, type RawAnswer } from '../../support/raw-http.ts';
import { PAGE_MARK, SECRET_ANSWER, type Fixture } from './fixture.ts';

export interface Attack {
  name: string;
  /** The guard that stops it, or `shell` where the build's list does. */
  guard: Guard | 'shell';
  run(at: Fixture): Promise<{ served: boolean; answers: RawAnswer[] }>;
}

type Headers = (readonly [string, string])[];
type Make = (at: Fixture) => string | readonly string[];

const WS_HEADERS: Headers = [
  ['Connection', 'Upgrade'],
  ['Upgrade', 'websocket'],
  ['Sec-WebSocket-Version', '13'],
  ['Sec-WebSocket-Key', 'AAAAAAAAAAAAAAAAAAAAAA=='],
];

const hostOf = (at: Fixture): [string, string] => ['Host', `127.0.0.1:${at.port}`];
const bearer = (at: Fixture): [string, string] => ['Authorization', `Bearer ${at.token}`];
const CLOSE: [string, string] = ['Connection', 'close'];

/** The operator's good call, with headers to add and one to leave out. */
export function goodCall(at: Fixture, extra: Headers = [], body = '{}', type: string | null = 'application/json', method = 'POST'): string {
  const headers: Headers = [hostOf(at), bearer(at), CLOSE, ...(type === null ? [] : [['Content-Type', type] as const])];
  return request(method, '/api/status', [...headers, ...extra, ['Content-Length', String(Buffer.byteLength(body))]], body);
}

const gotIn = (answer: RawAnswer) =>
  (answer.status >= 200 && answer.status < 400) ||
  answer.status === 101 ||
  answer.text.includes(SECRET_ANSWER) ||
  answer.text.includes(PAGE_MARK);

function attack(name: string, guard: Attack['guard'], make: Make, options: { deadlineMs?: number; everyMs?: number } = {}): Attack {
  return {
    name,
    guard,
    async run(at) {
      const before = at.entered();
      const answer = await sendRaw(at.port, make(at), options);
      return { served: gotIn(answer) || at.entered() !== before, answers: [answer] };
    },
  };
}

// ---- Host: spellings that are not ours, `PORT` stands for the real one -------------------------------------------------------------
const HOSTS = [
  'evil.test', 'evil.test:PORT', 'evil.test:80', '127.0.0.1', '127.0.0.1:', '127.0.0.1:80', '127.0.0.1:0', '127.0.0.1:PORT.', '127.0.0.1.:PORT',
  'localhost', 'localhost:', 'localhost:80', 'localhost.:PORT', 'LOCALHOST:PORT', 'LocalHost:PORT', 'localhost:PORT:PORT', '[::1]', '[::1]:80',
  '::1:PORT', '[::]:PORT', '[0:0:0:0:0:0:0:1]:PORT', '[::ffff:127.0.0.1]:PORT', '[::1%25lo]:PORT', '0.0.0.0:PORT', '0:PORT', '127.1:PORT', '127.0.1:PORT',
  '127.0.0.2:PORT', '127.000.000.001:PORT', '0177.0.0.1:PORT', '0x7f.0.0.1:PORT', '0x7f000001:PORT', '2130706433:PORT', '127.0.0.1:0PORT',
  '127.0.0.1:+PORT', '127.0.0.1: PORT', '127.0.0.1 :PORT', '127.0.0.1:PORT/', '127.0.0.1:PORT#', '127.0.0.1:PORT?', 'x@127.0.0.1:PORT',
  '127.0.0.1:PORT@evil.test', 'evil.test#127.0.0.1:PORT', '127.0.0.1:PORT,evil.test', 'evil.test,127.0.0.1:PORT', '127.0.0.1:PORT evil.test',
  'http://127.0.0.1:PORT', '//127.0.0.1:PORT', 'localhost.evil.test:PORT', '127.0.0.1.evil.test:PORT', '127.0.0.1.nip.io:PORT', 'localhost.localdomain:PORT',
  'ip6-localhost:PORT', '*', '*:PORT', '.', 'null', 'undefined', '10.0.0.1:PORT', '192.168.0.1:PORT', '169.254.169.254', 'xn--lcalhost-54a:PORT', '', '%6cocalhost:PORT',
]; // prettier-ignore

const hostAttacks: Attack[] = HOSTS.flatMap((spelling) => {
  const host = (at: Fixture) => spelling.replaceAll('PORT', String(at.port));
  return [
    attack(`page, Host: ${spelling}`, 'host', (at) => request('GET', '/', [['Host', host(at)], CLOSE])),
    attack(`call, Host: ${spelling}`, 'host', (at) =>
      request(
        'POST',
        '/api/status',
        [['Host', host(at)], bearer(at), CLOSE, ['Content-Type', 'application/json'], ['Content-Length', '2']],
        '{}',
      ),
    ),
  ];
});

const hostCountAttacks: Attack[] = [
  attack('no Host at all', 'host', () => request('GET', '/', [CLOSE])),
  attack('HTTP/1.0 without Host', 'host', () => 'GET / HTTP/1.0\r\n\r\n'),
  attack('Host twice, ours first', 'host', (at) => request('GET', '/', [hostOf(at), ['Host', 'evil.test'], CLOSE])),
  attack('Host twice, ours last', 'host', (at) => request('GET', '/', [['Host', 'evil.test'], hostOf(at), CLOSE])),
  attack('Host twice, both ours', 'host', (at) => request('GET', '/', [hostOf(at), hostOf(at), CLOSE])),
  attack('socket, foreign Host', 'host', (at) => request('GET', '/live', [['Host', `evil.test:${at.port}`], ...WS_HEADERS])),
];

// ---- Origin ------------------------------------------------------------------------------------------------------------------------
const ORIGINS = [
  'null', 'http://evil.test', 'http://evil.test:PORT', 'https://127.0.0.1:PORT', 'https://localhost:PORT', 'http://127.0.0.1', 'http://127.0.0.1:80',
  'http://localhost', 'http://localhost:PORT', 'http://[::1]:PORT', 'http://127.0.0.2:PORT', 'http://127.1:PORT', 'http://0.0.0.0:PORT', 'http://2130706433:PORT',
  'http://127.0.0.1:PORT/', 'http://127.0.0.1:PORT.evil.test', 'http://127.0.0.1:PORT@evil.test', 'http://x@127.0.0.1:PORT', 'http://127.0.0.1.evil.test:PORT',
  'HTTP://127.0.0.1:PORT', 'http://127.0.0.1:0PORT', '127.0.0.1:PORT', '//127.0.0.1:PORT', 'file://', 'chrome-extension://abcdefghijklmnop', 'data:', 'about:blank',
  'http://127.0.0.1:PORT http://evil.test', 'http://evil.test, http://127.0.0.1:PORT', 'ws://127.0.0.1:PORT', 'interlock-ui://app', 'http://192.168.0.1:PORT', '*',
]; // prettier-ignore

const originAttacks: Attack[] = ORIGINS.flatMap((spelling) => {
  const origin = (at: Fixture): [string, string] => ['Origin', spelling.replaceAll('PORT', String(at.port))];
  return [
    attack(`call, Origin: ${spelling}`, 'origin', (at) => goodCall(at, [origin(at)])),
    attack(`page, Origin: ${spelling}`, 'origin', (at) => request('GET', '/', [hostOf(at), origin(at), CLOSE])),
    attack(`socket, Origin: ${spelling}`, 'origin', (at) => request('GET', '/live', [hostOf(at), origin(at), ...WS_HEADERS]), {
      deadlineMs: 150,
    }),
  ];
});

const twice: Attack = attack('Origin twice, ours first', 'origin', (at) =>
  goodCall(at, [
    ['Origin', `http://127.0.0.1:${at.port}`],
    ['Origin', 'http://evil.test'],
  ]),
);

// ---- Sec-Fetch-Site ----------------------------------------------------------------------------------------------------------------
const fetchSiteAttacks: Attack[] = ['cross-site', 'same-site', 'none', 'SAME-ORIGIN', '', 'same-origin, cross-site'].flatMap((site) => [
  attack(`call, Sec-Fetch-Site: ${site}`, 'fetch_site', (at) => goodCall(at, [['Sec-Fetch-Site', site]])),
  ...(site === 'none'
    ? []
    : [
        attack(`page, Sec-Fetch-Site: ${site}`, 'fetch_site' as const, (at) =>
          request('GET', '/', [hostOf(at), ['Sec-Fetch-Site', site], CLOSE]),
        ),
      ]),
  attack(
    `socket, Sec-Fetch-Site: ${site}`,
    'fetch_site',
    (at) => request('GET', '/live', [hostOf(at), ['Sec-Fetch-Site', site], ...WS_HEADERS]),
    { deadlineMs: 150 },
  ),
]);

// ---- token -------------------------------------------------------------------------------------------------------------------------
const TOKENS: ((at: Fixture) => Headers)[] = [
  () => [],
  () => [['Authorization', 'Bearer ']],
  () => [['Authorization', `Bearer ${'A'.repeat(43)}`]],
  (at) => [['Authorization', at.token]],
  (at) => [['Authorization', `Basic ${Buffer.from(`interlock:${at.token}`).toString('base64')}`]],
  (at) => [['Authorization', `bearer${at.token}`]],
  (at) => [['Authorization', `Bearer ${at.token.slice(0, -1)}`]],
  (at) => [['Authorization', `Bearer ${at.token}A`]],
  (at) => [['Authorization', `Bearer ${at.token.toUpperCase()}`]],
  (at) => [['Cookie', `token=${at.token}`]],
  (at) => [['X-Token', at.token]],
];
const tokenAttacks: Attack[] = TOKENS.map((headers, index) =>
  attack(`call without the token, form ${index}`, 'token', (at) =>
    request(
      'POST',
      '/api/status',
      [hostOf(at), CLOSE, ['Content-Type', 'application/json'], ...headers(at), ['Content-Length', '2']],
      '{}',
    ),
  ),
);

// ---- method and content type -------------------------------------------------------------------------------------------------------
const methodAttacks: Attack[] = [
  ...['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY', 'MKCOL', 'PURGE'].map((method) =>
    attack(`${method} of a call`, 'method', (at) =>
      goodCall(at, [], method === 'GET' || method === 'HEAD' ? '' : '{}', 'application/json', method),
    ),
  ),
  ...['POST', 'PUT', 'DELETE', 'PATCH'].map((method) =>
    attack(`${method} of the page`, 'method', (at) => request(method, '/', [hostOf(at), CLOSE, ['Content-Length', '0']])),
  ),
];

const FORMS: [string, string][] = [
  ['application/x-www-form-urlencoded', '{"a":"b"}='],
  ['application/x-www-form-urlencoded', '{}'],
  ['text/plain', '{}'],
  ['text/plain;charset=utf-8', '{}'],
  ['multipart/form-data; boundary=x', '{}'],
  ['application/json, text/plain', '{}'],
  ['text/plain; application/json', '{}'],
  ['application/jsonp', '{}'],
  ['application/json; charset=utf-16', '{}'],
  ['application/json; boundary=x', '{}'],
  ['application/ld+json', '{}'],
  ['text/json', '{}'],
  ['application/csp-report', '{}'],
  ['', '{}'],
];
const jsonAttacks: Attack[] = [
  ...FORMS.filter(([, body]) => body === '{}').map(([type, body]) =>
    attack(`call as ${type || 'nothing'}`, 'json', (at) => goodCall(at, [], body, type)),
  ),
  attack('call without a content type', 'json', (at) => goodCall(at, [], '{}', null)),
  attack('call with a content encoding', 'json', (at) => goodCall(at, [['Content-Encoding', 'identity']])),
];

// ---- sizes -------------------------------------------------------------------------------------------------------------------------
const sizeAttacks: Attack[] = [
  attack('one header of 16 KiB', 'size', (at) => goodCall(at, [['X-Long', 'a'.repeat(16 * 1024)]])),
  attack('headers of 16 KiB in all', 'size', (at) =>
    goodCall(
      at,
      Array.from({ length: 100 }, (_, index) => [`X-${index}`, 'a'.repeat(160)] as const),
    ),
  ),
  attack('body of 100 KiB', 'size', (at) => goodCall(at, [], `{}${' '.repeat(100 * 1024)}`)),
  attack('piece of an import of 1 MiB', 'size', (at) =>
    goodCall(at, [], `{}${' '.repeat(2 ** 20)}`).replace('/api/status', '/api/import_piece'),
  ),
  attack('body of 100 KiB in chunks', 'size', (at) => {
    const chunks = Array.from({ length: 100 }, () => `400\r\n${' '.repeat(1024)}\r\n`).join('');
    return request(
      'POST',
      '/api/status',
      [hostOf(at), bearer(at), CLOSE, ['Content-Type', 'application/json'], ['Transfer-Encoding', 'chunked']],
      `2\r\n{}\r\n${chunks}0\r\n\r\n`,
    );
  }),
  attack('page asked for with a body', 'size', (at) => request('GET', '/', [hostOf(at), CLOSE, ['Content-Length', '2']], '{}')),
];

// ---- paths: nothing but the listed files is there ----------------------------------------------------------------------------------
const STEPS = [
  '../',
  '..%2f',
  '%2e%2e/',
  '%2e%2e%2f',
  '.%2e/',
  '%252e%252e%252f',
  '..%5c',
  '..\\',
  '..%c0%af',
  '..;/',
  '.../',
  '..%00/',
  '//../',
  './../',
  '%u002e%u002e/',
];
const GOALS = ['package.json', 'etc/passwd', 'electron/doors/web/web-door.ts', 'run/web.token', 'assets/main-1a2b3c.js'];
export const TRAVERSALS: readonly string[] = [
  ...STEPS.flatMap((step) => GOALS.flatMap((goal) => [1, 3, 8].map((times) => `/${step.repeat(times)}${goal}`))),
  ...STEPS.flatMap((step) => GOALS.flatMap((goal) => [1, 3].map((times) => `/assets/${step.repeat(times)}${goal}`))),
  '/assets/', '/assets', '/assets/.', '/assets/..', '/assets/main-1a2b3c.js/', '/assets/main-1a2b3c.js.', '/assets/main-1a2b3c.js%00', '/assets/main-1a2b3c.js%20',
  '/assets/main-1a2b3c.js?x', '/assets/main-1a2b3c.js#x', '/assets/MAIN-1a2b3c.js', '//assets/main-1a2b3c.js', '/./assets/main-1a2b3c.js', '/assets//main-1a2b3c.js',
  '/index.html', '/shell-manifest.json', '/?', '/#', '//', '/./', '/%2f', '/C:/Windows/win.ini', '/\\\\host\\share', '/.git/config', '/proc/self/environ', `/${'a'.repeat(4000)}`,
  '/constructor', '/__proto__', '/toString', '/api/constructor', '/api/__proto__', '/api/status/', '/api//status', '/api/Status', '/api/make_link', '/session/', '/live/',
]; // prettier-ignore

const pathAttacks: Attack[] = [
  ...TRAVERSALS.map((target) => attack(`GET ${target.slice(0, 60)}`, 'shell', (at) => request('GET', target, [hostOf(at), CLOSE]))),
  ...[
    'http://127.0.0.1:PORT/',
    'http://evil.test/',
    '//evil.test/',
    '*',
    '127.0.0.1:PORT',
    'HTTP://127.0.0.1:PORT/assets/main-1a2b3c.js',
    'assets/main-1a2b3c.js',
    '',
  ].map((target) =>
    attack(`target ${target}`, 'target', (at) => request('GET', target.replaceAll('PORT', String(at.port)), [hostOf(at), CLOSE])),
  ),
  attack('CONNECT', 'method', (at) => request('CONNECT', `127.0.0.1:${at.port}`, [hostOf(at)])),
  attack('OPTIONS of a call (preflight)', 'method', (at) =>
    request('OPTIONS', '/api/prove', [hostOf(at), ['Access-Control-Request-Method', 'POST'], CLOSE]),
  ),
  attack('OPTIONS *', 'target', (at) => request('OPTIONS', '*', [hostOf(at), CLOSE])),
  attack('make_link with the token', 'shell', (at) =>
    request('POST', '/api/make_link', [hostOf(at), bearer(at), CLOSE, ['Content-Type', 'application/json'], ['Content-Length', '2']], '{}'),
  ),
  attack('request smuggled behind a length', 'shell', (at) =>
    request('POST', '/nowhere', [hostOf(at), ['Content-Length', '2'], ['Transfer-Encoding', 'chunked']], `0\r\n\r\n${goodCall(at)}`),
  ),
];

// ---- secrets that are used twice, late, or often -----------------------------------------------------------------------------------
const session = (at: Fixture, code: string, extra: Headers = []) => {
  const body = JSON.stringify({ code });
  return request(
    'POST',
    '/session',
    [hostOf(at), CLOSE, ['Content-Type', 'application/json'], ...extra, ['Content-Length', String(body.length)]],
    body,
  );
};

/** Sends the same kind of wrong secret until it is refused for good; served if it never is. */
const guessing = (name: string, make: (at: Fixture) => string): Attack => ({
  name,
  guard: 'rate',
  async run(at) {
    const answers: RawAnswer[] = [];
    for (let index = 0; index < 40; index++) answers.push(await sendRaw(at.port, make(at)));
    return { served: !answers.some((answer) => answer.status === 429), answers };
  },
});

const secretAttacks: Attack[] = [
  {
    name: 'a code for the second time',
    guard: 'code',
    async run(at) {
      const code = at.makeCode();
      const first = await sendRaw(at.port, session(at, code));
      if (!first.text.includes(at.token)) throw new Error('the first use of a code must work');
      const second = await sendRaw(at.port, session(at, code));
      return { served: gotIn(second), answers: [second] };
    },
  },
  {
    name: 'a code after a minute',
    guard: 'code',
    async run(at) {
      const code = at.makeCode();
      at.advance(60_001);
      const answer = await sendRaw(at.port, session(at, code));
      return { served: gotIn(answer), answers: [answer] };
    },
  },
];
const guessAttacks: Attack[] = [
  guessing('guessing codes', (at) => session(at, 'A'.repeat(43))),
  guessing('guessing tokens', (at) =>
    request(
      'POST',
      '/api/status',
      [hostOf(at), CLOSE, ['Authorization', `Bearer ${'B'.repeat(43)}`], ['Content-Type', 'application/json'], ['Content-Length', '2']],
      '{}',
    ),
  ),
];
const otherCodeAttacks: Attack[] = ['', 'x', 'A'.repeat(43), 'A'.repeat(10_000), '../../etc/passwd', '\u0000'].map((code) =>
  attack(`code ${JSON.stringify(code.slice(0, 20))}`, 'shell', (at) => session(at, code)),
);

// ---- sockets -----------------------------------------------------------------------------------------------------------------------
/** A client's text frame, masked with zeros. */
export const frame = (text: string): string => {
  const length = Buffer.byteLength(text);
  const head = length < 126 ? [0x81, 0x80 | length] : [0x81, 0x80 | 126, length >> 8, length & 255];
  return Buffer.from([...head, 0, 0, 0, 0]).toString('latin1') + text;
};
const upgrade = (at: Fixture, target = '/live', extra: Headers = []) => request('GET', target, [hostOf(at), ...WS_HEADERS, ...extra]);

/** Served only if data came: the handshake alone gives nothing away. */
const socketAttack = (name: string, guard: Attack['guard'], make: Make, deadlineMs = 2600): Attack => ({
  name,
  guard,
  async run(at) {
    const before = at.entered();
    const answer = await sendRaw(at.port, make(at), { deadlineMs, everyMs: 50 });
    return { served: at.entered() !== before || answer.text.includes(SECRET_ANSWER) || !answer.ended, answers: [answer] };
  },
});

const socketAttacks: Attack[] = [
  socketAttack('socket that never says its token', 'live_token', (at) => upgrade(at), 4500),
  socketAttack('socket with a wrong token', 'live_token', (at) => [upgrade(at), frame(JSON.stringify({ token: 'A'.repeat(43) }))]),
  socketAttack('socket with no object', 'live_token', (at) => [upgrade(at), frame('null')]),
  socketAttack('socket with a broken message', 'live_token', (at) => [upgrade(at), frame('{"token":')]),
  socketAttack('socket with the token in a header', 'live_token', (at) => [upgrade(at, '/live', [bearer(at)]), frame('{}')]),
];
const socketPathAttacks: Attack[] = [
  attack('socket with the token in its address', 'shell', (at) => upgrade(at, `/live?token=${at.token}`), { deadlineMs: 150 }),
  attack('socket under another path', 'shell', (at) => upgrade(at, '/api/status'), { deadlineMs: 150 }),
  attack(
    'upgrade to something else',
    'shell',
    (at) => request('GET', '/live', [hostOf(at), ['Connection', 'Upgrade'], ['Upgrade', 'h2c']]),
    { deadlineMs: 150 },
  ),
];

// ---- slowness and crowds (seconds each; run side by side) --------------------------------------------------------------------------
/** Served if the door is still listening to it after the time that a good client would need tenfold. */
const slowAttack = (name: string, make: Make, deadlineMs: number): Attack => ({
  name,
  guard: 'slow',
  async run(at) {
    const answer = await sendRaw(at.port, make(at), { deadlineMs, everyMs: 400 });
    return { served: !answer.ended, answers: [] };
  },
});

export const SLOW_ATTACKS: readonly Attack[] = [
  slowAttack('a connection that says nothing', () => [], 8000),
  slowAttack(
    'a header a byte at a time',
    (at) => ['GET / HTTP/1.1\r\n', `Host: 127.0.0.1:${at.port}\r\n`, ...Array.from({ length: 60 }, (_, index) => `X-${index}: a\r\n`)],
    8000,
  ),
  slowAttack(
    'a body a byte at a time',
    (at) => [
      request('POST', '/api/status', [hostOf(at), bearer(at), ['Content-Type', 'application/json'], ['Content-Length', '1000']]),
      ...Array.from({ length: 100 }, () => ' '),
    ],
    13_000,
  ),
];

export const CROWD_ATTACKS: readonly Attack[] = [
  {
    name: '60 connections at once',
    guard: 'connections',
    async run(at) {
      const sockets = await Promise.all(Array.from({ length: 60 }, () => connect(at.port)));
      await new Promise((resolve) => setTimeout(resolve, 200));
      const open = sockets.filter((socket) => !socket.destroyed && socket.readyState === 'open').length;
      sockets.forEach((socket) => socket.destroy());
      return { served: open > 32, answers: [] };
    },
  },
  {
    name: '20 sockets at once',
    guard: 'connections',
    async run(at) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => sendRaw(at.port, upgrade(at), { deadlineMs: 700 })));
      return { served: answers.filter((answer) => answer.status === 101).length > 8, answers };
    },
  },
];

function connect(port: number): Promise<net.Socket> {
  return new Promise((resolve) => {
    const socket = net.connect({ host: '127.0.0.1', port });
    socket.on('error', () => {});
    socket.on('end', () => socket.destroy());
    socket.on('connect', () => resolve(socket));
    socket.on('close', () => resolve(socket));
  });
}

/** One request each, quick: run one after another. */
export const ATTACKS: readonly Attack[] = [
  ...hostAttacks, ...hostCountAttacks, ...originAttacks, twice, ...fetchSiteAttacks, ...methodAttacks, ...jsonAttacks, ...sizeAttacks, ...pathAttacks,
  ...otherCodeAttacks, ...socketPathAttacks, ...secretAttacks,
]; // prettier-ignore

/** These use up the ration of wrong tries, so each wants a door of its own. */
export const TOKEN_ATTACKS: readonly Attack[] = tokenAttacks;
export const GUESS_ATTACKS: readonly Attack[] = guessAttacks;
export const SOCKET_ATTACKS: readonly Attack[] = socketAttacks;
