/**
 * What becomes of a proof: acceptance, dispatch, results and failures, as the tracing lines tell them. A verdict that no line gives is not
 * given here either. `valid` of a PoRep means that the daemon's self-check passed; of a PoSt, which it does not check, that it said completed.
 */
import type { Nanoseconds } from '../../contract/units.ts';
import { fieldOf, numberOf, type TracingItem } from './decode.ts';
import type { Emitter } from './emitter.ts';
import { isOneCircuit, priorityOf, STAGE, type Attempt, type Circuits, type Jobs, type Part } from './jobs.ts';
import { nsText } from './wall-clock.ts';
import { idsOf, type Work } from './work.ts';

const MAX_MESSAGE = 8_192;
/** Attempts remembered between two lines about them: dequeued, assembled, put down without a result yet. */
const MAX_BETWEEN = 64;

/** A result that names no job, only its durations. */
interface Completion {
  gpuMs: number | null;
  synthMs: number | null;
  t: Nanoseconds;
}
interface Assembled {
  attempt: Attempt;
  t: Nanoseconds;
}

export class Results {
  readonly #run: string;
  readonly #out: Emitter;
  readonly #jobs: Jobs;
  readonly #circuits: Circuits;
  readonly #work: Work;
  /** Taken off the scheduler's queue, and nothing was heard of them yet. */
  #dequeued: Attempt[] = [];
  #assembled: Assembled[] = [];
  /** Put down, without a result yet. */
  #finished: Part[] = [];
  #completions: Completion[] = [];
  /** Failed, and some of their partitions are still at work. */
  readonly #failed = new Map<Attempt, { code: string; message: string }>();

  constructor(run: string, out: Emitter, jobs: Jobs, circuits: Circuits, work: Work) {
    this.#run = run;
    this.#out = out;
    this.#jobs = jobs;
    this.#circuits = circuits;
    this.#work = work;
  }

  accept(item: TracingItem, t: Nanoseconds): void {
    const name = fieldOf(item.message, 'job_id');
    if (name === null || name === '') return;
    const kind = fieldOf(item.message, 'proof_kind') ?? '';
    const newest = this.#jobs.newest(name);
    const isNew = newest === null || newest.acceptedNs !== null || newest.outcome !== null || newest.parts.size > 0;
    const attempt = isNew ? this.#work.name(this.#jobs.begin(name, kind), t) : newest;
    attempt.acceptedNs = t;
    attempt.acceptedWallNs = nsText(item.wallUs);
    attempt.priority = priorityOf(fieldOf(item.message, 'priority'));
    attempt.partitions = isOneCircuit(kind) ? 1 : 0;
    this.#tellAccepted(attempt);
  }

  dequeue(item: TracingItem, t: Nanoseconds): void {
    const name = fieldOf(item.message, 'job_id');
    if (name === null || name === '') return;
    const waits = this.#jobs.attemptsOf(name).find((attempt) => attempt.outcome === null && !attempt.isDequeued);
    const attempt = waits ?? this.#work.name(this.#jobs.begin(name, fieldOf(item.message, 'proof_kind') ?? ''), t);
    attempt.isDequeued = true;
    push(this.#dequeued, attempt);
  }

  dispatch(item: TracingItem): void {
    const name = fieldOf(item.message, 'job_id');
    const partitions = numberOf(item.message, 'num_partitions');
    const attempt = name === null ? undefined : (this.#dequeued.find((one) => one.name === name) ?? this.#jobs.newest(name));
    if (!attempt || partitions === null) return;
    this.settle(attempt);
    attempt.partitions = partitions;
    if (attempt.acceptedNs !== null) this.#tellAccepted(attempt);
  }

  /** Its synthesis is on its way or over: a failure without a name is another's. */
  settle(attempt: Attempt): void {
    this.#dequeued = this.#dequeued.filter((one) => one !== attempt);
  }

  /** After GPU_END of a proof of one circuit; its result may have come before. */
  finish(part: Part, t: Nanoseconds): void {
    const { outcome } = part.attempt;
    if (outcome === 'failed') this.letGo(part, t);
    if (outcome !== null || !isOneCircuit(part.attempt.kind)) return;
    const index = this.#completions.findIndex((completion) => fits(completion, part));
    const completion = this.#completions[index];
    if (completion) {
      this.#completions.splice(index, 1);
      this.end(part.attempt, Math.max(t, completion.t), 'valid', null, null);
    } else push(this.#finished, part);
  }

  /** "proof completed successfully": names a job only where a span does. */
  complete(item: TracingItem, t: Nanoseconds): void {
    const name = fieldOf(item.span, 'job_id');
    if (name !== null) {
      const attempt = this.#jobs.attemptsOf(name).find((one) => one.outcome === null && one.parts.size > 0);
      if (!attempt) return;
      for (const part of attempt.parts.values()) if (part.stage === STAGE.picked && !this.#work.isSplit) this.#work.putDown(part, t);
      this.end(attempt, t, 'valid', null, null);
      return;
    }
    const completion = { gpuMs: numberOf(item.message, 'gpu_ms'), synthMs: numberOf(item.message, 'synth_ms'), t };
    const index = this.#finished.findIndex((part) => part.attempt.outcome === null && fits(completion, part));
    const part = this.#finished[index];
    if (part) {
      this.#finished.splice(index, 1);
      this.end(part.attempt, t, 'valid', null, null);
    } else push(this.#completions, completion);
  }

  /** Standard output alone: the worker that finalises tells whose result it was. */
  finalised(message: string): void {
    const worker = this.#completions.length === 0 ? null : numberOf(message, 'worker_id');
    if (worker === null) return;
    const completion = this.#work.hasTimeline ? undefined : this.#completions.shift();
    if (!completion) return;
    for (const attempt of this.#jobs.attempts()) {
      const part = attempt.outcome === null && isOneCircuit(attempt.kind) ? attempt.parts.get(0) : undefined;
      if (part?.stage !== STAGE.picked || part.worker !== worker) continue;
      this.#work.putDown(part, completion.t);
      return this.end(attempt, completion.t, 'valid', null, null);
    }
  }

  assembled(name: string, t: Nanoseconds): void {
    const attempt = this.#open(name);
    if (attempt) push(this.#assembled, { attempt, t });
  }

  /** The finalizer is through and no self-check was told of: assembled is all that this build says. */
  finalisedPartition(message: string): void {
    if (this.#assembled.length === 0) return;
    const worker = numberOf(message, 'worker_id');
    const partition = numberOf(message, 'partition');
    const is = ({ attempt }: Assembled) =>
      [...attempt.parts.values()].some((part) => part.worker === worker && part.partition === partition && part.stage === STAGE.down);
    const index = this.#assembled.findIndex((one) => one.attempt.outcome === null && is(one));
    const found = this.#assembled[index];
    if (!found) return;
    this.#assembled.splice(index, 1);
    this.end(found.attempt, found.t, 'valid', null, null);
  }

  checked(name: string, t: Nanoseconds, passed: boolean, message: string): void {
    const attempt = this.#open(name);
    if (!attempt) return;
    this.#assembled = this.#assembled.filter((one) => one.attempt !== attempt);
    if (passed) this.end(attempt, t, 'valid', null, null);
    else this.end(attempt, t, 'invalid', 'verify_failed', message);
  }

  /** The verdict on each partition, after a self-check that failed. */
  verdicts(name: string, t: Nanoseconds, message: string): void {
    const attempt = this.#jobs.newest(name);
    if (!attempt) return;
    for (const [field, outcome] of [['valid_partitions', 'valid'], ['invalid_partitions', 'invalid']] as const) {
      for (const digits of fieldOf(message, field)?.match(/\d{1,5}/g) ?? []) {
        const part = this.#jobs.part(attempt, Number(digits));
        if (part && !part.hasEnded) this.endPart(part, t, outcome);
      }
    } // prettier-ignore
  }

  /** A failure that names its job, or is of the only job of that kind that was just taken up. False: it is nobody's for sure. */
  fail(item: TracingItem, t: Nanoseconds, stage: string, code: string): boolean {
    const { message, span } = item;
    const name = fieldOf(message, 'job_id') ?? fieldOf(span, 'job_id');
    const text = fieldOf(message, 'error') ?? message;
    const attempt = name === null ? this.#onlyDequeued(fieldOf(span, 'proof_kind')) : this.#failing(name);
    if (!attempt) return false;
    this.settle(attempt);
    const partition = numberOf(message, 'partition') ?? numberOf(span, 'partition') ?? (isOneCircuit(attempt.kind) ? 0 : null);
    const part = partition === null ? null : this.#jobs.part(attempt, partition);
    if (part && part.stage !== STAGE.none && !part.hasEnded) {
      if (part.stage === STAGE.synthesis) this.#work.freeSlot(part);
      this.#out.emit('stage_failed', t, { ...idsOf(part), stage, code, message: cut(text) });
      this.endPart(part, t, 'failed');
    }
    if (attempt.outcome === null) {
      attempt.outcome = 'failed';
      this.#failed.set(attempt, { code, message: text });
    }
    this.#endFailed(attempt, t);
    return true;
  }

  /** A partition of a proof that failed is off its worker, its result thrown away. */
  letGo(part: Part, t: Nanoseconds): void {
    if (!part.hasEnded) this.endPart(part, t, 'cancelled');
    this.#endFailed(part.attempt, t);
  }

  /** The log, or the engine's life, is over. */
  endAll(t: Nanoseconds): void {
    for (const [attempt, { code, message }] of [...this.#failed]) this.end(attempt, t, 'failed', code, message);
  }

  /** A proof that failed ends when nothing of it is at work any more: the daemon answers at once, and lets its workers finish. */
  #endFailed(attempt: Attempt, t: Nanoseconds): void {
    const failed = this.#failed.get(attempt);
    if (!failed) return;
    const isAtWork = [...attempt.parts.values()].some((part) => part.stage > STAGE.none && part.stage < STAGE.down && !part.hasEnded);
    if (isAtWork && this.#failed.size <= MAX_BETWEEN) return;
    this.end(attempt, t, 'failed', failed.code, failed.message);
  }

  endPart(part: Part, t: Nanoseconds, outcome: string): void {
    part.hasEnded = true;
    this.#out.emit('partition_ended', t, { ...idsOf(part), outcome });
  }

  end(attempt: Attempt, t: Nanoseconds, outcome: string, code: string | null, message: string | null): void {
    attempt.outcome = outcome;
    this.#failed.delete(attempt);
    if (outcome === 'valid') for (const part of attempt.parts.values()) if (!part.hasEnded) this.endPart(part, t, 'valid');
    const { proof, attempt: number } = attempt;
    this.#out.emit('proof_ended', t, {
      proof, attempt: number, outcome, sha256: null, file: null, bytes: null, code, message: message === null ? null : cut(message),
    }); // prettier-ignore
  }

  #open(name: string): Attempt | null {
    return this.#jobs.attemptsOf(name).find((attempt) => attempt.outcome === null && attempt.parts.size > 0) ?? null;
  }

  /** Of an id that came twice, the one at work; a second failure of a job is of the one that failed. */
  #failing(name: string): Attempt | null {
    return this.#open(name) ?? this.#jobs.newest(name);
  }

  #onlyDequeued(kind: string | null): Attempt | null {
    const candidates = this.#dequeued.filter((attempt) => attempt.outcome === null && (kind === null || attempt.kind === kind));
    return candidates.length === 1 ? (candidates[0] as Attempt) : null;
  }

  /** Again, at the same instant, once the log tells how many partitions it has: the last one counts. */
  #tellAccepted(attempt: Attempt): void {
    const circuit = this.#circuits.of(attempt.kind);
    const told = `${attempt.partitions} ${circuit}`;
    if (attempt.told === told || attempt.acceptedNs === null) return;
    attempt.told = told;
    const { proof, attempt: number, partitions, priority, acceptedWallNs } = attempt;
    this.#out.emit('proof_accepted', attempt.acceptedNs, {
      proof, attempt: number, run: this.#run, circuit, partitions, constraints: 0, priority, submitted_wall_ns: acceptedWallNs, deadline_wall_ns: null,
    }); // prettier-ignore
  }
}

function fits({ gpuMs, synthMs }: Completion, part: Part): boolean {
  return part.gpuMs === gpuMs && (synthMs === null || part.synthMs === null || part.synthMs === synthMs);
}

function push<T>(list: T[], one: T): void {
  list.push(one);
  if (list.length > MAX_BETWEEN) list.shift();
}

function cut(text: string): string {
  return text.slice(0, MAX_MESSAGE);
}
