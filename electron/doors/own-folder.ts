/** The folder in which a door keeps its socket or its secret: this user's alone. */
import { lstatSync, mkdirSync } from 'node:fs';
import { InterlockError } from '../contract/errors.ts';

/** Makes the folder (0700; the one above it must be there), or takes it if it is ours alone. Fails with `folder_unusable`. */
export function prepareOwnFolder(folder: string, what: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.() || stat.mode & 0o022) {
    throw new InterlockError('folder_unusable', `The folder ${folder} of the host's ${what} is not this user's alone.`, { folder });
  }
}
