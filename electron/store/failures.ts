/** SQLite's errors in the contract's words. */
import { InterlockError, toFailure, type Failure } from '../contract/errors.ts';
import { codeOf, explainUnwritable, isDamage } from './open.ts';

export function toStoreFailure(error: unknown, folder: string): Failure {
  if (error instanceof InterlockError) return toFailure(error);
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const unwritable = explainUnwritable(error, folder);
  if (unwritable) return { ok: false, ...unwritable };
  if (isDamage(error)) return { ok: false, code: 'corrupt_data', message: `The history in ${folder} is damaged: ${message}` };
  if (code.startsWith('SQLITE_BUSY')) return { ok: false, code: 'busy', message: `Another program holds the history in ${folder} locked.` };
  if (code.startsWith('SQLITE_IOERR')) return { ok: false, code: 'read_only', message: `The disk under ${folder} answers with errors (${code}).` };
  return toFailure(error);
}
