/** Where things are: the data folder and what lies in it, the configuration file, the host's socket. Follows XDG; relative XDG values are ignored. */
import { createHash } from 'node:crypto';
import { accessSync, chmodSync, constants, lstatSync, realpathSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { InterlockError } from '../contract/errors.ts';
import { visibleText } from '../contract/visible-text.ts';
import { makeFolder } from '../store/folder.ts';

type Environment = NodeJS.ProcessEnv;

function xdg(environment: Environment, name: string): string | null {
  const value = environment[name];
  return value !== undefined && isAbsolute(value) ? value : null;
}

function home(environment: Environment): string {
  const value = environment.HOME;
  return value !== undefined && isAbsolute(value) ? value : homedir();
}

export function defaultDataFolder(environment: Environment): string {
  return join(xdg(environment, 'XDG_DATA_HOME') ?? join(home(environment), '.local', 'share'), 'interlock');
}

export function configFile(environment: Environment): string {
  return join(xdg(environment, 'XDG_CONFIG_HOME') ?? join(home(environment), '.config'), 'interlock', 'config.toml');
}

/** A folder as somebody typed it: relative to the working folder. */
export function resolveFolder(given: string): string {
  return resolve(given);
}

/** The socket of the host that holds this data folder. The same path for every program of this user. */
export function hostSocketPath(dataFolder: string, environment: Environment): string {
  const hash = createHash('sha256').update(realpathOr(dataFolder)).digest('hex').slice(0, 16);
  const runtime = xdg(environment, 'XDG_RUNTIME_DIR');
  if (runtime !== null && isUsableRuntime(runtime)) return join(runtime, 'interlock', `${hash}.sock`);
  const inside = join(realpathOr(dataFolder), 'host.sock');
  // A unix socket's path may have 107 bytes.
  if (Buffer.byteLength(inside) <= 107) return inside;
  return join(tmpdir(), `interlock-${process.getuid?.() ?? 0}`, `${hash}.sock`);
}

function isUsableRuntime(folder: string): boolean {
  try {
    const stat = statSync(folder);
    if (!stat.isDirectory() || stat.uid !== process.getuid?.() || Buffer.byteLength(folder) > 70) return false;
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The real path, also of a folder that is not there yet: then of the part above it that is. */
function realpathOr(folder: string): string {
  const whole = resolve(folder);
  try {
    return realpathSync(whole);
  } catch {
    return dirname(whole) === whole ? whole : join(realpathOr(dirname(whole)), basename(whole));
  }
}

/** Makes the folder (0700) if it is not there; refuses one that others own or may write to, or that cannot be written. */
export function preparePrivateFolder(folder: string): string {
  const told = visibleText(folder);
  if (folder.includes('\0')) throw unusable(told, 'its name holds a NUL');
  try {
    makeFolder(folder);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const reasons: Record<string, string> = {
      EACCES: 'this user may not make it',
      EPERM: 'this user may not make it',
      EROFS: 'the file system is read-only',
      ENOSPC: 'the file system is full',
      EEXIST: 'something that is no folder has that name',
      ENOTDIR: 'a part of its path is no folder',
      ENAMETOOLONG: 'its name is too long',
      ELOOP: 'its path goes round in symbolic links',
    };
    throw unusable(told, reasons[code ?? ''] ?? String(code ?? error));
  }
  const stat = statSync(folder);
  if (!stat.isDirectory()) throw unusable(told, 'it is no folder');
  if (stat.uid !== process.getuid?.()) throw unusable(told, `it belongs to another user (uid ${stat.uid})`);
  if (stat.mode & 0o022) throw unusable(told, `others may write to it (mode ${(stat.mode & 0o777).toString(8)}); chmod 700 mends it`);
  if (stat.mode & 0o077 && !lstatSync(folder).isSymbolicLink()) {
    try {
      chmodSync(folder, 0o700);
    } catch {
      // A read-only file system cannot be mended; it is told by whoever has to write.
    }
  }
  return realpathSync(folder);
}

function unusable(folder: string, why: string): InterlockError {
  return new InterlockError('folder_unusable', `The folder ${folder} cannot be used: ${why}.`, { folder });
}

/** What lies in the data folder, besides the database. */
export function dataLayout(dataFolder: string) {
  return {
    proofs: join(dataFolder, 'proofs'),
    processes: join(dataFolder, 'processes'),
    params: join(dataFolder, 'params'),
    active: join(dataFolder, 'active.json'),
    stageHistory: join(dataFolder, 'stage-history.json'),
    token: join(dataFolder, 'web-token'),
  };
}
export type DataLayout = ReturnType<typeof dataLayout>;
