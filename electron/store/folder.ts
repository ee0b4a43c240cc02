/** The data folder itself: modes, file system type, names, and putting a damaged database aside. */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { InterlockError } from '../contract/errors.ts';

export const DATABASE_NAME = 'history.sqlite';
export const LOCK_NAME = 'host.lock';
/** Its presence means that a check found the database damaged; the next opening puts it aside. */
export const DAMAGED_NAME = 'history.sqlite.damaged';

/** `statfs` types on which WAL's shared memory cannot be relied on. */
const NETWORK_TYPES = new Map<number, string>([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x73757245, 'Coda'],
]);

/**
 * Makes the folder, or takes it as it is. Returns a warning about its mode, or null. Fails with `folder_unusable` on a network file
 * system or where the folder cannot be had.
 */
export function prepareFolder(folder: string, fileSystemType?: number): string | null {
  let warning: string | null = null;
  try {
    if (existsSync(folder)) warning = tightenFolder(folder);
    else makeFolder(folder);
  } catch (error) {
    throw new InterlockError('folder_unusable', `The data folder ${folder} cannot be used: ${(error as Error).message}`);
  }
  const type = (fileSystemType ?? statfsSync(folder).type) >>> 0;
  const name = NETWORK_TYPES.get(type);
  if (name !== undefined) {
    throw new InterlockError(
      'folder_unusable',
      `The data folder ${folder} is on ${name}. The history needs memory shared between processes and locks, which network file systems do not keep reliably.`,
      { type },
    );
  }
  return warning;
}

/**
 * Makes a folder (0700) and what is missing above it; one that is there is left alone. Level by level: where a parent cannot hold
 * folders (/proc), Node's own recursive way never returns.
 */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let at = path.resolve(folder); !existsSync(at); at = path.dirname(at)) missing.unshift(at);
  for (const level of missing) {
    try {
      mkdirSync(level, { mode: 0o700 });
    } catch (error) {
      // Somebody made it just now.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(level).isDirectory()) throw error;
    }
  }
}

/** A folder that is ours or empty is closed to others; a foreign one is left alone and told. */
function tightenFolder(folder: string): string | null {
  const stats = statSync(folder);
  if (!stats.isDirectory()) throw new Error('it is not a folder');
  if ((stats.mode & 0o077) === 0) return null;
  const names = readdirSync(folder);
  const ours = names.length === 0 || names.includes(DATABASE_NAME);
  if (ours) {
    try {
      chmodSync(folder, 0o700);
      return null;
    } catch {
      // Not the owner, or read-only: the history still works.
    }
  }
  return `The data folder ${folder} can be read by other users (mode ${(stats.mode & 0o777).toString(8)}).`;
}

/** The database's own files, `-wal` and `-shm` included, under a dated name beside it; never deleted. Returns the new name. */
export function moveAside(folder: string, wallMs: number): string {
  const stamp = new Date(wallMs).toISOString().replaceAll(':', '-').replace(/\..*/, 'Z');
  let aside = `damaged-${stamp}.sqlite`;
  for (let n = 2; existsSync(path.join(folder, aside)); n++) aside = `damaged-${stamp}-${n}.sqlite`;
  for (const suffix of ['', '-wal', '-shm']) {
    const from = path.join(folder, DATABASE_NAME + suffix);
    if (existsSync(from)) renameSync(from, path.join(folder, aside + suffix));
  }
  const marker = path.join(folder, DAMAGED_NAME);
  if (existsSync(marker)) renameSync(marker, path.join(folder, `${aside}.why`));
  syncFolder(folder);
  return aside;
}

/** Notes that the database was found damaged; the next opening puts it aside. */
export function writeMarker(folder: string, why: string): void {
  try {
    writeFileSync(path.join(folder, DAMAGED_NAME), why, { mode: 0o600 });
  } catch {
    // The next opening checks by itself.
  }
}

/** Names in a folder are durable only after this. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
