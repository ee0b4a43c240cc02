/** From an error code to the exit code: the same for every command. */
import type { ErrorCode } from '../../contract/errors.ts';

export const EXIT = { ok: 0, failed: 1, usage: 2, refused: 3, invalid: 4, interrupted: 130 } as const;

/** Codes that say: nothing was begun, because something is not as it must be. */
const REFUSED: ReadonlySet<string> = new Set<ErrorCode>([
  'other_scheduler', 'busy', 'invalid_scheduler', 'budget_too_small', 'backend_unavailable', 'prover_missing', 'prover_refused',
  'host_running', 'read_only', 'newer_data', 'disk_full', 'folder_unusable', 'port_taken', 'params_missing', 'params_truncated',
  'params_wrong_circuit', 'params_unreadable', 'params_bad_point', 'params_generate_failed',
]); // prettier-ignore

export function exitCodeOf(code: string): number {
  if (code === 'usage' || code === 'bad_request') return EXIT.usage;
  if (code === 'proof_invalid') return EXIT.invalid;
  if (code === 'interrupted') return EXIT.interrupted;
  return REFUSED.has(code) ? EXIT.refused : EXIT.failed;
}

/** True where a proof's error means that its run could not begin. */
export function isRefusal(code: string): boolean {
  return REFUSED.has(code);
}
