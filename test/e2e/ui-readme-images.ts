/** Makes docs/images/live-{dark,light}.png from the simulated run: node test/e2e/ui-readme-images.ts */
import path from 'node:path';
import { launchChromium } from '../support/chromium.ts';
import { buildPage } from './ui-door.ts';
import { AT_NS, createScenarios } from './ui-scenarios.ts';
import { stage } from './ui-stage.ts';

buildPage();
const browser = await launchChromium();
for (const theme of ['dark', 'light'] as const) {
  const scenario = createScenarios().find((one) => one.name === 'live-cpu')!;
  // The host's clock starts with its greeting, as a real one would tell it.
  const greet = scenario.transport.greeting;
  let startedMs = 0;
  scenario.transport.greeting = () => {
    startedMs = performance.now();
    return greet();
  };
  const staged = await stage(browser, scenario, { theme, width: 1440, height: 860, scale: 1.5 });
  await staged.page.getByText('30 s', { exact: true }).click();
  await staged.page.mouse.move(0, 0);
  let knownNs = AT_NS;
  for (let batch = 1; batch <= 40; batch++) {
    const nowNs = AT_NS + Math.round((performance.now() - startedMs) * 1e6);
    scenario.transport.push(scenario.demo.batchBetween(knownNs, nowNs, batch));
    knownNs = nowNs;
    await staged.page.waitForTimeout(100);
  }
  await staged.page.screenshot({ path: path.join(import.meta.dirname, `../../docs/images/live-${theme}.png`) });
  await staged.close();
}
await browser.close();
process.exit(0);
