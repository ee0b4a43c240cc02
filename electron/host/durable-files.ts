/** Files that are wholly there or not at all, also after a power cut: temp (0600, exclusive), fsync, rename, fsync of the folder. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, open, rename, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** `replace: false` refuses (EEXIST) when the target is there, without a gap in which it could be overwritten. */
export async function writeDurably(path: string, bytes: Uint8Array | string, options: { replace: boolean }): Promise<void> {
  const temp = join(dirname(path), `.${basename(path).slice(0, 100)}.${randomBytes(6).toString('hex')}.tmp`);
  const file = await open(temp, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  try {
    await fillAndSync(file, bytes);
    if (options.replace) await rename(temp, path);
    else {
      await link(temp, path);
      await unlink(temp);
    }
  } catch (error) {
    await unlink(temp).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(path));
}

async function fillAndSync(file: FileHandle, bytes: Uint8Array | string): Promise<void> {
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
