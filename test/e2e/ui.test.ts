/**
 * The screens in a real Chromium under the page's own content policy: every state is reached, in both themes; nothing violates the
 * policy, nothing is written to the console, axe finds nothing serious, and what a keyboard needs is there.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { buildPage, SHELL } from './ui-door.ts';
import { AT_NS, createScenarios, type Scenario } from './ui-scenarios.ts';
import { stage } from './ui-stage.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const named = (name: string): Scenario => createScenarios().find((scenario) => scenario.name === name)!;
let browser: Browser;

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** Runs inside the page: what axe calls serious or critical, in one line each. */
async function checkWithAxe(): Promise<string[]> {
  const { axe: check } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
  const { violations } = await check.run({ resultTypes: ['violations'] });
  return violations
    .filter((violation) => violation.impact === 'serious' || violation.impact === 'critical')
    .map(
      (violation) =>
        `${violation.id}: ${violation.nodes
          .slice(0, 3)
          .map((node) => `${node.html.slice(0, 160)} ${node.failureSummary.slice(0, 160)}`)
          .join(' | ')}`,
    );
}

describe.skipIf(findChromium() === null)('the screens (needs a Chromium)', () => {
  beforeAll(async () => {
    buildPage();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
  });

  test('the page has no inline script, no inline style, and nothing from elsewhere', () => {
    const html = readFileSync(path.join(SHELL, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|https?:\/\//);
    for (const script of html.match(/<script[^>]*>/g) ?? []) expect(script).toContain('src="./assets/');
  });

  test.each(createScenarios().map((scenario) => [scenario.name]))('%s: light and dark', async (name) => {
    const staged = await stage(browser, named(name), { theme: 'light', width: 1024, height: 640, settleMs: 150 });
    try {
      // Playwright evaluates outside the page's policy, so axe may come in as text.
      await staged.page.evaluate(axe);
      for (const theme of ['light', 'dark'] as const) {
        await staged.page.emulateMedia({ colorScheme: theme });
        const found = await staged.page.evaluate(checkWithAxe);
        // A greyed, frozen view is not live text; its contrast is lowered on purpose, and said so above it.
        expect(found.filter((line) => !(name === 'connection-lost' && line.startsWith('color-contrast')))).toEqual([]);
      }
      expect(staged.faults).toEqual([]);
      const overflow = await staged.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(overflow).toBe(0);
    } finally {
      await staged.close();
    }
  });

  test('at 1024 × 640 windows, one device lane and proofs are on show without scrolling', async () => {
    const staged = await stage(browser, named('live-cpu'), { theme: 'dark', width: 1024, height: 640 });
    const bottoms = await staged.page.evaluate(() =>
      ['.bars', '.label.device', '.proofs tbody tr:nth-child(2)'].map(
        (selector) => document.querySelector(selector)?.getBoundingClientRect().bottom ?? Infinity,
      ),
    );
    await staged.close();
    expect(Math.max(...bottoms)).toBeLessThanOrEqual(640);
    expect([...bottoms].sort((a, b) => a - b)).toEqual(bottoms);
  });

  test('the bar’s lengths are the account’s: no label or edge makes a short part longer', async () => {
    for (const name of ['live-cpu', 'run']) {
      const staged = await stage(browser, { ...named(name), press: [] }, { theme: 'dark', width: 1280, height: 800 });
      await staged.page.locator('[role=img][aria-label*="kernels"] .piece').first().waitFor();
      const off = await staged.page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('[role=img] > .piece')].flatMap((piece) => {
          const share = parseFloat(piece.style.width) / 100;
          const px = piece.parentElement!.getBoundingClientRect().width * share;
          const drawn = piece.getBoundingClientRect().width;
          return Math.abs(drawn - Math.max(1, px)) > 1.5 ? [`${piece.className} ${drawn} instead of ${px}`] : [];
        }),
      );
      expect(off).toEqual([]);
      await staged.close();
    }
  });

  test('the code is gone from the address, and the session survives a reload', async () => {
    const staged = await stage(browser, named('live-cpu'), { theme: 'light', width: 1024, height: 640 });
    expect(staged.page.url()).not.toContain('code');
    await staged.page.reload();
    await staged.page.getByText('Where the time goes').waitFor();
    await staged.close();
  });

  test('while a run flows, text changes at most twice a second, boxes keep their places, and the lanes move', async () => {
    const scenario = named('live-cpu');
    const staged = await stage(browser, scenario, { theme: 'dark', width: 1024, height: 640 });
    await staged.page.evaluate(() => {
      const seen = { texts: 0, layout: new Set<string>() };
      Object.assign(globalThis, { seen });
      const elapsed = document.querySelector('.elapsed')!;
      new MutationObserver(() => (seen.texts += 1)).observe(elapsed, { characterData: true, subtree: true });
      const look = () => {
        seen.layout.add([...document.querySelectorAll('.panel')].map((panel) => Math.round(panel.getBoundingClientRect().top)).join());
        requestAnimationFrame(look);
      };
      look();
    });
    const pixels = () => staged.page.evaluate(() => document.querySelector('canvas')!.toDataURL());
    const before = await pixels();
    for (let batch = 1; batch <= 40; batch++) {
      scenario.transport.push(scenario.demo.batchBetween(AT_NS + (batch - 1) * 1e8, AT_NS + batch * 1e8, batch, batch % 5 === 0));
      await staged.page.waitForTimeout(100);
    }
    const seen = await staged.page.evaluate(() => {
      const { texts, layout } = (globalThis as unknown as { seen: { texts: number; layout: Set<string> } }).seen;
      return { texts, layouts: layout.size };
    });
    expect(await pixels()).not.toBe(before);
    expect(seen.texts).toBeGreaterThanOrEqual(3);
    expect(seen.texts).toBeLessThanOrEqual(14);
    expect(seen.layouts).toBe(1);
    expect(staged.faults).toEqual([]);
    await staged.close();
  });

  test('what is on show follows the run: windows, latencies, cells', async () => {
    const scenario = named('live-young');
    const staged = await stage(browser, scenario, { theme: 'dark', width: 1024, height: 640 });
    const bars = () => staged.page.locator('.bars i:not(.none)[title$="s"]').count();
    expect(await bars()).toBe(0);
    scenario.transport.push(scenario.demo.batchBetween(6.2e9, 45e9, 1));
    await staged.page.getByText('first 45 s; run').waitFor();
    expect(await bars()).toBe(4);
    expect(await staged.page.getByRole('row', { name: /s-t01000-12 valid 10 of 10 partitions done/ }).count()).toBe(1);
    await staged.close();
  });

  test('a lost connection comes back by itself', async () => {
    const staged = await stage(browser, named('connection-lost'), { theme: 'light', width: 1024, height: 640 });
    staged.door.hear();
    await staged.page.getByText('Connection to the host lost').waitFor({ state: 'detached', timeout: 20_000 });
    expect(await staged.page.getByRole('button', { name: 'Stop …' }).isEnabled()).toBe(true);
    await staged.close();
  });

  test('by keyboard alone: to the header, into the Start dialog, a preset chosen, sent, and focus comes back', async () => {
    const scenario = named('empty');
    const staged = await stage(browser, scenario, { theme: 'dark', width: 1024, height: 640 });
    const { page } = staged;
    const focused = () => page.evaluate(() => (document.activeElement?.textContent ?? '').trim());
    for (let step = 0; step < 20 && (await focused()) !== 'Start …'; step++) await page.keyboard.press('Tab');
    expect(await focused()).toBe('Start …');
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineWidth);
    expect(parseFloat(outline)).toBeGreaterThanOrEqual(2);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Start proving' }).waitFor();
    await page.getByRole('radio', { name: /Dual-worker/ }).focus();
    await page.keyboard.press('ArrowLeft');
    expect(await page.getByRole('radio', { name: /Per-partition/ }).isChecked()).toBe(true);
    await page.getByText('The prover is started and loads its params.').waitFor();
    await page.waitForTimeout(400);
    await page.getByRole('textbox', { name: /Proofs/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(scenario.transport.inputsOf('prove')).toMatchObject([
      { circuit: 'sha256', partitions: 10, scheduler: { preset: 'per-partition' }, switch: false },
    ]);
    expect(await focused()).toBe('Start …');
    await staged.close();
  });

  test('Escape closes a dialog; stop sends a drain, stop now says what is lost', async () => {
    const scenario = named('dialog-stop');
    const staged = await stage(browser, scenario, { theme: 'dark', width: 1024, height: 640 });
    expect(await staged.page.getByText(/started partitions? of 2.proofs/).count()).toBe(1);
    await staged.page.keyboard.press('Escape');
    await staged.page.getByRole('dialog').waitFor({ state: 'detached' });
    await staged.page.getByRole('button', { name: 'Stop …' }).click();
    await staged.page.getByRole('button', { name: 'Finish, then stop' }).click();
    await staged.page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(scenario.transport.inputsOf('stop')).toEqual([{ how: 'drain' }]);
    await staged.close();
  });

  test('a figure explains itself on focus, and Escape puts the explanation away', async () => {
    const staged = await stage(browser, named('live-cpu'), { theme: 'light', width: 1024, height: 640 });
    const { page } = staged;
    await page.getByRole('button', { name: 'Table: Three windows' }).focus();
    await page.keyboard.press('Tab');
    const tip = page.locator('.tip');
    expect(await tip.innerText()).toMatch(/^Kernel running, last 60 s: .* of 1.min.0.s on cpu0\. /);
    await page.keyboard.press('Escape');
    expect(await tip.isVisible()).toBe(false);
    await staged.close();
  });

  test('the theme can be set against the system’s, and is kept', async () => {
    const staged = await stage(browser, named('empty'), { theme: 'light', width: 1024, height: 640 });
    const ground = () => staged.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await staged.page.getByRole('button', { name: /^Theme/ }).click();
    await staged.page.getByRole('button', { name: /^Theme/ }).click();
    const dark = await ground();
    expect(dark).not.toBe(light);
    await staged.page.reload();
    await staged.page.getByText('Nothing is being proved').waitFor();
    expect(await ground()).toBe(dark);
    await staged.close();
  });

  test('with reduced motion nothing turns', async () => {
    const staged = await stage(browser, named('switching'), { theme: 'dark', width: 1024, height: 640, reducedMotion: true });
    const running = await staged.page.evaluate(() => document.getAnimations().length);
    expect(running).toBe(0);
    await staged.close();
  });
});
