/** SQLite's errors in the contract's words. */
import { InterlockError, toFailure, type ErrorCode, type Failure } from '../contract/errors.ts';
import { codeOf, explainUnwritable, isDamage } from './open.ts';

export function toStoreFailure(error: unknown, folder: string): Failure {
  if (error instanceof InterlockError) return toFailure(error);
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const unwritable = explainUnwritable(error, folder);
  if (unwritable) return { ok: false, ...unwritable };
  if (isDamage(error)) return { ok: false, code: 'corrupt_data', message: `The history in ${folder} is damaged: ${message}` };
  if (code.startsWith('SQLITE_BUSY')) return { ok: false, code: 'busy', message: `Another program holds the history in ${folder} locked.` };
  if (code.startsWith('SQLITE_IOERR'))
    return { ok: false, code: 'read_only', message: `The disk under ${folder} answers with errors (${code}).` };
  return toFailure(error);
}

export interface FailedWrite {
  failing: { code: ErrorCode; message: string };
  /** The connection's view of the file cannot be trusted any more. */
  isPoison: boolean;
  isDamage: boolean;
}

/** What a write's failure means for the writing side. `internal`: nothing that the disk or another program did. */
export function explainFailedWrite(error: unknown, folder: string): FailedWrite {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const isPoison = code.startsWith('SQLITE_IOERR');
  const damaged = isDamage(error);
  const unwritable = explainUnwritable(error, folder);
  const failing = damaged
    ? { code: 'corrupt_data' as const, message: `The history is damaged (${message}); at the next start it is kept aside.` }
    : unwritable !== null
      ? unwritable
      : isPoison
        ? { code: 'read_only' as const, message: `The disk under ${folder} answers with errors (${code}).` }
        : code.startsWith('SQLITE_BUSY')
          ? { code: 'busy' as const, message: 'Another program holds the history locked.' }
          : { code: 'internal' as const, message: `The history cannot be written: ${message}` };
  return { failing, isPoison, isDamage: damaged };
}
