/**
 * Bundles the window's two scripts, main and preload, to CommonJS in out/window, and (for a package) the host's sources, file by file,
 * to out/app: the same modules in the same folders, so that worker threads find theirs.
 *
 *   node build/bundle.mjs            out/window
 *   node build/bundle.mjs --package  out/window and out/app
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';
import { listSources } from './sources.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** CommonJS and no top-level await: what runs before `ready` must run before `ready`. */
export const BUNDLE = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  // The smoke test runs the same bundles in an old Electron with Node 16.
  target: 'node16',
  external: ['electron'],
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
};

export async function bundleWindow(out = path.join(ROOT, 'out/window')) {
  rmSync(out, { recursive: true, force: true });
  const result = await build({
    ...BUNDLE,
    absWorkingDir: ROOT,
    entryPoints: { main: 'electron/main.ts', preload: 'electron/preload.ts' },
    outdir: out,
    outExtension: { '.js': '.cjs' },
  });
  return result.metafile;
}

/** `./x.ts` → `./x.mjs` wherever a module names another: imports, and the URLs of worker threads. */
function renameImports(code) {
  return code.replace(/(["'])(\.{1,2}\/[^"'\n]+)\.ts\1/g, '$1$2.mjs$1');
}

/** The host's sources as plain modules, for a package: Electron's Node is not asked to strip types. */
export async function transpileHost(out = path.join(ROOT, 'out/app')) {
  rmSync(out, { recursive: true, force: true });
  const files = listSources(ROOT, ['.ts']).filter((file) => /^electron\/(?!main\.ts|preload\.ts|doors\/window\/)/.test(file));
  for (const file of files) {
    const { code } = await transform(readFileSync(path.join(ROOT, file), 'utf8'), {
      loader: 'ts',
      format: 'esm',
      target: 'node24',
      charset: 'utf8',
    });
    const target = path.join(out, file.replace(/\.ts$/, '.mjs'));
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, renameImports(code));
  }
  // The host reads its version beside its modules.
  copyFileSync(path.join(ROOT, 'package.json'), path.join(out, 'package.json'));
  return files.length;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bundleWindow();
  if (process.argv.includes('--package')) console.log(`${await transpileHost()} modules of the host in out/app`);
}
