/** What the web door sends: every answer, good or bad, carries the page's headers; data is never stored. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { STATUS_CODES } from 'node:http';
import type { ErrorCode, Failure } from '../../contract/errors.ts';
import { PAGE_HEADERS } from '../page-policy.ts';
import type { ShellFile } from '../shell.ts';
import type { Refusal } from './guards.ts';

/** HTTP status of a failed call; what is not named is 500. */
const STATUS_OF: Partial<Record<ErrorCode, number>> = {
  usage: 400,
  bad_request: 400,
  invalid_scheduler: 400,
  budget_too_small: 400,
  unauthorised: 401,
  not_found: 404,
  busy: 409,
  other_scheduler: 409,
  too_large: 413,
  backend_unavailable: 409,
  read_only: 409,
};

export function statusOf(code: ErrorCode): number {
  return STATUS_OF[code] ?? 500;
}

/** The error code that goes with a status of the door's own. */
function codeOf(status: number): ErrorCode {
  if (status === 401) return 'unauthorised';
  if (status === 404) return 'not_found';
  if (status === 413 || status === 431) return 'too_large';
  if (status === 429 || status === 503) return 'busy';
  return 'bad_request';
}

export function refusalBody({ status, message }: Refusal): string {
  return JSON.stringify({ ok: false, code: codeOf(status), message } satisfies Failure);
}

export type ExtraHeaders = Readonly<Record<string, string>>;

export class Answers {
  readonly #headers: ExtraHeaders;

  constructor(bare: boolean) {
    this.#headers = bare ? {} : PAGE_HEADERS;
  }

  json(response: ServerResponse, status: number, body: string, extra: ExtraHeaders = {}): void {
    this.#send(response, status, Buffer.from(body), {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      ...extra,
    });
  }

  /** Turns a request away. Its connection ends with it: what a refused sender sends next is not read. */
  refuse(response: ServerResponse, refusal: Refusal): void {
    const extra: Record<string, string> = { connection: 'close' };
    if (refusal.allow) extra['allow'] = refusal.allow;
    if (refusal.status === 401) extra['www-authenticate'] = 'Bearer';
    if (refusal.status === 429) extra['retry-after'] = '1';
    this.json(response, refusal.status, refusalBody(refusal), extra);
  }

  file(request: IncomingMessage, response: ServerResponse, file: ShellFile): void {
    const headers = { etag: file.etag, 'cache-control': file.immutable ? 'private, max-age=31536000, immutable' : 'no-cache' };
    if (request.headers['if-none-match'] === file.etag) {
      this.#send(response, 304, Buffer.alloc(0), headers);
      return;
    }
    this.#send(response, 200, file.bytes, { 'content-type': file.type, ...headers });
  }

  /** Writes a whole refusal onto a bare socket, where there is no response object: broken requests, upgrades, CONNECT. */
  refuseRaw(socket: Duplex, refusal: Refusal): void {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const body = refusalBody(refusal);
    const head = [
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`,
      ...Object.entries({
        ...this.#headers,
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'content-length': String(Buffer.byteLength(body)),
        connection: 'close',
        ...(refusal.allow ? { allow: refusal.allow } : {}),
      }).map(([name, value]) => `${name}: ${value}`),
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  }

  #send(response: ServerResponse, status: number, body: Buffer, extra: ExtraHeaders): void {
    if (response.headersSent || response.destroyed) return;
    response.writeHead(status, { ...this.#headers, ...extra, ...(status === 304 ? {} : { 'content-length': String(body.length) }) });
    response.end(response.req.method === 'HEAD' || status === 304 ? undefined : body);
  }
}
