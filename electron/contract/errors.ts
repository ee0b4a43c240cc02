/**
 * The closed list of error codes. A code exists only if somebody branches on it or shows it differently; nobody matches message text.
 * Every call in every door answers with a {@link Result}.
 */
export const ERROR_CODES = {
  usage: { severity: 'error', next: 'Correct the input and try again.' },
  bad_request: { severity: 'error', next: 'The client and the host do not fit together; reload, or update both.' },
  unauthorised: { severity: 'error', next: 'Open a fresh link: npx interlock link' },
  not_found: { severity: 'error', next: 'Check the id: npx interlock runs' },
  too_large: { severity: 'error', next: 'Ask for less at a time.' },
  busy: { severity: 'warning', next: 'Wait for the current change to end.' },
  other_scheduler: { severity: 'warning', next: 'Add --switch to change the scheduler once the current run is drained.' },
  invalid_scheduler: { severity: 'error', next: 'Change the named setting.' },
  budget_too_small: { severity: 'error', next: 'Raise the memory budget or lower the size of a partition.' },
  backend_unavailable: { severity: 'error', next: 'Choose another backend.' },
  prover_missing: { severity: 'error', next: 'Build the prover: npm start does it.' },
  prover_refused: { severity: 'error', next: 'Read the message of the prover.' },
  prover_lost: { severity: 'error', next: 'Nothing: the proofs go back to the head of the queue.' },
  crash_loop: { severity: 'error', next: 'Read the first error, mend it, then press Start.' },
  host_running: { severity: 'warning', next: 'Use the running host: npx interlock link' },
  no_host: { severity: 'error', next: 'Start one: npm start, or npx interlock serve' },
  read_only: { severity: 'error', next: 'This history cannot be written; see the message.' },
  newer_data: { severity: 'warning', next: 'Update Interlock, or choose another data folder.' },
  corrupt_data: { severity: 'error', next: 'The damaged file was kept beside the new one.' },
  journal_too_new: { severity: 'error', next: 'Update Interlock: the prover writes a newer journal.' },
  disk_full: { severity: 'error', next: 'Free space in the data folder.' },
  folder_unusable: { severity: 'error', next: 'Choose a folder that you own: --data-dir DIR' },
  port_taken: { severity: 'error', next: 'Choose another port: --port N' },
  params_missing: { severity: 'error', next: 'Put the file in place, or let the built-in circuits generate it.' },
  params_truncated: { severity: 'error', next: 'Copy the file again; it was left as it is.' },
  params_wrong_circuit: { severity: 'error', next: 'Use the params of this circuit; the file was left as it is.' },
  params_unreadable: { severity: 'error', next: 'Let the prover’s user read the file.' },
  params_bad_point: { severity: 'error', next: 'Copy the file again; it was left as it is.' },
  params_generate_failed: { severity: 'error', next: 'Read the message; the params folder must be writable.' },
  proof_invalid: { severity: 'error', next: 'A proof that does not verify points at hardware: run it again and compare.' },
  proof_failed: { severity: 'error', next: 'Read the first error of the proof.' },
  interrupted: { severity: 'warning', next: 'Nothing was lost; start again to go on.' },
  internal: { severity: 'error', next: 'This is a fault of Interlock; please report it with the detail.' },
} as const satisfies Record<string, { severity: 'warning' | 'error'; next: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface Failure {
  ok: false;
  code: ErrorCode;
  /** What happened and where, in one sentence for people. */
  message: string;
  /** Facts for the one who looks closer; never secrets. */
  detail?: Record<string, unknown>;
}
export type Result<T> = { ok: true; value: T } | Failure;

/** The error that rooms throw; it crosses boundaries as a {@link Failure}. */
export class InterlockError extends Error {
  readonly code: ErrorCode;
  readonly detail: Record<string, unknown> | undefined;
  constructor(code: ErrorCode, message: string, detail?: Record<string, unknown>) {
    super(message);
    this.name = 'InterlockError';
    this.code = code;
    this.detail = detail;
  }
}

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERROR_CODES, text);
}

/** Turns whatever was thrown into a {@link Failure}; a foreign error becomes `internal` and keeps its text in the detail. */
export function toFailure(error: unknown): Failure {
  if (error instanceof InterlockError) {
    return { ok: false, code: error.code, message: error.message, ...(error.detail ? { detail: error.detail } : {}) };
  }
  const text = error instanceof Error ? error.message : String(error);
  return { ok: false, code: 'internal', message: `Unexpected fault: ${text}` };
}

/** Unwraps a result on the client's side. */
export function unwrap<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new InterlockError(result.code, result.message, result.detail);
}

export function assertNever(value: never): never {
  throw new InterlockError('internal', `Unhandled case: ${JSON.stringify(value)}`);
}
