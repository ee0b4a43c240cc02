/** The built-in engine: finds the prover's binary, starts processes of it and picks up living ones. */
import { execFile, spawn } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { sleep, type Clock } from '../../contract/clock.ts';
import { InterlockError, isErrorCode } from '../../contract/errors.ts';
import { visibleText } from '../../contract/visible-text.ts';
import type { AttachAnswer, Engine, ProcessIdentity, ProverProcess, StartOptions, VerifyAnswer } from '../engine.ts';
import { describeEnd, describeSpawnError } from '../supervision/diagnostics.ts';
import type { LadderDeadlines, LadderStep } from '../supervision/ladder.ts';
import { readBootId, readStat, stateOf } from '../supervision/proc.ts';
import { serveArguments, socketPath, verifyArguments } from './arguments.ts';
import { findBinary } from './binary.ts';
import { CommandSocket } from './command-socket.ts';
import { proverEnvironment } from './environment.ts';
import { BuiltinProcess } from './process.ts';

export interface BuiltinOptions {
  clock: Clock;
  /** Places to look for the binary, in order. */
  candidates: string[];
  environment: NodeJS.ProcessEnv;
  libraryPath?: string;
  /** How long a new process may take until its command socket answers. */
  startMs?: number;
  ladder?: LadderDeadlines;
  onStep?: (process: string, step: LadderStep) => void;
}

const CONNECT_EVERY_MS = 20;
const RELINK_DEADLINE_MS = 10_000;

/** Somebody else answers on the socket: no use in trying again. */
class ForeignProcess extends InterlockError {}

export function createBuiltinEngine(options: BuiltinOptions): Engine {
  const { clock } = options;
  const env = () => proverEnvironment(options.environment, options.libraryPath === undefined ? {} : { libraryPath: options.libraryPath });
  const deps = (process: string) => ({
    clock,
    ...(options.ladder ? { ladder: options.ladder } : {}),
    onStep: (step: LadderStep) => options.onStep?.(process, step),
  });

  /** Connects and attaches, once. */
  async function link(identity: ProcessIdentity, deadlineMs: number): Promise<[CommandSocket, AttachAnswer]> {
    const path = socketPath(identity.folder, identity.process);
    const socket = await CommandSocket.connect(path, clock);
    try {
      const answer: AttachAnswer = await socket.request({ cmd: 'attach' }, deadlineMs);
      if (answer.process === identity.process && answer.pid === identity.pid) return [socket, answer];
      throw new ForeignProcess('prover_lost', `Another process answers at ${visibleText(path)} (pid ${answer.pid}).`);
    } catch (error) {
      socket.close();
      throw error;
    }
  }

  /** Links a process for the first time; retries until it is gone or the time is up. */
  async function attach(process_: BuiltinProcess, patienceMs: number): Promise<void> {
    const { identity } = process_;
    const from = clock.nowNs();
    let why = 'its command socket did not appear';
    while (process_.state() !== null && clock.nowNs() - from < patienceMs * 1e6) {
      try {
        const [socket, answer] = await link(identity, Math.max(1000, patienceMs));
        process_.useSocket(socket, answer, () => link(identity, RELINK_DEADLINE_MS));
        return;
      } catch (error) {
        if (error instanceof ForeignProcess) throw error;
        why = error instanceof Error ? error.message : String(error);
      }
      await sleep(clock, CONNECT_EVERY_MS);
    }
    throw new InterlockError('prover_lost', `The prover does not answer: ${visibleText(why)}.`);
  }

  async function start(start: StartOptions): Promise<ProverProcess> {
    const binary = findBinary(options.candidates);
    const child = spawn(binary, serveArguments(start), {
      cwd: start.folder,
      env: env(),
      shell: false,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // ENOENT and its like come as `error` without `exit`.
    const failed = new Promise<NodeJS.ErrnoException>((resolve) => child.once('error', resolve));
    if (child.pid === undefined) {
      const error = await failed;
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      throw new InterlockError('prover_missing', describeSpawnError(error, binary), { binary });
    }
    const startTicks = readStat(child.pid)?.startTicks ?? '0';
    const identity: ProcessIdentity = { process: start.process, folder: start.folder, pid: child.pid, startTicks, bootId: readBootId() };
    const process_ = new BuiltinProcess(identity, child, deps(start.process));
    try {
      await attach(process_, options.startMs ?? 60_000);
      return process_;
    } catch (error) {
      if (process_.state() !== null) await process_.end('now', 0);
      const end = await process_.ended;
      const said = lastWords(process_.stderr().text);
      if (end.reason === 'finished' || end.reason === 'killed_by_us') throw error;
      throw new InterlockError('prover_refused', `The prover did not start: it ${end.message}.`, {
        binary,
        exit: end.exit,
        signal: end.signal,
        stderr: said,
        prover_code: codeIn(said),
        reason: end.reason,
      });
    }
  }

  async function adopt(identity: ProcessIdentity, patienceMs: number): Promise<ProverProcess | null> {
    if (identity.bootId !== readBootId() || stateOf(identity) === null || !ownFolder(identity.folder)) return null;
    const process_ = new BuiltinProcess(identity, null, deps(identity.process));
    try {
      await attach(process_, patienceMs);
      return process_;
    } catch {
      process_.release();
      return null;
    }
  }

  return {
    name: 'builtin',
    findBinary: () => Promise.resolve().then(() => findBinary(options.candidates)),
    start,
    adopt,
    async endOrphan(identity) {
      if (identity.bootId !== readBootId() || stateOf(identity) === null) return [];
      const process_ = new BuiltinProcess(identity, null, deps(identity.process));
      const steps = await process_.end('hung', 0);
      process_.release();
      return steps;
    },
    async verify(file: string, paramsFolder: string): Promise<VerifyAnswer> {
      const ran = await runOnce(findBinary(options.candidates), verifyArguments(file, paramsFolder), env());
      const said = visibleText((lastWords(ran.stderr) || lastWords(ran.stdout)).slice(0, 1000));
      return { valid: ran.exit === 0, exit: ran.exit, message: said || (ran.exit === 0 ? 'The proof is valid.' : ran.message) };
    },
    async version() {
      const ran = await runOnce(findBinary(options.candidates), ['version'], env());
      return visibleText(ran.stdout.trim().slice(0, 200));
    },
  };
}

function ownFolder(folder: string): boolean {
  try {
    const stat = lstatSync(folder);
    return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
  } catch {
    return false;
  }
}

function lastWords(text: string): string {
  return text.trimEnd().split('\n').slice(-5).join('\n').trim();
}

/** The prover writes a code of the closed list at the head of its last line, where it has one. */
function codeIn(text: string): string | null {
  for (const word of text.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []) if (isErrorCode(word)) return word;
  return null;
}

function runOnce(
  binary: string,
  given: string[],
  env: Record<string, string>,
): Promise<{ exit: number | null; stdout: string; stderr: string; message: string }> {
  return new Promise((resolve) => {
    execFile(binary, given, { env, shell: false, maxBuffer: 2 ** 20, encoding: 'utf8' }, (error, stdout, stderr) => {
      if (!error) return resolve({ exit: 0, stdout, stderr, message: '' });
      const exit = typeof error.code === 'number' ? error.code : null;
      const signal = error.signal ?? null;
      const lastLine = lastWords(stderr) || null;
      const message =
        exit === null && signal === null
          ? describeSpawnError(error as unknown as NodeJS.ErrnoException, binary)
          : `The prover ${describeEnd({ exit, signal, asked: false, sentByUs: null, lastLine }).message}.`;
      resolve({ exit, stdout, stderr, message });
    });
  });
}
