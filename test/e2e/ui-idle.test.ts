/**
 * The screens against a real host with a real prover on the emulated device: what the page says of idle time is what the command line
 * says, a log that is dropped in is there to be read, and a run that is taken away arrives whole.
 */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IdleReport } from '../../electron/contract/idle.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { recordedLog } from '../support/demo-log.ts';
import { hasProver, Stage } from '../support/seen.ts';
import { buildPage, openUiDoor } from './ui-door.ts';

const STAGES = 'synthesis=40ms,prepare=20ms,kernels=60ms,finish=40ms,gap=2ms';
let browser: Browser;

async function enter(stage: Stage): Promise<{ page: Page; faults: string[]; close(): Promise<void> }> {
  const host = await stage.host();
  const door = await openUiDoor(host.transport);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, timezoneId: 'UTC', acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(door.link());
  await page.locator('main').waitFor();
  const close = async () => {
    await context.close();
    await door.close();
  };
  return { page, faults, close };
}

describe.skipIf(!hasProver || findChromium() === null)('screens of a real host (needs the built prover and a Chromium)', () => {
  beforeAll(async () => {
    buildPage();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
  });

  test('Live names the epilogue, the simulation predicts the second worker, the Run page says what `idle` says', async () => {
    const stage = new Stage();
    const { page, faults, close } = await enter(stage);
    const proving = stage.start(
      'prove', '--circuit', 'squarings', '--constraints', '400', '--partitions', '4', '--count', '12', '--backend', 'emulated', '--emulate', STAGES,
      '--scheduler', 'per-partition',
    ); // prettier-ignore
    await page.getByText('Where the time goes').waitFor();
    await page.getByText(/emu0 waits .* a proof in epilogue; a second GPU worker .*: predicted .*\ss\/proof/).waitFor();
    expect((await proving.ended).code).toBe(0);

    const idle = JSON.parse(await stage.run('idle', 'last', '--json')) as IdleReport;
    await page.evaluate((run) => (window.location.hash = `#/runs/${run}`), idle.run);
    await page.getByRole('heading', { name: 'Idle time' }).waitFor();
    await page.getByRole('button', { name: 'Table: Idle time' }).click();
    const epilogue = idle.devices[0]!.steady!.per_proof.idle_ns.epilogue / 1e9;
    expect(epilogue).toBeGreaterThan(0.05);
    await page.getByRole('row', { name: new RegExp(`^epilogue ${epilogue.toFixed(2)} `) }).waitFor();
    await page.getByText(/^\d+\sgaps of 10\sms and more, longest first$/).waitFor();
    await page
      .locator('.gaps tbody tr', { hasText: /between p\d+\.\d and p\d+\.\d/ })
      .first()
      .waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('a log that is dropped on the list is a run there, and leaves as NDJSON and CSV', async () => {
    const stage = new Stage();
    const { page, faults, close } = await enter(stage);
    await page.evaluate(() => (window.location.hash = '#/runs'));
    await page.getByText('No runs yet').waitFor();
    const files = await page.evaluateHandle((text) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], 'gw2a.log'));
      return transfer;
    }, recordedLog('gw2a').toString());
    await page.dispatchEvent('.runs', 'dragover', { dataTransfer: files });
    await page.dispatchEvent('.runs', 'drop', { dataTransfer: files });
    await page.getByText('every line understood').waitFor();
    await page.getByRole('row', { name: /imported from gw2a.log .* 6 – not recorded 96\.6.% 97\.0.%/ }).waitFor();
    await page
      .getByRole('rowheader', { name: /imported from gw2a.log/ })
      .getByRole('link')
      .click();
    await page.getByText('that this log cannot tell apart; may be kernels, in lock.').waitFor();

    await page.getByRole('button', { name: 'Export' }).click();
    const [ndjson] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: /^NDJSON/ }).click()]);
    const lines = readFileSync(await ndjson.path(), 'utf8')
      .trimEnd()
      .split('\n');
    expect(lines.filter((line) => line.includes('"picked_up"'))).toHaveLength(12);
    await page.getByText(/^Saved .*\.ndjson/).waitFor();
    // Where a browser cannot write into a folder, the files come one after another.
    await page.evaluate(() => Object.assign(window, { showDirectoryPicker: undefined }));
    const names: string[] = [];
    page.on('download', (download) => names.push(download.suggestedFilename()));
    await page.getByRole('button', { name: /^CSV/ }).click();
    await page.getByText(/^Saved \d files/).waitFor();
    expect(names).toContain('proofs.csv');
    expect(names).toContain('gaps.csv');
    expect(faults).toEqual([]);
    await close();
  });
});
