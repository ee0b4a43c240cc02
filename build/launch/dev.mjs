/**
 * `npm run dev`: the real host and prover, and the page from vite with hot reload. The page’s own origin is vite’s; the web door learns of
 * it as its public origin, so every guard stays on, and vite passes calls and the live feed through.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { ensure, launch, NODE, ROOT, say } from './bootstrap.mjs';

const PAGE_PORT = Number(process.env.INTERLOCK_DEV_PORT ?? 9760);
const HOST_PORT = PAGE_PORT + 1;

/** Starts `serve` with the arguments, and vite in front of it; ends when either ends. */
export async function develop(serveArguments, env = {}) {
  const origin = `http://127.0.0.1:${PAGE_PORT}`;
  const host = spawn(
    NODE,
    [path.join('electron', 'headless.ts'), 'serve', '--port', String(HOST_PORT), '--public-origin', origin, ...serveArguments],
    {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: 'inherit',
    },
  );
  const page = spawn(NODE, ['build/dev-server.mjs', String(PAGE_PORT), String(HOST_PORT)], { cwd: ROOT, stdio: 'inherit' });
  const children = [host, page];
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      if (!process.stdin.isTTY || signal !== 'SIGINT') children.forEach((child) => child.kill(signal));
    });
  }
  return new Promise((resolve) => {
    for (const child of children) {
      child.on('exit', (code) => {
        children.filter((other) => other !== child).forEach((other) => other.kill('SIGTERM'));
        resolve(code ?? 1);
      });
    }
  });
}

if (process.argv[1] === path.join(ROOT, 'build/launch/dev.mjs')) {
  await launch(async (argv) => {
    // The door wants a built page, though this one is vite’s.
    await ensure(['prover', 'renderer']);
    say(`  hot reload at http://127.0.0.1:${PAGE_PORT}; open the link below`);
    return develop(argv);
  });
}
