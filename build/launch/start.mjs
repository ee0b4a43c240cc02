/**
 * `npm start`: from a bare checkout to a page in front of the operator. With a display and Electron's binary that is the window;
 * otherwise the same page on loopback, with the reason. Arguments go to `interlock serve` (--port, --data-dir, --no-first-proof …);
 * its own: --headless (never a window), --fetch-window (ask for Electron's binary again), --help.
 */
import path from 'node:path';
import { CURES, ensure, findProgram, handOver, launch, Missing, NODE, PROVER, ROOT, say, seconds } from './bootstrap.mjs';
import { obtainElectron } from './electron-binary.mjs';
import { existsSync } from 'node:fs';

const OWN = new Set(['--headless', '--fetch-window']);

/** Why there is no window here, or null where there may be one. */
function windowObstacle(flags) {
  if (flags.has('--headless')) return 'asked for with --headless';
  if (!process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return 'there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)';
  if (process.getuid?.() === 0) {
    return 'this is root, and a window as root would run without its sandbox; as the service’s own user there can be one';
  }
  return null;
}

/** The built prover needs two programs of this machine; say all that is missing at once, and the way out. */
function needBuildTools() {
  if (existsSync(PROVER)) return;
  const missing = ['cargo', 'cc'].filter((program) => !findProgram(program)).map((program) => CURES[program]);
  if (missing.length === 0) return;
  throw new Missing(
    [
      'The prover cannot be built here.',
      ...missing.map((line) => `  ${line}`),
      'Without them a recorded run can be looked at: npm run dev:replay',
    ].join('\n'),
  );
}

await launch(async (argv) => {
  const begun = performance.now();
  const flags = new Set(argv.filter((argument) => OWN.has(argument)));
  const rest = argv.filter((argument) => !OWN.has(argument));
  if (rest.includes('--help') || rest.includes('-h')) {
    say(
      'npm start -- [--headless] [--fetch-window] [--port N] [--data-dir DIR] [--no-first-proof] …   (the rest: npx interlock serve --help)',
    );
    return 0;
  }
  say('Interlock');
  needBuildTools();
  let obstacle = windowObstacle(flags);
  await ensure(obstacle ? ['prover', 'renderer'] : ['prover', 'renderer', 'window']);
  if (!obstacle) {
    const { binary, reason } = await obtainElectron({ again: flags.has('--fetch-window') });
    if (binary) {
      say(`  ready, ${seconds(begun)}; opening the window`);
      return handOver(binary, [ROOT, ...rest]);
    }
    obstacle = reason;
  }
  say(`  ready, ${seconds(begun)}`);
  say(`  No window: ${obstacle}. The same page is served to a browser on this machine instead.`);
  return handOver(NODE, [path.join('electron', 'headless.ts'), 'serve', '--first-proof', ...rest]);
});
