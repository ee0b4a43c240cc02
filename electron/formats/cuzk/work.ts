/**
 * TIMELINE lines into events: synthesis, queue, worker, call. Owns which attempt and which slot a line is about; what became of a proof
 * is results.ts's.
 *
 *   SYNTH_START ─ synthesis ─ SYNTH_END · GPU_QUEUE ─ queue ─ GPU_PICKUP ─┬─ GPU_START ─ call ─┬─ GPU_END
 *                                                                         └──── job span ──────┘
 */
import type { Nanoseconds } from '../../contract/units.ts';
import type { TimelineItem } from './decode.ts';
import type { Emitter } from './emitter.ts';
import { STAGE, type Attempt, type Circuits, type Jobs, type Part } from './jobs.ts';
import type { LockWindows } from './locks.ts';
import type { Settings } from './settings.ts';
import type { Source } from './tears.ts';

const MS = 1e6;
const MAX_SLOTS = 1024;
/** Queued partitions remembered as waiting; beyond, the oldest is forgotten. */
const MAX_WAITING = 4096;

export interface Waiting {
  part: Part;
  source: Source;
}

export interface WorkParts {
  run: string;
  out: Emitter;
  jobs: Jobs;
  circuits: Circuits;
  locks: LockWindows<Source>;
  settings: Settings;
  devices: readonly string[];
  note(source: Source, problem: string): void;
}

export class Work {
  /** Any GPU_START seen: without one, the daemon runs its native call whole (CUZK_DISABLE_SPLIT_PROVE). */
  isSplit = false;
  /** Any TIMELINE line seen: else the log is standard output alone. */
  hasTimeline = false;
  busy = 0;
  lastDownNs: Nanoseconds = 0;
  readonly waiting = new Map<Part, Waiting>();
  readonly #with: WorkParts;
  readonly #slots = new Set<number>();
  #queued = 0;
  #hasChannel = false;

  constructor(parts: WorkParts) {
    this.#with = parts;
  }

  /** What a TIMELINE line says; the partition it is about, or null where it only repeats. */
  take(item: TimelineItem, t: Nanoseconds, source: Source): Part | null {
    this.hasTimeline = true;
    const part = this.#partOf(item, t);
    if (item.event === 'CHAN_SEND') this.#hasChannel = true;
    if (!part) {
      // Older builds tell the queueing twice, by two names.
      if (item.event === 'CHAN_SEND' || (item.event === 'GPU_QUEUE' && this.#hasChannel)) return null;
      this.#with.note(
        source,
        `${item.event} of partition ${item.partition} of ${item.job.slice(0, 100)} says again what was said, or comes too late`,
      );
      return null;
    }
    switch (item.event) {
      case 'SYNTH_START':
        this.beginSynthesis(part, t, item.kind);
        break;
      case 'SYNTH_END':
        this.endSynthesis(part, t, item.synthMs);
        break;
      case 'GPU_QUEUE':
      case 'CHAN_SEND':
        this.queue(part, t, item.isPartitioned, source);
        break;
      case 'GPU_PICKUP':
        this.pickUp(part, item.worker as number, t);
        break;
      case 'GPU_START':
        this.#call(part, item.worker as number, t);
        break;
      case 'GPU_END':
        part.gpuMs = item.gpuMs;
        this.#known(part, item.worker as number);
        this.putDown(part, t);
        break;
    }
    return part;
  }

  /** A new try at a job, named for whoever reads. */
  name(attempt: Attempt, t: Nanoseconds): Attempt {
    const { proof, name, kind } = attempt;
    this.#with.out.emit('proof_named', t, { proof, attempt: attempt.attempt, name, kind });
    return attempt;
  }

  beginSynthesis(part: Part, t: Nanoseconds, kind: string | null): void {
    if (kind !== null && part.attempt.kind === '') part.attempt.kind = kind;
    part.stage = STAGE.synthesis;
    part.slot = this.#takeSlot();
    this.#with.out.emit('synthesis_started', t, { ...idsOf(part), synthesiser: part.slot });
  }

  endSynthesis(part: Part, t: Nanoseconds, synthMs: number | null): void {
    part.stage = STAGE.synthesised;
    part.synthMs = synthMs;
    this.#with.out.emit('synthesis_ended', t, { ...idsOf(part), synthesiser: part.slot ?? 0 });
    this.freeSlot(part);
  }

  queue(part: Part, t: Nanoseconds, isPartitioned: boolean, source: Source): void {
    part.stage = STAGE.queued;
    part.queuedNs = t;
    part.queueOrder = this.#queued++;
    // One-circuit jobs share one key of the queue: a later one takes the place of an earlier one that still waits.
    if (!isPartitioned)
      for (const { part: other } of this.waiting.values()) if (other.replacedBy === null) other.replacedBy = part.attempt.name;
    this.waiting.set(part, { part, source });
    if (this.waiting.size > MAX_WAITING) this.waiting.delete(this.waiting.keys().next().value as Part);
    this.#with.out.emit('queued', t, idsOf(part));
  }

  pickUp(part: Part, worker: number, t: Nanoseconds): void {
    const { out, locks } = this.#with;
    // The worker waited for its call to return before it took something else.
    locks.forget((other) => other.worker === worker && other.stage >= STAGE.picked);
    this.waiting.delete(part);
    this.#known(part, worker);
    part.stage = STAGE.picked;
    this.busy += 1;
    out.emit('picked_up', t, workOf(part));
    if (!this.isSplit) locks.begin(part, t);
  }

  putDown(part: Part, t: Nanoseconds): void {
    const { out, locks } = this.#with;
    if (part.stage >= STAGE.picked && part.stage < STAGE.down) this.busy -= 1;
    this.waiting.delete(part);
    part.stage = STAGE.down;
    this.lastDownNs = Math.max(this.lastDownNs, t);
    locks.forget((other) => other === part);
    out.emit('put_down', t, workOf(part));
    const durations: Record<string, number> = {};
    if (part.gpuMs !== null) durations.gpu = part.gpuMs * MS;
    if (part.synthMs !== null) durations.synthesis = part.synthMs * MS;
    if (Object.keys(durations).length > 0) out.emit('measured', t, { ...workOf(part), durations });
  }

  freeSlot(part: Part): void {
    if (part.slot !== null) this.#slots.delete(part.slot);
    part.slot = null;
  }

  /** The partition that a line about a stage is about; begins an attempt where none is known. */
  reach(job: string, partition: number, stage: Part['stage'], kind: string, t: Nanoseconds): Part | null {
    const { jobs } = this.#with;
    const found = jobs.reach(job, partition, stage);
    if (found) return found;
    if (jobs.newest(job) && stage !== STAGE.synthesis) return null;
    return jobs.part(this.name(jobs.begin(job, kind), t), partition);
  }

  #partOf(item: TimelineItem, t: Nanoseconds): Part | null {
    const { event, job, partition, kind } = item;
    return this.reach(job, partition, STAGE_OF[event], kind ?? '', t);
  }

  #call(part: Part, worker: number, t: Nanoseconds): void {
    const { out, locks } = this.#with;
    if (!this.isSplit) locks.forget(() => true);
    this.isSplit = true;
    this.#known(part, worker);
    if (part.stage < STAGE.picked) this.busy += 1;
    this.waiting.delete(part);
    part.stage = STAGE.called;
    locks.begin(part, t);
    out.emit('call_started', t, workOf(part));
  }

  #known(part: Part, worker: number): void {
    const { settings, devices } = this.#with;
    part.worker = worker;
    part.device = settings.deviceOf(worker, devices);
  }

  /** The lowest slot that is free: a place at which something is synthesised, not a thread of the daemon's. */
  #takeSlot(): number {
    let slot = 0;
    while (this.#slots.has(slot) && slot < MAX_SLOTS - 1) slot += 1;
    this.#slots.add(slot);
    return slot;
  }
}

const STAGE_OF = {
  SYNTH_START: STAGE.synthesis, SYNTH_END: STAGE.synthesised, GPU_QUEUE: STAGE.queued, CHAN_SEND: STAGE.queued, GPU_PICKUP: STAGE.picked,
  GPU_START: STAGE.called, GPU_END: STAGE.down,
} as const; // prettier-ignore

export function idsOf({ attempt, partition }: Part): { proof: string; attempt: number; partition: number } {
  return { proof: attempt.proof, attempt: attempt.attempt, partition };
}

export function workOf(part: Part): { proof: string; attempt: number; partition: number; device: string; worker: number } {
  return { ...idsOf(part), device: part.device, worker: part.worker };
}
