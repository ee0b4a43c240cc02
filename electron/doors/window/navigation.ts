/**
 * Where the window may go: nowhere but its own page. Links to the outside are looked up by key in a constant table and opened by the
 * system's browser; no URL that a page made up is ever opened.
 */
import { APP_HOST, APP_ORIGIN, SCHEME } from './scheme.ts';

/** True for our own page only: parsed, then compared part by part. An empty URL and `about:blank` are not ours. */
export function isOwnUrl(text: string): boolean {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return false;
  }
  return (
    url.protocol === `${SCHEME}:` &&
    url.host === APP_HOST &&
    url.username === '' &&
    url.password === '' &&
    url.port === '' &&
    text.startsWith(`${APP_ORIGIN}/`)
  );
}

/** Bytes that our own page holds in memory, under a name that only the page could make. */
export function isOwnBlob(text: string): boolean {
  return text.startsWith(`blob:${APP_ORIGIN}/`);
}

/** The page itself: the only place a navigation may end (its fragment is the screen). */
export function isOwnPage(text: string): boolean {
  return isOwnUrl(text) && new URL(text).pathname === '/' && new URL(text).search === '';
}

/** Everything outside that the window can open, by key. */
export const EXTERNAL_LINKS = {
  rustup: 'https://rustup.rs/',
  electron_sandbox: 'https://www.electronjs.org/docs/latest/tutorial/sandbox',
} as const satisfies Record<string, `https://${string}`>;
export type ExternalLink = keyof typeof EXTERNAL_LINKS;

/** The URL of a key, or null for anything that is no key. */
export function externalLink(key: unknown): string | null {
  return typeof key === 'string' && Object.hasOwn(EXTERNAL_LINKS, key) ? EXTERNAL_LINKS[key as ExternalLink] : null;
}
