/** What any web contents of the program may do, set as it is made: stay where it is. Takes Electron's objects as plain shapes. */
import { isOwnBlob, isOwnPage, isOwnUrl } from './navigation.ts';
import { APP_URL } from './scheme.ts';

interface Preventable {
  preventDefault(): void;
  /** Electron 45 puts the URL on the event; older ones pass it as the second argument. */
  url?: string;
}
export interface GuardedContents {
  on(event: string, listener: (event: Preventable, second?: unknown) => void): unknown;
  setWindowOpenHandler(handler: (details: { url: string }) => { action: 'deny' }): void;
  loadURL(url: string): Promise<void>;
}

/** Navigations, redirects, new windows and webviews: prevented unless they end on our own page. */
export function guardContents(contents: GuardedContents, onPrevented: (what: string) => void): void {
  for (const name of ['will-navigate', 'will-frame-navigate', 'will-redirect']) {
    contents.on(name, (event, second) => {
      const url = event.url ?? (typeof second === 'string' ? second : '');
      if (isOwnPage(url)) return;
      event.preventDefault();
      onPrevented(`${name} to another place`);
    });
  }
  contents.on('will-attach-webview', (event) => {
    event.preventDefault();
    onPrevented('a webview');
  });
  // about:blank is entered without asking; it is left again at once (the gate answers it nothing meanwhile).
  contents.on('did-navigate', (event, second) => {
    const url = event.url ?? (typeof second === 'string' ? second : '');
    if (isOwnPage(url)) return;
    onPrevented('staying at another place');
    contents.loadURL(APP_URL).catch(() => {});
  });
  contents.setWindowOpenHandler(() => {
    onPrevented('a new window');
    return { action: 'deny' };
  });
}

interface RequestDetails {
  url: string;
}
export interface GuardedSession {
  webRequest: { onBeforeRequest(handler: (details: RequestDetails, callback: (answer: { cancel: boolean }) => void) => void): void };
  on(event: 'will-download', listener: (event: Preventable, item: { getURL(): string }) => void): unknown;
}

/**
 * Nothing is loaded but our own files and what the page made itself (images in place, an export in memory). The only download is such an
 * export: Electron asks where to save it. `devTools`: their own pages may load.
 */
export function guardSession(session: GuardedSession, options: { devTools: boolean }, onPrevented: (what: string) => void): void {
  session.webRequest.onBeforeRequest(({ url }, callback) => {
    const fine = isOwnUrl(url) || isOwnBlob(url) || url.startsWith('data:image/') || (options.devTools && url.startsWith('devtools://'));
    if (!fine) onPrevented('a request to another place');
    callback({ cancel: !fine });
  });
  session.on('will-download', (event, item) => {
    if (isOwnBlob(item.getURL())) return;
    event.preventDefault();
    onPrevented('a download');
  });
}
