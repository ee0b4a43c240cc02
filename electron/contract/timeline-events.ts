/**
 * The journal's lines as data: one table from which both the types and the strict decoder follow.
 * The specification is native/timeline/FORMAT.md; the same golden files are written by `cargo test` and decoded by vitest.
 *
 * A field kind names what is allowed:
 *   id       1-64 of [A-Za-z0-9._-]            uint     integer 0 … 2^53−1
 *   int      integer ±2^53−1                   decimal  integer as digits in a string, perhaps negative
 *   text     any string                        bool     true | false
 *   sha256   64 hex digits                     json     an object or array, checked by its own schema in formats/
 *   `x?`     the same, or null (the field itself must be there)
 */
export type FieldKind =
  | 'id' | 'uint' | 'int' | 'decimal' | 'text' | 'bool' | 'sha256' | 'json'
  | 'id?' | 'uint?' | 'decimal?' | 'text?' | 'sha256?' | 'json?'; // prettier-ignore

type KindType = {
  id: string;
  uint: number;
  int: number;
  decimal: string;
  text: string;
  bool: boolean;
  sha256: string;
  json: unknown;
  'id?': string | null;
  'uint?': number | null;
  'decimal?': string | null;
  'text?': string | null;
  'sha256?': string | null;
  'json?': unknown;
};

const P = { proof: 'id', attempt: 'uint', partition: 'uint' } as const;
const W = { ...P, device: 'id', worker: 'uint' } as const;
const K = { ...W, stream: 'uint', kernel: 'id' } as const;

/** Events: numbered by `seq`, kept for ever. */
export const EVENTS = {
  hello: {
    format: 'uint', process: 'id', pid: 'uint', start_ticks: 'decimal', boot_id: 'id', monotonic_ns: 'decimal', wall_ns: 'decimal',
    version: 'text', engine: 'id', backend: 'id', devices: 'json', grace_ns: 'uint', host_cpus: 'uint', memory_total_bytes: 'uint',
  },
  lost: { ring: 'text', count: 'uint', t_from: 'uint', t_to: 'uint' },
  write_failed: { reason: 'id', since: 'uint', detail: 'text' },
  clock_step: { wall_ns: 'decimal', step_ns: 'decimal' },
  bye: { reason: 'id', exit: 'int' },
  ready: {},
  run_started: { run: 'id', scheduler: 'json?', emulate: 'text?' },
  run_ended: { run: 'id', reason: 'id' },
  configure_refused: { run: 'id', code: 'id', message: 'text' },
  drain_started: { reason: 'id', deadline: 'uint' },
  drain_cancelled: { by: 'id' },
  host_attached: { wall_ns: 'decimal' },
  host_lost: {},
  params_load_started: { circuit: 'id', bytes: 'uint' },
  params_generate_started: { circuit: 'id' },
  params_generate_ended: { circuit: 'id', ok: 'bool' },
  params_load_ended: { circuit: 'id', ok: 'bool', digest: 'sha256?', code: 'id?', message: 'text?' },
  proof_accepted: {
    proof: 'id', attempt: 'uint', run: 'id', circuit: 'id', partitions: 'uint', constraints: 'uint', priority: 'uint',
    submitted_wall_ns: 'decimal', deadline_wall_ns: 'decimal?',
  },
  permit_asked: { ...P, bytes: 'uint' },
  permit_granted: { ...P, bytes: 'uint', waited_for: 'id' },
  permit_released: { ...P, bytes: 'uint' },
  synthesis_started: { ...P, synthesiser: 'uint' },
  synthesis_ended: { ...P, synthesiser: 'uint' },
  queued: { ...P },
  picked_up: { ...W },
  lock_asked: { ...W },
  lock_granted: { ...W },
  lock_released: { ...W },
  prepare_started: { ...W },
  prepare_ended: { ...W },
  device_started: { ...W },
  device_ended: { ...W },
  kernel_started: { ...K },
  kernel_ended: { ...K },
  copy_started: { ...W, stream: 'uint' },
  copy_ended: { ...W, stream: 'uint' },
  wait_started: { ...W, wait: 'id' },
  wait_ended: { ...W, wait: 'id' },
  finish_started: { ...W },
  finish_ended: { ...W },
  put_down: { ...W },
  partition_ended: { ...P, outcome: 'id' },
  stage_failed: { ...P, stage: 'id', code: 'id', message: 'text' },
  worker_dead: { device: 'id', worker: 'uint', code: 'id', message: 'text' },
  proof_ended: {
    proof: 'id', attempt: 'uint', outcome: 'id', sha256: 'sha256?', file: 'text?', bytes: 'uint?', code: 'id?', message: 'text?',
  },
  proof_returned: { proof: 'id', attempt: 'uint', reason: 'id' },
  clock_map: { device: 'id', device_ns: 'decimal', error_ns: 'uint' },
  // Of imported logs only; see FORMAT.md, section 9.
  proof_named: { proof: 'id', attempt: 'uint', name: 'text', kind: 'text' },
  call_started: { ...W },
  measured: { ...W, durations: 'json' },
} as const satisfies Record<string, Record<string, FieldKind>>; // prettier-ignore

/** Lines without `seq`: only the newest is kept (a state that ends a loss, too). */
export const MARKS = {
  mark: { upto: 'int' },
  state: {
    upto: 'int', phase: 'id', run: 'id?', queued: 'uint', withheld: 'uint', permits: 'json', workers: 'json', synthesisers: 'json',
    lock: 'json', proofs: 'json', params: 'json', rss_bytes: 'uint', peak_rss_bytes: 'uint', dropped: 'uint',
  },
} as const satisfies Record<string, Record<string, FieldKind>>; // prettier-ignore

export type EventName = keyof typeof EVENTS;
export type MarkName = keyof typeof MARKS;

type Fields<T extends Record<string, FieldKind>> = { -readonly [F in keyof T]: KindType[T[F]] };

/** One event of a process, as decoded. `t`: ns since the process's origin; `seq`: 0, 1, 2 … without holes. */
export type TimelineEvent = { [E in EventName]: { seq: number; t: number; e: E } & Fields<(typeof EVENTS)[E]> }[EventName];
export type EventOf<E extends EventName> = Extract<TimelineEvent, { e: E }>;

export interface WorkerState {
  worker: number;
  device: string;
  is: 'free' | 'waiting' | 'prepare' | 'device' | 'finish' | 'dead';
  proof: string | null;
  attempt: number | null;
  partition: number | null;
  /** `t` at which it entered this state; null where it has not done anything yet. */
  since: number | null;
  /** Steps done, raised by the worker itself: one that stands still hangs. */
  progress: number;
}

export interface StateLine {
  e: 'state';
  t: number;
  upto: number;
  phase: 'starting' | 'ready' | 'draining' | 'stopped';
  run: string | null;
  queued: number;
  withheld: number;
  permits: { used: number; total: number; bytes_used: number; bytes_total: number };
  workers: WorkerState[];
  synthesisers: {
    synthesiser: number;
    proof: string | null;
    attempt: number | null;
    partition: number | null;
    since: number | null;
    progress: number;
  }[];
  lock: { device: string; holder: number | null }[];
  proofs: { proof: string; attempt: number; partitions: number; done: number }[];
  params: { circuit: string; is: 'absent' | 'loading' | 'resident' }[];
  rss_bytes: number;
  peak_rss_bytes: number;
  dropped: number;
}
export interface MarkLine {
  e: 'mark';
  t: number;
  upto: number;
}

export type JournalLine = TimelineEvent | MarkLine | StateLine;

/** The newest journal format that this program understands; the prover writes 1, importers write 2. */
export const JOURNAL_FORMAT = 2;
