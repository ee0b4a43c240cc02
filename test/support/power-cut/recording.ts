/** Compiles the recorder, runs a program under it, reads its log. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export type Op =
  | { kind: 'create' | 'sync' | 'syncFolder' | 'unlink'; path: string }
  | { kind: 'write'; path: string; offset: number; data: Buffer }
  | { kind: 'truncate'; path: string; length: number }
  | { kind: 'rename' | 'link'; path: string; to: string };

const KINDS: Record<string, Op['kind']> = {
  c: 'create',
  w: 'write',
  t: 'truncate',
  s: 'sync',
  d: 'syncFolder',
  u: 'unlink',
  r: 'rename',
  l: 'link',
};

/** Null where there is no C compiler. */
export function compileRecorder(folder: string): string | null {
  const source = fileURLToPath(new URL('./recorder.c', import.meta.url));
  const library = path.join(folder, 'recorder.so');
  const compiled = spawnSync('cc', ['-O1', '-shared', '-fPIC', '-Wall', '-o', library, source, '-ldl', '-lpthread'], { encoding: 'utf8' });
  if (compiled.error) return null;
  if (compiled.status !== 0) throw new Error(compiled.stderr);
  return library;
}

/** Paths come out relative to `watched`. */
export function recordProgram(library: string, watched: string, log: string, args: string[], environment: Record<string, string>): Op[] {
  execFileSync(process.execPath, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...environment, LD_PRELOAD: library, REC_FOLDER: watched, REC_LOG: log, UV_USE_IO_URING: '0', NODE_OPTIONS: '' },
  });
  return readLog(readFileSync(log), watched);
}

function readLog(bytes: Buffer, watched: string): Op[] {
  const ops: Op[] = [];
  for (let at = 0; at < bytes.length;) {
    const kind = KINDS[String.fromCharCode(bytes[at] ?? 0)];
    const pathLength = bytes.readUInt32LE(at + 1);
    const offset = Number(bytes.readBigUInt64LE(at + 5));
    const length = Number(bytes.readBigUInt64LE(at + 13));
    const name = bytes.toString('utf8', at + 21, at + 21 + pathLength);
    const data = bytes.subarray(at + 21 + pathLength, at + 21 + pathLength + length);
    at += 21 + pathLength + length;
    const relative = path.relative(watched, name);
    if (kind === 'write') ops.push({ kind, path: relative, offset, data });
    else if (kind === 'truncate') ops.push({ kind, path: relative, length: offset });
    else if (kind === 'rename' || kind === 'link') ops.push({ kind, path: relative, to: path.relative(watched, data.toString('utf8')) });
    else if (kind) ops.push({ kind, path: relative });
    else throw new Error('the log is damaged');
  }
  return ops;
}
