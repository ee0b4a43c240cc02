/**
 * The loopback door: the page, its calls and its live feed over HTTP and WebSocket on 127.0.0.1, nowhere else. It owns the server, its
 * limits and its routes; guards.ts says who may ask, secrets.ts who has proved it, and the router (shared by all doors) does the rest.
 *
 *   GET  /, /assets/…   the static shell, from the build's list          no token
 *   POST /session       {code} → {token}                                 a link's code, once
 *   POST /api/<call>    JSON in, Result out                              Authorization: Bearer
 *   GET  /live          WebSocket                                        token as first message
 */
import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import * as v from 'valibot';
import type { CallName, Host } from '../../contract/api.ts';
import { InterlockError, toFailure } from '../../contract/errors.ts';
import { PIECE_BYTES } from '../../contract/transfer.ts';
import { decodeRequest, encodeResult, route } from '../router.ts';
import { Answers, statusOf } from './answers.ts';
import {
  addressesOf,
  announcesBody,
  judgeJson,
  judgeMethod,
  judgeOrigin,
  judgeUpgrade,
  parsePublicOrigin,
  readBearer,
  type Addresses,
  type Refusal,
  type RequestHead,
} from './guards.ts';
import { LiveSockets } from './live.ts';
import { Ration, Secrets, writeSecretFile } from './secrets.ts';
import { DEFAULT_PORT, type Guard, type WebDoor, type WebDoorOptions } from './types.ts';

const HEADER_MOST = 8 * 2 ** 10;
const BODY_MOST = 64 * 2 ** 10;
/** A piece of an import in base64, and its names. Nobody without the token has a body read at all. */
const PIECE_BODY_MOST = Math.ceil(PIECE_BYTES / 3) * 4 + 1024;
const HEADER_MS = 5000;
const REQUEST_MS = 10_000;
const IDLE_MS = 5000;
/** An answer that nobody reads is given up after this long without progress. */
const STALLED_MS = 60_000;
const CONNECTIONS_MOST = 32;
const PORTS_TRIED = 20;
const WRONG_TRIES_MOST = 20;
const WRONG_TRIES_PER_SECOND = 2;
/** Answered by the socket door alone: a page cannot make itself links. */
const REFUSED_CALLS: ReadonlySet<CallName> = new Set(['make_link']);

const SessionSchema = v.strictObject({ code: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{16,128}$/)) });

const headOf = (request: IncomingMessage): RequestHead => ({
  method: request.method ?? '',
  target: request.url ?? '',
  rawHeaders: request.rawHeaders,
});

/** Opens the door. Fails with `port_taken` if a certain port was asked for and somebody has it. */
export async function startWebDoor(host: Host, options: WebDoorOptions): Promise<WebDoor> {
  const door = new Door(host, options);
  try {
    await door.open();
  } catch (error) {
    await door.close();
    throw error;
  }
  return door;
}

class Door implements WebDoor {
  port = 0;
  origin = '';
  readonly #host: Host;
  readonly #options: WebDoorOptions;
  readonly #off: ReadonlySet<Guard>;
  readonly #isOff = (guard: Guard): boolean => this.#off.has(guard);
  readonly #secrets: Secrets;
  readonly #wrongTries: Ration;
  readonly #answers: Answers;
  readonly #live: LiveSockets;
  readonly #server: Server;
  #addresses: Addresses = new Map();

  constructor(host: Host, options: WebDoorOptions) {
    this.#host = host;
    this.#options = options;
    this.#off = new Set(options.guardsOff);
    this.#secrets = new Secrets(options.clock, this.#isOff('code'));
    this.#wrongTries = new Ration(options.clock, WRONG_TRIES_MOST, WRONG_TRIES_PER_SECOND);
    this.#answers = new Answers(this.#isOff('headers'));
    this.#live = new LiveSockets({
      host,
      clock: options.clock,
      secrets: this.#secrets,
      wrongTries: this.#wrongTries,
      off: { token: this.#isOff('live_token'), size: this.#isOff('size'), connections: this.#isOff('connections') },
    });
    this.#server = this.#createServer();
  }

  async open(): Promise<void> {
    const { port, publicOrigin, tokenFile } = this.#options;
    const asked = publicOrigin === undefined ? null : parsePublicOrigin(publicOrigin);
    if (publicOrigin !== undefined && asked === null) {
      throw new InterlockError('usage', `${publicOrigin} is not an origin such as http://localhost:8080.`);
    }
    this.port = await this.#listen(port);
    this.#addresses = addressesOf(this.port, asked ?? undefined);
    this.origin = asked ?? `http://127.0.0.1:${this.port}`;
    writeSecretFile(tokenFile, this.#secrets.token);
  }

  makeLink(): string {
    return `${this.origin}/#code=${this.#secrets.makeCode()}`;
  }

  async close(): Promise<void> {
    this.#live.close();
    if (this.#server.listening) {
      const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
      this.#server.closeAllConnections();
      await closed;
      rmSync(this.#options.tokenFile, { force: true });
    }
  }

  #createServer(): Server {
    const size = this.#isOff('size');
    const slow = this.#isOff('slow');
    const server = http.createServer(
      {
        // Node would answer without our headers; judgeOrigin looks at Host itself.
        requireHostHeader: false,
        insecureHTTPParser: false,
        maxHeaderSize: size ? 2 ** 20 : HEADER_MOST,
        headersTimeout: slow ? 0 : HEADER_MS,
        requestTimeout: slow ? 0 : REQUEST_MS,
        keepAliveTimeout: IDLE_MS,
        connectionsCheckingInterval: 500,
      },
      (request, response) => void this.#answer(request, response),
    );
    if (!this.#isOff('connections')) server.maxConnections = CONNECTIONS_MOST;
    server.setTimeout(slow ? 0 : STALLED_MS);
    const expectation = (_request: IncomingMessage, response: ServerResponse) =>
      this.#answers.refuse(response, { guard: 'size', status: 417, message: 'No Expect header is understood.' });
    server.on('checkContinue', expectation);
    server.on('checkExpectation', expectation);
    server.on('connect', (_request, socket) =>
      this.#answers.refuseRaw(socket, { guard: 'method', status: 405, message: 'This is no proxy.', allow: 'GET, HEAD, POST' }),
    );
    server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket as Socket, head));
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      if (error.code === 'ECONNRESET') {
        socket.destroy();
        return;
      }
      const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
      this.#answers.refuseRaw(socket, { guard: status === 400 ? 'target' : 'size', status, message: 'The request could not be read.' });
    });
    return server;
  }

  async #listen(port: number | undefined): Promise<number> {
    const tries = port === undefined ? [...Array.from({ length: PORTS_TRIED }, (_, at) => DEFAULT_PORT + at), 0] : [port];
    for (const wanted of tries) {
      const error = await this.#tryPort(wanted);
      if (!error) {
        const address = this.#server.address();
        return typeof address === 'object' && address ? address.port : wanted;
      }
      const taken = error.code === 'EADDRINUSE' || error.code === 'EACCES';
      if (!taken) throw error;
      if (port !== undefined) {
        const why = error.code === 'EACCES' ? 'may not be used by this user' : 'is in use by another program';
        throw new InterlockError('port_taken', `Port ${port} on 127.0.0.1 ${why}.`, { port });
      }
    }
    throw new InterlockError('port_taken', `No free port was found from ${DEFAULT_PORT} on.`);
  }

  #tryPort(port: number): Promise<NodeJS.ErrnoException | null> {
    return new Promise((resolve) => {
      const failed = (error: NodeJS.ErrnoException) => resolve(error);
      this.#server.once('error', failed);
      this.#server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
        this.#server.off('error', failed);
        resolve(null);
      });
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that goes away in the middle is nobody's error.
    request.on('error', () => {});
    response.on('error', () => {});
    try {
      const refusal = await this.#serve(request, response);
      if (refusal) this.#answers.refuse(response, refusal);
    } catch (error) {
      this.#answers.json(response, 500, encodeResult(toFailure(error)), { connection: 'close' });
    }
  }

  /** Answers, or says why not. */
  async #serve(request: IncomingMessage, response: ServerResponse): Promise<Refusal | null> {
    const head = headOf(request);
    const { target } = head;
    const isPage = target === '/' && (head.method === 'GET' || head.method === 'HEAD');
    const foreign = judgeOrigin(head, this.#addresses, this.#isOff, isPage);
    if (foreign) return foreign;

    const file = this.#options.shell.get(target);
    if (file) {
      const wrong = judgeMethod(head, ['GET', 'HEAD'], this.#isOff) ?? this.#judgeBodiless(head);
      if (wrong) return wrong;
      this.#answers.file(request, response, file);
      return null;
    }
    if (target === '/session') return this.#openSession(head, request, response);
    const call = /^\/api\/([a-z_]{1,64})$/.exec(target)?.[1];
    if (call !== undefined) return this.#call(call, head, request, response);
    if (target === '/live') {
      return judgeMethod(head, ['GET'], this.#isOff) ?? { guard: 'route', status: 426, message: 'This is a WebSocket.' };
    }
    return head.method === 'OPTIONS'
      ? judgeMethod(head, ['GET', 'HEAD'], this.#isOff)
      : { guard: 'route', status: 404, message: 'There is nothing under this path.' };
  }

  #judgeBodiless(head: RequestHead): Refusal | null {
    if (this.#isOff('size') || !announcesBody(head)) return null;
    return { guard: 'size', status: 400, message: 'A page is asked for without a body.' };
  }

  async #openSession(head: RequestHead, request: IncomingMessage, response: ServerResponse): Promise<Refusal | null> {
    const wrong = judgeMethod(head, ['POST'], this.#isOff) ?? judgeJson(head, this.#isOff);
    if (wrong) return wrong;
    const body = await this.#readBody(request, BODY_MOST);
    if (typeof body !== 'string') return body;
    const parsed = v.safeParse(SessionSchema, decodeJson(body));
    if (parsed.success && this.#secrets.spendCode(parsed.output.code)) {
      this.#answers.json(response, 200, JSON.stringify({ ok: true, value: { token: this.#secrets.token } }));
      return null;
    }
    return this.#wrongTry('code', 'The link was used already, is older than a minute, or is not ours. A fresh one: npx interlock link');
  }

  async #call(name: string, head: RequestHead, request: IncomingMessage, response: ServerResponse): Promise<Refusal | null> {
    const wrong = judgeMethod(head, ['POST'], this.#isOff) ?? judgeJson(head, this.#isOff);
    if (wrong) return wrong;
    if (!this.#isOff('token') && !this.#secrets.isToken(readBearer(head))) {
      return this.#wrongTry('token', 'A token is needed. A fresh link: npx interlock link');
    }
    const body = await this.#readBody(request, name === 'import_piece' ? PIECE_BODY_MOST : BODY_MOST);
    if (typeof body !== 'string') return body;
    let input: unknown;
    try {
      input = decodeRequest(body === '' ? '{}' : body);
    } catch (error) {
      const failure = toFailure(error);
      this.#answers.json(response, statusOf(failure.code), encodeResult(failure));
      return null;
    }
    const result = await route(this.#host, name, input, { refuse: REFUSED_CALLS });
    this.#answers.json(response, result.ok ? 200 : statusOf(result.code), encodeResult(result));
    return null;
  }

  /** A wrong secret: 401 while tries are left, then 429. A right one never comes here. */
  #wrongTry(guard: Guard, message: string): Refusal {
    if (this.#wrongTries.take() || this.#isOff('rate')) return { guard, status: 401, message };
    return { guard: 'rate', status: 429, message: 'Too many wrong tries; wait a second.' };
  }

  /** The body as text, or why it is not read. */
  async #readBody(request: IncomingMessage, limit: number): Promise<string | Refusal> {
    const most = this.#isOff('size') ? Number.MAX_SAFE_INTEGER : limit;
    const tooLarge: Refusal = { guard: 'size', status: 413, message: `A body may have ${limit} bytes.` };
    if (Number(request.headers['content-length'] ?? 0) > most) return tooLarge;
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      request.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > most) {
          // The rest is not read; the refusal closes the connection.
          request.pause();
          request.removeAllListeners('data');
          resolve(tooLarge);
          return;
        }
        chunks.push(chunk);
      });
      request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
      request.on('close', () => reject(new InterlockError('bad_request', 'The request ended early.')));
    });
  }

  #upgrade(request: IncomingMessage, socket: Socket, rest: Buffer): void {
    socket.on('error', () => socket.destroy());
    const head = headOf(request);
    const refusal =
      judgeOrigin(head, this.#addresses, this.#isOff, false) ??
      judgeMethod(head, ['GET'], this.#isOff) ??
      (head.target === '/live'
        ? null
        : ({ guard: 'route', status: 404, message: 'There is no socket under this path.' } satisfies Refusal)) ??
      judgeUpgrade(head) ??
      (this.#live.full ? ({ guard: 'connections', status: 503, message: 'Too many pages are open.' } satisfies Refusal) : null);
    if (refusal) {
      this.#answers.refuseRaw(socket, refusal);
      return;
    }
    socket.setTimeout(0);
    this.#live.accept(request, socket, rest);
  }
}

/** The value, or undefined for what is no JSON that we accept. */
function decodeJson(text: string): unknown {
  try {
    return decodeRequest(text);
  } catch {
    return undefined;
  }
}
