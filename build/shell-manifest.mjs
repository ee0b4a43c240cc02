/**
 * Lists what vite built, once, at build time: path, size and hash of every file of the page. Both doors that show the page serve from
 * this list alone.   node build/shell-manifest.mjs [FOLDER]
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const MANIFEST_NAME = 'shell-manifest.json';

export function writeShellManifest(folder) {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name !== MANIFEST_NAME)
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .sort()
    .map((file) => {
      const bytes = readFileSync(file);
      return {
        path: path.relative(folder, file).split(path.sep).join('/'),
        sha256: createHash('sha256').update(bytes).digest('hex'),
        size: bytes.length,
      };
    });
  writeFileSync(path.join(folder, MANIFEST_NAME), `${JSON.stringify({ files }, null, 2)}\n`);
  return files;
}

/** Vite’s part of it: whoever builds the page, the list is made anew with it. */
export function shellManifest() {
  return { name: 'shell-manifest', apply: 'build', writeBundle: { order: 'post', handler: ({ dir }) => void writeShellManifest(dir) } };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] ?? path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../out/renderer');
  console.log(`${writeShellManifest(folder).length} files listed in ${path.join(folder, MANIFEST_NAME)}`);
}
