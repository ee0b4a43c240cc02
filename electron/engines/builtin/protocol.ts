/**
 * The command socket's two directions (native/timeline/FORMAT.md, section 6): one discriminated union for what is sent, one table of
 * what may be answered. Answers are checked before anybody sees them.
 */
import * as v from 'valibot';
import { BACKENDS, type Scheduler } from '../../contract/scheduler.ts';
import type { SubmitOrder } from '../engine.ts';

export type Command =
  | { cmd: 'attach' }
  | { cmd: 'run'; run: string; scheduler: Scheduler; emulate: string | null }
  | ({ cmd: 'submit' } & SubmitOrder)
  | { cmd: 'withdraw'; proof: string }
  | { cmd: 'drain' }
  | { cmd: 'stop' }
  | { cmd: 'state' }
  | { cmd: 'ping' };

const Uint = v.pipe(v.number(), v.integer(), v.minValue(0));
const ProofInProver = v.object({ proof: v.string(), attempt: Uint, partitions: Uint, done: Uint });
const Phase = v.picklist(['starting', 'ready', 'draining', 'stopped']);

/** Unknown fields are left out, not refused: a newer prover may say more. */
export const ANSWERS = {
  attach: v.object({
    process: v.string(),
    pid: Uint,
    backend: v.picklist(BACKENDS),
    phase: Phase,
    run: v.nullable(v.string()),
    proofs: v.array(ProofInProver),
  }),
  run: v.object({}),
  submit: v.object({}),
  withdraw: v.object({ state: v.picklist(['returned', 'stopping', 'unknown']) }),
  drain: v.object({}),
  stop: v.object({}),
  state: v.object({
    phase: Phase,
    run: v.nullable(v.string()),
    workers: v.array(
      v.object({
        worker: Uint,
        device: v.string(),
        is: v.string(),
        proof: v.nullable(v.string()),
        partition: v.nullable(Uint),
        since: v.nullable(v.number()),
        progress: v.number(),
      }),
    ),
    synthesisers: v.array(
      v.object({
        synthesiser: Uint,
        proof: v.nullable(v.string()),
        partition: v.nullable(Uint),
        since: v.nullable(v.number()),
        progress: v.number(),
      }),
    ),
    proofs: v.array(ProofInProver),
    params: v.array(v.object({ circuit: v.string(), is: v.string() })),
  }),
  ping: v.object({ t: v.number() }),
} as const satisfies Record<Command['cmd'], v.GenericSchema>;

export type AnswerOf<C extends Command['cmd']> = v.InferOutput<(typeof ANSWERS)[C]>;

/** Any line that the prover may send. */
export const AnswerLine = v.variant('ok', [
  v.object({ id: Uint, ok: v.literal(true), value: v.optional(v.record(v.string(), v.unknown()), {}) }),
  v.object({
    id: Uint,
    ok: v.literal(false),
    code: v.pipe(v.string(), v.maxLength(64)),
    message: v.string(),
    detail: v.optional(v.nullable(v.record(v.string(), v.unknown()))),
  }),
]);
export type AnswerLine = v.InferOutput<typeof AnswerLine>;

/** Most bytes of a line, either way. */
export const LINE_CAP = 2 ** 20;
