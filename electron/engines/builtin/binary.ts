/**
 * Which file is run as the prover, and whether it may be. Only fixed places and one absolute override are looked at, never PATH; the file
 * and every folder above it must be such that nobody but root and this user can change what would run.
 */
import { accessSync, constants, lstatSync, realpathSync, statSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, normalize, resolve } from 'node:path';
import { InterlockError } from '../../contract/errors.ts';
import { visibleText } from '../../contract/visible-text.ts';

export const BINARY_NAME = 'interlock-prover';

/** Where a prover may be: the override alone if there is one, else the package's resources, else the checkout's build. */
export function binaryCandidates(facts: { override: string | null; resourcesFolder: string | null; checkout: string | null }): string[] {
  if (facts.override !== null && facts.override !== '') return [facts.override];
  const places: string[] = [];
  if (facts.resourcesFolder) places.push(join(facts.resourcesFolder, BINARY_NAME));
  if (facts.checkout) places.push(join(facts.checkout, 'native', 'target', 'release', BINARY_NAME));
  return places;
}

/** The checkout that this source file belongs to (three folders up). */
export function checkoutFolder(): string {
  return resolve(import.meta.dirname, '..', '..', '..');
}

/** Every reason why this file must not be run; empty when it may. */
export function binaryFaults(path: string, uid: number = process.getuid?.() ?? 0): string[] {
  if (path.includes('\0')) return ['its path holds a NUL'];
  if (!isAbsolute(path)) return ['its path is not absolute'];
  if (normalize(path) !== path || path.endsWith('/')) return ['its path is not in its plain form (. or .. or // in it)'];
  let stat: Stats;
  try {
    stat = lstatSync(path);
  } catch (error) {
    return [(error as NodeJS.ErrnoException).code === 'ENOENT' ? 'it does not exist' : `it cannot be looked at (${codeOf(error)})`];
  }
  const faults: string[] = [];
  if (stat.isSymbolicLink() || realpathSafe(path) !== path) {
    return [`it is reached through a symbolic link (it really is ${visibleText(realpathSafe(path) ?? 'nowhere')})`];
  }
  if (stat.isDirectory()) return ['it is a folder'];
  if (!stat.isFile()) return ['it is not a regular file'];
  const mine = (owner: number) => owner === 0 || owner === uid;
  if (!mine(stat.uid)) faults.push(`it belongs to another user (uid ${stat.uid})`);
  if (stat.mode & 0o022) faults.push(`others may write to it (mode ${octal(stat)})`);
  if (stat.mode & 0o6000) faults.push(`it is setuid or setgid (mode ${octal(stat)})`);
  try {
    accessSync(path, constants.X_OK);
  } catch {
    faults.push(`it may not be executed (mode ${octal(stat)})`);
  }
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const above = statSync(folder);
    // In a sticky folder (/tmp) others cannot rename or remove what they do not own.
    if (above.mode & 0o022 && !(above.mode & 0o1000))
      faults.push(`others may write to its folder ${visibleText(folder)} (mode ${octal(above)})`);
    if (!mine(above.uid)) faults.push(`its folder ${visibleText(folder)} belongs to another user (uid ${above.uid})`);
    if (folder === dirname(folder)) break;
  }
  return faults;
}

/** The first candidate that may be run; otherwise `prover_missing`, naming each place and each reason. */
export function findBinary(candidates: string[]): string {
  const told: string[] = [];
  for (const path of candidates) {
    const faults = binaryFaults(path);
    if (faults.length === 0) return path;
    told.push(`${visibleText(path)}: ${faults.join('; ')}`);
  }
  throw new InterlockError('prover_missing', `No prover can be run. ${told.join('. ') || 'No place to look at is known.'}`, {
    tried: candidates,
  });
}

function realpathSafe(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function octal(stat: Stats): string {
  return (stat.mode & 0o7777).toString(8).padStart(4, '0');
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
