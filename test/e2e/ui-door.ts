/**
 * A door for UI tests: serves the built page under the page's real content policy and speaks the web door's protocol (POST /session,
 * POST /api/<call>, WebSocket /live), answered by any transport: a scripted one, or a real host's socket. Not a door to run anything behind: it guards nothing.
 */
import { execFileSync } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { WebSocketServer, type WebSocket } from 'ws';
import { isCallName, type Transport } from '../../electron/contract/api.ts';

export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html";

const ROOT = path.join(import.meta.dirname, '../..');
/** A folder of its own: out/renderer belongs to the launcher, and a running host may serve it. */
export const SHELL = path.join(ROOT, 'out/ui-page');
const TYPES: Record<string, string> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};
const TOKEN = 'token-of-the-test';

/** Builds the page as it stands. */
export function buildPage(): void {
  const vite = path.join(ROOT, 'node_modules/vite/bin/vite.js');
  execFileSync(process.execPath, [vite, 'build', '-c', 'renderer/vite.config.ts', '--outDir', SHELL, '--logLevel', 'warn'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
}

export interface UiDoor {
  origin: string;
  /** `CODE` once; afterwards only the token counts. */
  link(): string;
  /** Cuts every live socket; with `deaf`, refuses all that comes after until `hear`. */
  cut(deaf?: boolean): void;
  hear(): void;
  /** Forgets the session: every call and socket is refused as unauthorised. */
  forget(): void;
  close(): Promise<void>;
}

export async function openUiDoor(transport: Transport): Promise<UiDoor> {
  let known = true;
  let deaf = false;
  let codes = 0;
  const open = new Set<string>();
  const sockets = new Set<WebSocket>();

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      response.writeHead(500);
      response.end(String(error));
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (deaf) {
      request.socket.destroy();
      return;
    }
    if (request.method === 'POST') {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
      if (url.pathname === '/session') {
        const good = typeof body['code'] === 'string' && open.delete(body['code']);
        return json(response, good ? 200 : 401, good ? { token: TOKEN } : { ok: false, code: 'unauthorised', message: 'unknown code' });
      }
      if (!known || request.headers.authorization !== `Bearer ${TOKEN}`) {
        return json(response, 401, { ok: false, code: 'unauthorised', message: 'unknown session' });
      }
      const name = url.pathname.slice('/api/'.length);
      if (!isCallName(name)) return json(response, 404, { ok: false, code: 'not_found', message: `no call ${name}` });
      return json(response, 200, await transport.call(name, body));
    }
    const name = url.pathname === '/' ? 'index.html' : path.basename(url.pathname);
    const file = path.join(SHELL, name === 'index.html' ? '' : 'assets', name);
    if (!existsSync(file)) return json(response, 404, {});
    response.writeHead(200, {
      'content-type': TYPES[path.extname(name).slice(1)] ?? 'application/octet-stream',
      'content-security-policy': PAGE_POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    response.end(readFileSync(file));
  }

  const live = new WebSocketServer({ server, path: '/live' });
  live.on('connection', (socket) => {
    sockets.add(socket);
    let leave: (() => void) | null = null;
    if (deaf) socket.terminate();
    socket.on('close', () => {
      leave?.();
      sockets.delete(socket);
    });
    socket.once('message', (data: Buffer) => {
      const first = JSON.parse(data.toString('utf8')) as { token?: unknown };
      if (!known || first.token !== TOKEN) return socket.close(4401);
      leave = transport.live(
        (message) => socket.send(JSON.stringify(message)),
        () => socket.close(),
      );
    });
  });

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;

  return {
    origin,
    link: () => {
      const code = `code-${++codes}`;
      open.add(code);
      return `${origin}/#code=${code}`;
    },
    cut: (andDeaf = false) => {
      deaf = andDeaf;
      for (const socket of sockets) socket.terminate();
    },
    hear: () => {
      deaf = false;
    },
    forget: () => {
      known = false;
      for (const socket of sockets) socket.terminate();
    },
    close: async () => {
      for (const socket of sockets) socket.terminate();
      live.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-security-policy': PAGE_POLICY });
  response.end(JSON.stringify(body));
}
