/**
 * Photographs every scenario, light and dark, small and large, into out/screens/.
 *
 *   node test/e2e/ui-screens.ts [name …]
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { launchChromium } from '../support/chromium.ts';
import { buildPage } from './ui-door.ts';
import { createScenarios } from './ui-scenarios.ts';
import { stage } from './ui-stage.ts';

const out = path.join(import.meta.dirname, '../../out/screens');
mkdirSync(out, { recursive: true });
buildPage();
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const sizes = process.argv.includes('--large')
  ? [[1920, 1080]]
  : process.argv.includes('--small')
    ? [[1024, 640]]
    : [
        [1024, 640],
        [1920, 1080],
      ];
const themes = process.argv.includes('--dark') ? (['dark'] as const) : (['light', 'dark'] as const);
const browser = await launchChromium();
for (const theme of themes) {
  for (const [width, height] of sizes as [number, number][]) {
    for (const scenario of createScenarios()) {
      if (wanted.length > 0 && !wanted.includes(scenario.name)) continue;
      const shot = path.join(out, `${scenario.name}.${theme}.${width}.png`);
      try {
        const staged = await stage(browser, scenario, { theme, width, height });
        await staged.page.screenshot({ path: shot });
        if (staged.faults.length > 0) console.log(`${scenario.name} ${theme} ${width}:\n  ${staged.faults.join('\n  ')}`);
        await staged.close();
      } catch (error) {
        console.log(`${scenario.name} ${theme} ${width}: ${String(error).split('\n')[0]}`);
      }
    }
  }
}
await browser.close();
process.exit(0);
