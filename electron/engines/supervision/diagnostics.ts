/**
 * From an exit code, a signal and the last line of stderr to plain words. Nobody branches on the words; they branch on {@link EndReason}.
 */
import { visibleText } from '../../contract/visible-text.ts';

/**
 * - `finished`: drained or stopped as asked (exit 0)       - `refused`: would not start (exit 2, 3)
 * - `deadline`: its own drain deadline passed (exit 5)     - `failed`: exit 1, or 0 although nobody asked
 * - `panicked`: a bug of the prover (101)                  - `killed_by_us` / `killed`: by a signal, ours or somebody else's
 * - `crashed`: SIGSEGV and its like                        - `gone`: adopted, so no exit code could be had
 */
export type EndReason = 'finished' | 'refused' | 'deadline' | 'failed' | 'panicked' | 'killed_by_us' | 'killed' | 'crashed' | 'gone';

export interface EndFacts {
  exit: number | null;
  signal: string | null;
  /** We asked it to end (drain, stop). */
  asked: boolean;
  /** The last signal that we ourselves sent. */
  sentByUs: string | null;
  lastLine: string | null;
  /** Exit code in the journal's `bye`, for a process whose parent we are not. */
  byeExit?: number | null;
}

const FAULTS = new Set(['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGABRT', 'SIGSYS', 'SIGTRAP']);
const SIGNAL_NUMBERS: Record<string, number> = {
  SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGILL: 4, SIGTRAP: 5, SIGABRT: 6, SIGBUS: 7, SIGFPE: 8, SIGKILL: 9, SIGUSR1: 10, SIGSEGV: 11,
  SIGUSR2: 12, SIGPIPE: 13, SIGALRM: 14, SIGTERM: 15, SIGXCPU: 24, SIGXFSZ: 25, SIGSYS: 31,
}; // prettier-ignore

/** What the end amounts to, and one sentence about it. */
export function describeEnd(facts: EndFacts): { reason: EndReason; message: string } {
  const said = facts.lastLine ? `; it said: ${visibleText(facts.lastLine).slice(0, 400)}` : '';
  const { signal } = facts;
  if (signal !== null) {
    const name = `signal ${SIGNAL_NUMBERS[signal] ?? '?'} (${signal})`;
    if (facts.sentByUs === signal) return { reason: 'killed_by_us', message: `ended by ${name}, sent by Interlock` };
    if (signal === 'SIGKILL') {
      return { reason: 'killed', message: 'killed by signal 9, not by us: killed by someone else (kernel out-of-memory likely)' };
    }
    if (FAULTS.has(signal)) return { reason: 'crashed', message: `crashed with ${name}${said}` };
    return { reason: 'killed', message: `ended by ${name}, sent by someone else` };
  }
  const exit = facts.exit ?? facts.byeExit ?? null;
  switch (exit) {
    case null:
      return { reason: 'gone', message: 'is gone; how it ended is not known, because an earlier host had started it' };
    case 0:
      if (facts.asked) return { reason: 'finished', message: 'ended as asked' };
      return { reason: 'failed', message: `ended by itself with code 0 although nobody had asked${said}` };
    case 2:
      return { reason: 'refused', message: `refused its arguments (code 2)${said}` };
    case 3:
      return { reason: 'refused', message: `refused to start (code 3)${said}` };
    case 5:
      return { reason: 'deadline', message: 'its drain took longer than its deadline; what was started is lost work (code 5)' };
    case 101:
      return { reason: 'panicked', message: `stopped at a fault of its own (code 101)${said}` };
    default:
      return { reason: 'failed', message: `failed with code ${exit}${said}` };
  }
}

/** Why a program could not be started at all. */
export function describeSpawnError(error: NodeJS.ErrnoException, binary: string): string {
  const reasons: Record<string, string> = {
    ENOENT: 'the file, or the interpreter or loader that it names, does not exist',
    EACCES: 'it may not be executed (mode, or a file system mounted noexec)',
    EMFILE: 'this process has too many open files (raise LimitNOFILE)',
    ENFILE: 'the system has too many open files',
    EAGAIN: 'the system has no room for another process (limit of processes reached)',
    ENOMEM: 'there is not enough memory to start it',
    ENOEXEC: 'it is not a program for this machine',
    E2BIG: 'its arguments and environment are too large',
    ETXTBSY: 'the file is being written right now',
  };
  const reason = reasons[error.code ?? ''] ?? error.message;
  return `The prover ${visibleText(binary)} could not be started: ${reason}${error.code ? ` (${error.code})` : ''}.`;
}
