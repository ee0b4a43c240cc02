/**
 * Where an export is written: a file or a folder that is there whole or not at all. Everything goes into a temporary neighbour, which takes
 * the name at the end; whatever comes in between leaves nothing. A device or a pipe is written as it is.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, mkdir, open, readdir, realpath, rename, rm, stat, unlink, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { InterlockError } from '../../contract/errors.ts';
import { visibleText } from '../../contract/visible-text.ts';
import { usage } from './arguments.ts';

export interface TargetPlan {
  /** As asked for. */
  path: string;
  /** Suggested by the export, for a folder that was named for a single file. */
  name: string;
  /** Names of the files inside; one nameless for a single file. */
  files: readonly string[];
  force: boolean;
}

export interface Target {
  /** Where it will be. */
  readonly path: string;
  write(file: number, bytes: Uint8Array): Promise<void>;
  /** Gives it its name. */
  finish(): Promise<void>;
  /** Takes away what was written. Does nothing after {@link finish}. */
  abandon(): Promise<void>;
}

/** Fails with `usage` where something is there already, before anything is written. */
export async function openTarget(plan: TargetPlan): Promise<Target> {
  const isFolder = plan.files.length > 1 || plan.files[0] !== '';
  try {
    return isFolder ? await openFolder(plan) : await openFile(plan);
  } catch (error) {
    throw explain(error, plan.path);
  }
}

async function openFile(plan: TargetPlan): Promise<Target> {
  let wanted = path.resolve(plan.path);
  let found = await stat(wanted).catch(() => null);
  if (found?.isDirectory()) {
    wanted = path.join(wanted, plan.name);
    found = await stat(wanted).catch(() => null);
  }
  if (found && !found.isFile()) return openStream(wanted);
  if (found) wanted = await realpath(wanted);
  if (found && !plan.force) throw refusal(wanted);
  const temp = tempBeside(wanted);
  const file = await open(temp, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o666);
  let isOver = false;
  return {
    path: wanted,
    write: (_file, bytes) => writeAll(file, bytes, wanted),
    async finish() {
      await file.sync();
      await file.close();
      await takeName(temp, wanted, plan.force);
      isOver = true;
      await syncFolder(path.dirname(wanted));
    },
    async abandon() {
      if (isOver) return;
      isOver = true;
      await file.close().catch(() => undefined);
      await unlink(temp).catch(() => undefined);
    },
  };
}

/** A terminal, a pipe, /dev/null: nothing to rename. */
async function openStream(wanted: string): Promise<Target> {
  if ((await stat(wanted)).isDirectory()) throw usage(`${visibleText(wanted)} is a folder.`);
  const file = await open(wanted, constants.O_WRONLY);
  const close = () => file.close().catch(() => undefined);
  return { path: wanted, write: (_file, bytes) => writeAll(file, bytes, wanted), finish: close, abandon: close };
}

async function openFolder(plan: TargetPlan): Promise<Target> {
  const wanted = path.resolve(plan.path);
  await requireReplaceable(wanted, plan);
  const temp = tempBeside(wanted);
  await mkdir(temp);
  let current: { file: number; handle: FileHandle } | null = null;
  let isOver = false;
  const closeCurrent = async (sync: boolean) => {
    const handle = current?.handle;
    current = null;
    if (sync) await handle?.sync();
    await handle?.close();
  };
  return {
    path: wanted,
    async write(file, bytes) {
      try {
        if (current?.file !== file) {
          await closeCurrent(true);
          const name = plan.files[file];
          // Names come from the host; none may lead out of the folder.
          if (name === undefined || name === '' || name !== path.basename(name))
            throw new InterlockError('bad_request', 'The export names no such file.');
          current = { file, handle: await open(path.join(temp, name), 'wx', 0o666) };
        }
      } catch (error) {
        throw explain(error, wanted);
      }
      await writeAll(current.handle, bytes, wanted);
    },
    async finish() {
      await closeCurrent(true);
      await syncFolder(temp);
      await swapFolder(temp, wanted, plan);
      isOver = true;
      await syncFolder(path.dirname(wanted));
    },
    async abandon() {
      if (isOver) return;
      isOver = true;
      await closeCurrent(false).catch(() => undefined);
      await rm(temp, { recursive: true, force: true });
    },
  };
}

/** An empty folder may be used; a full one only with `--force`, and only if an earlier export is all that it holds. */
async function requireReplaceable(wanted: string, plan: TargetPlan): Promise<void> {
  const found = await lstat(wanted).catch(() => null);
  if (!found) return;
  if (!found.isDirectory()) throw usage(`${visibleText(wanted)} is there already and is no folder; this export is a folder.`);
  const entries = await readdir(wanted, { withFileTypes: true });
  if (entries.length === 0) return;
  if (!plan.force) throw refusal(wanted);
  const other = entries.find((entry) => !entry.isFile() || !isOurs(entry.name, plan.files));
  if (other) throw usage(`${visibleText(path.join(wanted, other.name))} is not from an export; the folder is left as it is.`);
}

/** The number of a trace's parts may differ from last time. */
function isOurs(name: string, files: readonly string[]): boolean {
  return files.includes(name) || (/^interlock-.+-\d+\.trace\.json$/.test(name) && files.some((file) => file.endsWith('.trace.json')));
}

async function swapFolder(temp: string, wanted: string, plan: TargetPlan): Promise<void> {
  // Somebody may have come meanwhile.
  await requireReplaceable(wanted, plan);
  const found = await lstat(wanted).catch(() => null);
  if (!found || (await readdir(wanted)).length === 0) return rename(temp, wanted);
  const old = tempBeside(wanted);
  await rename(wanted, old);
  try {
    await rename(temp, wanted);
  } catch (error) {
    await rename(old, wanted);
    throw error;
  }
  await rm(old, { recursive: true, force: true });
}

/** `link` fails where the name is taken, which `rename` would not. */
async function takeName(temp: string, wanted: string, force: boolean): Promise<void> {
  if (force) return rename(temp, wanted);
  try {
    await link(temp, wanted);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw refusal(wanted);
    // A stick or a share without hard links.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code)) throw error;
    if (await lstat(wanted).catch(() => null)) throw refusal(wanted);
    return rename(temp, wanted);
  }
  await unlink(temp);
}

async function writeAll(file: FileHandle, bytes: Uint8Array, wanted: string): Promise<void> {
  try {
    for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
  } catch (error) {
    throw explain(error, wanted);
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  await handle.sync().finally(() => handle.close());
}

function tempBeside(wanted: string): string {
  return path.join(path.dirname(wanted), `.${path.basename(wanted).slice(0, 120)}.${randomBytes(6).toString('hex')}.tmp`);
}

function refusal(wanted: string): InterlockError {
  return usage(`${visibleText(wanted)} is there already; --force overwrites it.`);
}

export function explain(error: unknown, wanted: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof InterlockError || code === undefined) return error;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new InterlockError('disk_full', `${visibleText(wanted)} cannot be written: no space is left.`);
  return new InterlockError('folder_unusable', `${visibleText(wanted)} cannot be written (${code}).`);
}
