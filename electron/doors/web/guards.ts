/**
 * Who may talk to the web door: pure judgements over the head of a request. They decide from what was sent, byte for byte; nothing is
 * normalised first, because what two programs normalise differently is what gets through.
 *
 *   target → host → origin → fetch site → (route) → method → content type → token
 */
import type { Guard } from './types.ts';

/** The head of a request as it came: header names and values alternate in `rawHeaders`. */
export interface RequestHead {
  method: string;
  target: string;
  rawHeaders: readonly string[];
}

/** How a request is turned away. `allow` only with 405. */
export interface Refusal {
  guard: Guard | 'route';
  status: number;
  message: string;
  allow?: string;
}

/** The addresses under which this door is ours: Host → the Origin that belongs to it. */
export type Addresses = ReadonlyMap<string, string>;

export function addressesOf(port: number, publicOrigin?: string): Addresses {
  const map = new Map<string, string>();
  for (const name of ['127.0.0.1', 'localhost', '[::1]']) map.set(`${name}:${port}`, `http://${name}:${port}`);
  if (publicOrigin) {
    const url = new URL(publicOrigin);
    map.set(url.host, url.origin);
  }
  return map;
}

/** An origin as `serve --public-origin` takes it: scheme, host and port, nothing else. Null: not one. */
export function parsePublicOrigin(text: string): string | null {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return null;
  }
  const plain = (url.protocol === 'http:' || url.protocol === 'https:') && !url.username && !url.password;
  return plain && (text === url.origin || text === `${url.origin}/`) ? url.origin : null;
}

/** Every value of a header, in order. */
export function valuesOf(head: RequestHead, name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < head.rawHeaders.length; at += 2) {
    if (head.rawHeaders[at]?.toLowerCase() === name) values.push(head.rawHeaders[at + 1] ?? '');
  }
  return values;
}

/** Headers on which a decision rests: said twice, they could be read differently by two programs. */
const ONCE = ['origin', 'sec-fetch-site', 'authorization', 'content-type', 'content-length', 'transfer-encoding', 'upgrade'];

export type IsOff = (guard: Guard) => boolean;

/** Judges where a request comes from. `page`: it asks for the page itself, which may be opened from outside the browser. */
export function judgeOrigin(head: RequestHead, addresses: Addresses, isOff: IsOff, page: boolean): Refusal | null {
  if (!isOff('target') && !/^\/[\x21-\x7e]*$/.test(head.target)) {
    return { guard: 'target', status: 400, message: 'The target must be a plain path.' };
  }
  const hosts = valuesOf(head, 'host');
  if (!isOff('host') && (hosts.length !== 1 || !addresses.has(hosts[0] ?? ''))) {
    return { guard: 'host', status: 403, message: 'This door answers to its own address alone.' };
  }
  if (!isOff('origin')) {
    const twice = ONCE.find((name) => valuesOf(head, name).length > 1);
    if (twice) return { guard: 'origin', status: 400, message: `The header ${twice} may be sent once.` };
    const origin = valuesOf(head, 'origin')[0];
    const ours = addresses.get(hosts[0] ?? '');
    if (origin !== undefined && origin !== ours) {
      return { guard: 'origin', status: 403, message: 'Pages of another origin are not answered.' };
    }
  }
  const site = valuesOf(head, 'sec-fetch-site')[0];
  if (!isOff('fetch_site') && site !== undefined && site !== 'same-origin' && !(page && site === 'none')) {
    return { guard: 'fetch_site', status: 403, message: 'Requests made by other sites are not answered.' };
  }
  return null;
}

/** Judges the method against the route's. OPTIONS is nobody's: no CORS is ever spoken. */
export function judgeMethod(head: RequestHead, allow: readonly string[], isOff: IsOff): Refusal | null {
  if (allow.includes(head.method)) return null;
  if (isOff('method') && head.method !== 'OPTIONS') return null;
  return { guard: 'method', status: 405, message: `Allowed here: ${allow.join(', ')}.`, allow: allow.join(', ') };
}

/** Judges that a call is JSON: what no form and no simple cross-site request can send. */
export function judgeJson(head: RequestHead, isOff: IsOff): Refusal | null {
  if (isOff('json')) return null;
  const type = valuesOf(head, 'content-type')[0] ?? '';
  if (!/^application\/json(?:; ?charset=utf-8)?$/i.test(type)) {
    return { guard: 'json', status: 415, message: 'Calls are sent as application/json.' };
  }
  if (valuesOf(head, 'content-encoding').length > 0) {
    return { guard: 'json', status: 415, message: 'Calls are sent without a content encoding.' };
  }
  return null;
}

/** The token of `Authorization: Bearer …`, or null. */
export function readBearer(head: RequestHead): string | null {
  return /^Bearer ([A-Za-z0-9_-]{16,128})$/.exec(valuesOf(head, 'authorization')[0] ?? '')?.[1] ?? null;
}

/** True if the head announces a body. */
export function announcesBody(head: RequestHead): boolean {
  const length = valuesOf(head, 'content-length')[0];
  return valuesOf(head, 'transfer-encoding').length > 0 || (length !== undefined && length !== '0');
}

/** Judges that an upgrade is a WebSocket handshake as browsers make it; nothing else is ever answered by the socket's library. */
export function judgeUpgrade(head: RequestHead): Refusal | null {
  const one = (name: string) => (valuesOf(head, name).length === 1 ? (valuesOf(head, name)[0] ?? '') : '');
  const good =
    one('upgrade').toLowerCase() === 'websocket' &&
    one('sec-websocket-version') === '13' &&
    /^[A-Za-z0-9+/]{22}==$/.test(one('sec-websocket-key'));
  return good ? null : { guard: 'route', status: 426, message: 'This is a WebSocket.' };
}
