/** The prover's command line (native/timeline/FORMAT.md, section 7), built from checked values: no value can pass for a flag. */
import { isAbsolute, join } from 'node:path';
import { tmpdir } from 'node:os';
import { InterlockError } from '../../contract/errors.ts';
import { BACKENDS } from '../../contract/scheduler.ts';
import type { StartOptions } from '../engine.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const EMULATE = /^[a-z][a-z0-9_]*=[A-Za-z0-9._%+-]+(,[a-z][a-z0-9_]*=[A-Za-z0-9._%+-]+)*$/;

/** A unix socket's path may have 107 bytes. */
const SOCKET_PATH_MOST = 107;

export function serveArguments(options: StartOptions): string[] {
  if (!UUID.test(options.process)) throw refused('process', options.process);
  if (!(BACKENDS as readonly string[]).includes(options.backend)) throw refused('backend', options.backend);
  if (!Number.isInteger(options.graceS) || options.graceS < 1 || options.graceS > 7 * 86_400) throw refused('grace', options.graceS);
  const given = ['serve', '--process', options.process, '--folder', folder(options.folder), '--params', folder(options.paramsFolder)];
  given.push('--backend', options.backend);
  if (options.emulate !== null && options.emulate !== '') {
    if (!EMULATE.test(options.emulate) || options.emulate.length > 500) throw refused('emulate', options.emulate);
    given.push('--emulate', options.emulate);
  }
  given.push('--grace', String(options.graceS));
  const socket = socketPath(options.folder, options.process);
  if (socket !== join(options.folder, 'command.sock')) given.push('--socket', socket);
  return given;
}

export function verifyArguments(file: string, paramsFolder: string): string[] {
  return ['verify', '--params', folder(paramsFolder), folder(file)];
}

/** In the process's folder, or in the temporary folder where that path is too long for a socket. The same for every host. */
export function socketPath(processFolder: string, process: string): string {
  const inside = join(processFolder, 'command.sock');
  return Buffer.byteLength(inside) <= SOCKET_PATH_MOST ? inside : join(tmpdir(), `interlock-${process}.sock`);
}

/** Absolute, hence never beginning with `-`. */
function folder(path: string): string {
  if (!isAbsolute(path) || path.includes('\0')) throw refused('path', path);
  return path;
}

function refused(what: string, value: unknown): InterlockError {
  return new InterlockError('usage', `The prover cannot be started with ${what} ${JSON.stringify(value)}.`, { [what]: String(value) });
}
