/**
 * Transport of a browser tab, over the loopback web door:
 *
 *   http://127.0.0.1:9720/#code=…   POST /session {code} → {token}; the code is wiped from the address at once
 *   POST /api/<call>                Authorization: Bearer <token>, JSON in, Result out
 *   WebSocket /live                 first message {"token": …}, then one LiveMessage each
 *
 * The token lives in sessionStorage: it ends with the tab. A door that cannot be reached answers as `no_host`, one that knows the token
 * no more as `unauthorised`; who shows what follows from the code alone.
 */
import type { CallName, Transport } from '../../electron/contract/api.ts';
import type { LiveMessage } from '../../electron/contract/live.ts';
import { isErrorCode, type Failure, type Result } from '../../electron/contract/errors.ts';

const TOKEN_KEY = 'interlock.token';

/** What the transport uses of the browser; a test hands in its own. */
export interface WebSurroundings {
  fetch: typeof fetch;
  openSocket(url: string): WebSocket;
  store: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  location: { hash: string; host: string; protocol: string };
  wipeFragment(): void;
}

export function browserSurroundings(): WebSurroundings {
  return {
    fetch: window.fetch.bind(window),
    openSocket: (url) => new WebSocket(url),
    store: window.sessionStorage,
    location: window.location,
    wipeFragment: () => window.history.replaceState(null, '', window.location.pathname + window.location.search),
  };
}

const noHost = (message: string): Failure => ({ ok: false, code: 'no_host', message });
const unauthorised = (message: string): Failure => ({ ok: false, code: 'unauthorised', message });

/** A {@link Result} or nothing: whatever else a server may have said is not passed on. */
function readResult(body: unknown): Result<unknown> | null {
  if (typeof body !== 'object' || body === null || !('ok' in body)) return null;
  if (body.ok === true) return { ok: true, value: 'value' in body ? body.value : undefined };
  if ('code' in body && typeof body.code === 'string' && isErrorCode(body.code)) return body as Failure;
  return null;
}

export function createWebTransport(around: WebSurroundings): Transport {
  // Wiped before anything is awaited: a code must not stay in the address, the history or a screenshot.
  let code = /[#&]code=([^&]+)/.exec(around.location.hash)?.[1] ?? null;
  if (code !== null) around.wipeFragment();
  let signingIn: Promise<Failure | null> | null = null;

  /** Trades the code for a token once; null when there is a token to try. */
  function signIn(): Promise<Failure | null> {
    if (code === null) {
      return Promise.resolve(around.store.getItem(TOKEN_KEY) ? null : unauthorised('This tab has no session.'));
    }
    signingIn ??= tradeCode(decodeURIComponent(code)).finally(() => {
      signingIn = null;
    });
    return signingIn;
  }

  async function tradeCode(spent: string): Promise<Failure | null> {
    try {
      const response = await around.fetch('/session', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code: spent }),
      });
      const body: unknown = await response.json().catch(() => null);
      const token = readToken(body);
      code = null;
      if (response.ok && token) {
        around.store.setItem(TOKEN_KEY, token);
        return null;
      }
      // A tab reloaded with an old link still has its session.
      return around.store.getItem(TOKEN_KEY) ? null : unauthorised('The link was used already, or is older than a minute.');
    } catch {
      return noHost('The host does not answer.');
    }
  }

  async function call(name: CallName, input: unknown): Promise<Result<unknown>> {
    const refused = await signIn();
    if (refused) return refused;
    let response: Response;
    try {
      response = await around.fetch(`/api/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${around.store.getItem(TOKEN_KEY) ?? ''}` },
        body: JSON.stringify(input),
      });
    } catch {
      return noHost('The host does not answer.');
    }
    const result = readResult(await response.json().catch(() => null));
    if (result) return result;
    if (response.status === 401) return unauthorised('The host does not know this session any more.');
    return { ok: false, code: 'bad_request', message: `The host answered ${response.status} without a result.` };
  }

  function live(onMessage: (message: LiveMessage) => void, onClose: () => void): () => void {
    let socket: WebSocket | null = null;
    let ended = false;
    const end = () => {
      if (ended) return;
      ended = true;
      onClose();
    };
    void signIn().then((refused) => {
      if (ended) return;
      if (refused) return end();
      const scheme = around.location.protocol === 'https:' ? 'wss' : 'ws';
      socket = around.openSocket(`${scheme}://${around.location.host}/live`);
      socket.onopen = () => socket?.send(JSON.stringify({ token: around.store.getItem(TOKEN_KEY) }));
      socket.onmessage = (event) => {
        if (!ended && typeof event.data === 'string') onMessage(JSON.parse(event.data) as LiveMessage);
      };
      socket.onclose = end;
      socket.onerror = () => socket?.close();
    });
    return () => {
      ended = true;
      socket?.close();
    };
  }

  return { call, live };
}

function readToken(body: unknown): string | null {
  if (typeof body !== 'object' || body === null) return null;
  const flat = 'value' in body && typeof body.value === 'object' && body.value !== null ? body.value : body;
  return 'token' in flat && typeof flat.token === 'string' ? flat.token : null;
}
