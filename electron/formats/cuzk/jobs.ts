/**
 * The jobs of one engine's life: which attempt at which proof a line is about. A job id may come twice, even at once; a line belongs to
 * the first attempt whose partition is just before that stage, never to whatever came last.
 */
import { idOf } from './uid.ts';

/** Jobs remembered; beyond, the longest untouched is forgotten, and a line about it begins attempt 1 anew. */
export const MAX_JOBS = 1024;
const MAX_ATTEMPTS = 8;
/** Partitions of one attempt, and of all that are remembered. */
export const MAX_PARTS = 256;
const MAX_ALL_PARTS = 65_536;

/** How far a partition has come: a line tells that it reached a stage from the one before. */
export const STAGE = { none: 0, synthesis: 1, synthesised: 2, queued: 3, picked: 4, called: 5, down: 6 } as const;
export type StageNumber = (typeof STAGE)[keyof typeof STAGE];

export interface Part {
  attempt: Attempt;
  partition: number;
  stage: StageNumber;
  slot: number | null;
  device: string;
  worker: number;
  synthMs: number | null;
  gpuMs: number | null;
  queuedNs: number | null;
  /** Place of its queueing among all of this engine; −1 before. */
  queueOrder: number;
  /** The one-circuit job queued after it while it waited. */
  replacedBy: string | null;
  hasEnded: boolean;
}

export interface Attempt {
  proof: string;
  name: string;
  attempt: number;
  kind: string;
  /** 0 where the log has not said. */
  partitions: number;
  priority: number;
  acceptedNs: number | null;
  acceptedWallNs: string;
  /** Told with this number of partitions and this circuit. */
  told: string;
  outcome: string | null;
  /** The scheduler's queue has let it go. */
  isDequeued: boolean;
  parts: Map<number, Part>;
}

interface Job {
  attempts: Attempt[];
  count: number;
}

export class Jobs {
  readonly #jobs = new Map<string, Job>();
  #parts = 0;
  /** The one touched last is the youngest already. */
  #last: { name: string; job: Job } | null = null;

  /** Attempts that are remembered, the longest untouched first. */
  *attempts(): IterableIterator<Attempt> {
    for (const job of this.#jobs.values()) yield* job.attempts;
  }

  /** The newest attempt of a job; null if it is not known. */
  newest(name: string): Attempt | null {
    return this.#jobs.get(name)?.attempts.at(-1) ?? null;
  }

  attemptsOf(name: string): readonly Attempt[] {
    return this.#jobs.get(name)?.attempts ?? [];
  }

  begin(name: string, kind: string): Attempt {
    const job = this.#touch(name);
    job.count += 1;
    const attempt: Attempt = {
      proof: idOf(name), name, attempt: job.count, kind, partitions: 0, priority: 2, acceptedNs: null, acceptedWallNs: '0', told: '', outcome: null,
      isDequeued: false, parts: new Map(),
    }; // prettier-ignore
    job.attempts.push(attempt);
    if (job.attempts.length > MAX_ATTEMPTS) this.#parts -= job.attempts.shift()?.parts.size ?? 0;
    return attempt;
  }

  /**
   * The partition that reaches `stage` now; null if no attempt of that job can (a new one is due, or the line says again what was said).
   * A line may be missing: then the first that has not come so far yet.
   */
  reach(name: string, partition: number, stage: StageNumber): Part | null {
    const attempts = this.#touch(name).attempts;
    if (stage === STAGE.synthesis) return this.#begins(attempts, partition);
    for (const attempt of attempts) {
      const part = attempt.parts.get(partition);
      if (part && part.stage === stage - 1) return part;
    }
    for (const attempt of attempts) {
      const part = this.part(attempt, partition);
      if (part && part.stage < stage && (attempt.outcome === null || part.stage > STAGE.none)) return part;
    }
    return null;
  }

  #begins(attempts: readonly Attempt[], partition: number): Part | null {
    const fresh = (attempt: Attempt) => (attempt.parts.get(partition)?.stage ?? STAGE.none) === STAGE.none;
    const found =
      attempts.find((attempt) => attempt.outcome === null && fresh(attempt)) ??
      attempts.findLast((attempt) => attempt.outcome === 'failed' && fresh(attempt));
    return found ? this.part(found, partition) : null;
  }

  #touch(name: string): Job {
    if (this.#last?.name === name) return this.#last.job;
    const known = this.#jobs.get(name);
    if (known) this.#jobs.delete(name);
    const job = known ?? { attempts: [], count: 0 };
    this.#jobs.set(name, job);
    this.#last = { name, job };
    while (this.#jobs.size > MAX_JOBS || (this.#parts > MAX_ALL_PARTS && this.#jobs.size > 1)) {
      const [oldest, gone] = this.#jobs.entries().next().value as [string, Job];
      this.#jobs.delete(oldest);
      for (const attempt of gone.attempts) this.#parts -= attempt.parts.size;
    }
    return job;
  }

  /** Null: more partitions than are looked at. */
  part(attempt: Attempt, partition: number): Part | null {
    const known = attempt.parts.get(partition);
    if (known) return known;
    if (attempt.parts.size >= MAX_PARTS) return null;
    const part: Part = {
      attempt, partition, stage: STAGE.none, slot: null, device: '', worker: 0, synthMs: null, gpuMs: null, queuedNs: null, queueOrder: -1,
      replacedBy: null, hasEnded: false,
    }; // prettier-ignore
    attempt.parts.set(partition, part);
    this.#parts += 1;
    return part;
  }
}

const FAMILIES: Record<string, string> = {
  'porep-c2': 'porep', 'window-post': 'wpost', 'winning-post': 'winning', 'snap-deals': 'snap', 'snap-deals-update': 'snap', 'snap-update': 'snap',
}; // prettier-ignore

/** Circuits by the daemon's names. A proof's kind does not tell 32 from 64 GiB; the params that were loaded do. */
export class Circuits {
  readonly #loaded = new Map<string, string>();

  loads(circuit: string): void {
    const family = /^[a-z]+/.exec(circuit)?.[0] ?? circuit;
    if (this.#loaded.size < 64 || this.#loaded.has(family)) this.#loaded.set(family, circuit);
  }

  of(kind: string): string {
    const family = FAMILIES[kind];
    if (family === undefined) return kind === '' ? 'unknown' : idOf(kind);
    return this.#loaded.get(family) ?? `${family}-32g`;
  }
}

export function isOneCircuit(kind: string): boolean {
  return kind === 'window-post' || kind === 'winning-post';
}

const PRIORITIES = ['', 'Low', 'Normal', 'High', 'Critical'];
/** 1 … 4; 2 where the word is unknown. */
export function priorityOf(word: string | null): number {
  const at = PRIORITIES.indexOf(word ?? '');
  return at > 0 ? at : 2;
}
