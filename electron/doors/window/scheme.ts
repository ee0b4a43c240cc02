/**
 * The window's own scheme. The page, its scripts and styles come from the build's list (electron/doors/shell.ts) and from nowhere else:
 * a URL is either exactly one of ours or it is 404. No `file:`, no network, no bypass of the content policy.
 */
import { PAGE_HEADERS } from '../page-policy.ts';
import type { Shell } from '../shell.ts';

export const SCHEME = 'interlock-ui';
export const APP_HOST = 'app';
export const APP_ORIGIN = `${SCHEME}://${APP_HOST}`;
export const APP_URL = `${APP_ORIGIN}/`;

/** What Chromium is told about the scheme before `ready`. `bypassCSP` and `corsEnabled` are not among it. */
export const SCHEME_PRIVILEGES = [{ scheme: SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: true } }] as const;

export interface SchemeAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer | null;
}

const NOT_FOUND: SchemeAnswer = { status: 404, headers: { ...PAGE_HEADERS, 'cache-control': 'no-store' }, body: null };
const NOT_ALLOWED: SchemeAnswer = {
  status: 405,
  headers: { ...PAGE_HEADERS, 'cache-control': 'no-store', allow: 'GET, HEAD' },
  body: null,
};

/** The answer to a request of the window. `url` is taken as it came: what does not begin with our origin, byte for byte, is not there. */
export function answerScheme(shell: Shell, method: string, url: string): SchemeAnswer {
  if (method !== 'GET' && method !== 'HEAD') return NOT_ALLOWED;
  const plain = url.split('#')[0] ?? '';
  if (!plain.startsWith(APP_URL)) return NOT_FOUND;
  const file = shell.get(plain.slice(APP_ORIGIN.length));
  if (!file) return NOT_FOUND;
  return {
    status: 200,
    headers: { ...PAGE_HEADERS, 'content-type': file.type, 'cache-control': 'no-store' },
    body: method === 'HEAD' ? null : file.bytes,
  };
}
