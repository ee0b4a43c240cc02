/**
 * Work as standard output alone tells it, where no TIMELINE line came: ends of synthesis, queueing, pick-ups. Starts of synthesis are
 * told by their duration. Lock windows and calls are on standard error, and are not recorded then.
 */
import type { Nanoseconds } from '../../contract/units.ts';
import { fieldOf, numberOf, type TracingItem } from './decode.ts';
import { STAGE, type Jobs } from './jobs.ts';
import type { Source } from './tears.ts';
import type { Work } from './work.ts';

const MS = 1e6;

export class StdoutWork {
  readonly #jobs: Jobs;
  readonly #work: Work;

  constructor(jobs: Jobs, work: Work) {
    this.#jobs = jobs;
    this.#work = work;
  }

  take(item: TracingItem, message: string, t: Nanoseconds, source: Source): void {
    if (message.startsWith('partition synthesis complete, pushing')) {
      this.#synthesised(fieldOf(message, 'job_id'), numberOf(message, 'partition') ?? 0, numberOf(message, 'synth_ms'), true, t, source);
    } else if (message.startsWith('synthesis complete, sending')) {
      this.#synthesised(this.#onlyOf(fieldOf(item.span, 'proof_kind')), 0, numberOf(message, 'synth_ms'), false, t, source);
    } else if (message.startsWith('GPU_TIMING hot_path')) {
      const job = fieldOf(item.span, 'job_id');
      const worker = numberOf(message, 'worker_id');
      if (job === null || worker === null) return;
      const part = this.#work.reach(job, numberOf(message, 'partition') ?? 0, STAGE.picked, fieldOf(item.span, 'proof_kind') ?? '', t);
      if (part) this.#work.pickUp(part, worker, t);
    }
  }

  #synthesised(
    job: string | null,
    partition: number,
    synthMs: number | null,
    isPartitioned: boolean,
    t: Nanoseconds,
    source: Source,
  ): void {
    if (job === null || job === '') return;
    const part = this.#work.reach(job, partition, STAGE.synthesis, '', t);
    if (!part) return;
    this.#work.beginSynthesis(part, Math.max(0, t - (synthMs ?? 0) * MS), null);
    this.#work.endSynthesis(part, t, synthMs);
    this.#work.queue(part, t, isPartitioned, source);
  }

  /** The line names a kind alone: the job is told for sure only where one of that kind is at work. */
  #onlyOf(kind: string | null): string | null {
    const open = [...this.#jobs.attempts()].filter(
      (attempt) => attempt.kind === kind && attempt.outcome === null && attempt.isDequeued && attempt.parts.size === 0,
    );
    return open.length === 1 ? (open[0]?.name ?? null) : null;
  }
}
