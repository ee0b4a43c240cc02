/**
 * The one place that knows how tests start a real Chromium: its path, its flags, its life. A test asks {@link findChromium} first and
 * skips by name where there is none. As root Chromium refuses its own sandbox, hence `--no-sandbox` here and nowhere else.
 */
import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome-stable', '/usr/bin/google-chrome'];

/** Quiet, offline, software-rendered; the user-data-dir is a new temporary one each time (playwright makes and removes it). */
export const CHROMIUM_FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
] as const;

/** Path of a Chromium on this machine, or null. `INTERLOCK_TEST_CHROMIUM` names another one. */
export function findChromium(): string | null {
  const asked = process.env['INTERLOCK_TEST_CHROMIUM'];
  if (asked) return existsSync(asked) ? asked : null;
  return CANDIDATES.find((path) => existsSync(path)) ?? null;
}

/** Starts a browser with the flags above and `extra` ones; the caller closes it. */
export async function launchChromium(extra: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('no Chromium here: apt-get install -y chromium');
  return chromium.launch({ executablePath, headless: true, args: [...CHROMIUM_FLAGS, ...extra], timeout: 60_000 });
}

/** What a page said and did that a test wants to look at afterwards: console errors, uncaught errors, every URL it asked for. */
export function watchPage(page: Page): { errors: string[]; requests: string[] } {
  const seen = { errors: [] as string[], requests: [] as string[] };
  page.on('console', (message) => {
    if (message.type() === 'error') seen.errors.push(message.text());
  });
  page.on('pageerror', (error) => seen.errors.push(String(error)));
  page.on('request', (request) => seen.requests.push(request.url()));
  return seen;
}
