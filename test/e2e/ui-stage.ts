/** Brings one scenario onto a page: opens the link, waits for its state, presses what it says. Shared by the test and the pictures. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openUiDoor, type UiDoor } from './ui-door.ts';
import type { Scenario } from './ui-scenarios.ts';

export interface Stage {
  page: Page;
  door: UiDoor;
  context: BrowserContext;
  /** Console errors, uncaught errors and violations of the content policy. */
  faults: string[];
  close(): Promise<void>;
}

export interface Look {
  theme: 'light' | 'dark';
  width: number;
  height: number;
  scale?: number;
  reducedMotion?: boolean;
  /** Wait before the picture; long enough for a tip to go and an answer to come. */
  settleMs?: number;
}

export async function stage(browser: Browser, scenario: Scenario, look: Look): Promise<Stage> {
  const door = await openUiDoor(scenario.transport);
  try {
    return await enter(browser, door, scenario, look);
  } catch (error) {
    await door.close();
    throw error;
  }
}

async function enter(browser: Browser, door: UiDoor, scenario: Scenario, look: Look): Promise<Stage> {
  const context = await browser.newContext({
    viewport: { width: look.width, height: look.height },
    deviceScaleFactor: look.scale ?? 1,
    colorScheme: look.theme,
    reducedMotion: look.reducedMotion ? 'reduce' : 'no-preference',
    timezoneId: 'UTC',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(8000);
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) =>
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  // A lost or refused connection is what some scenarios are about; the browser reports it as an error of its own.
  const expected = scenario.cut || scenario.forget ? /WebSocket|Failed to load resource|ERR_/ : /(?!)/;
  if (scenario.forget) {
    door.forget();
    await page.goto(`${door.origin}/#code=spent`);
  } else {
    await page.goto(door.link());
    await page.waitForFunction(() => !document.querySelector('.wait') && document.querySelector('main'));
    await page.evaluate((hash) => (window.location.hash = hash), scenario.path);
  }
  if (scenario.cut) {
    await page.getByText('Where the time goes').waitFor();
    door.cut(true);
  }
  for (const name of scenario.press ?? []) {
    if (name.startsWith('card:')) await page.locator(`input[value="${name.slice(5)}"]`).check({ force: true });
    else await page.getByRole('button', { name, exact: false }).first().click();
  }
  if (scenario.files) {
    await page
      .locator('input[type=file]')
      .setInputFiles(scenario.files.map(({ name, text }) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })));
  }
  await page.getByText(scenario.shows, { exact: false }).first().waitFor({ timeout: 15_000 });
  await page.mouse.move(0, 0);
  await page.waitForTimeout(look.settleMs ?? 700);
  return {
    page,
    door,
    context,
    get faults() {
      return faults.filter((fault) => !expected.test(fault));
    },
    close: async () => {
      await context.close();
      await door.close();
    },
  };
}
