/**
 * The built page as a map from request path to bytes. The map comes from a list made at build time (build/shell-manifest.mjs); a request
 * path is looked up in it and never joined to a folder, so there is nothing to traverse.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { InterlockError } from '../contract/errors.ts';
import { CONTENT_TYPES } from './page-policy.ts';

export interface ShellFile {
  bytes: Buffer;
  type: string;
  /** Strong entity tag, quoted. */
  etag: string;
  /** True where the name holds the content's hash: it may be kept for ever. */
  immutable: boolean;
}

/** `/` is the page itself; every other key is the path of a file. */
export type Shell = ReadonlyMap<string, ShellFile>;

export const MANIFEST_NAME = 'shell-manifest.json';

const ManifestSchema = v.strictObject({
  files: v.pipe(
    v.array(
      v.strictObject({
        /** Relative, plain: no dot segment, nothing to decode. */
        path: v.pipe(v.string(), v.regex(/^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*$/)),
        sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
        size: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(32 * 2 ** 20)),
      }),
    ),
    v.maxLength(2000),
  ),
});
export type ShellManifest = v.InferOutput<typeof ManifestSchema>;

/** A shell from files in memory: path without leading slash → bytes. */
export function createShell(files: Iterable<readonly [string, Buffer]>): Shell {
  const shell = new Map<string, ShellFile>();
  for (const [name, bytes] of files) {
    const type = CONTENT_TYPES[path.posix.extname(name)];
    if (!type) continue;
    const etag = `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"`;
    shell.set(name === 'index.html' ? '/' : `/${name}`, { bytes, type, etag, immutable: name.startsWith('assets/') });
  }
  return shell;
}

/** Reads the page that was built into `folder`. Fails with `folder_unusable` if it is not there, or is not what was built. */
export function loadShell(folder: string): Shell {
  let manifest: ShellManifest;
  try {
    manifest = v.parse(ManifestSchema, JSON.parse(readFileSync(path.join(folder, MANIFEST_NAME), 'utf8')));
  } catch {
    throw new InterlockError('folder_unusable', `The page is not built in ${folder}; npm start builds it.`, { folder });
  }
  return createShell(
    manifest.files.map((file) => {
      const bytes = readFileSync(path.join(folder, ...file.path.split('/')));
      if (createHash('sha256').update(bytes).digest('hex') !== file.sha256) {
        throw new InterlockError(
          'folder_unusable',
          `${file.path} in ${folder} is not the file that was built; npm start builds it again.`,
          { folder },
        );
      }
      return [file.path, bytes] as const;
    }),
  );
}
