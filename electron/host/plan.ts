/**
 * What the host is set to: the active set-up and, at most, one switch that waits. Kept in `<data>/active.json`, so that proofs that wait
 * across a restart go under the set-up they were queued for.
 *
 * A switch within one process (another scheduler) comes as soon as no proof is in the prover. A switch that restarts the prover (another
 * backend or emulation) comes after every proof queued before it: a proof queued for one backend is never proved by another.
 */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { parseUntrusted } from '../contract/json.ts';
import {
  BACKENDS,
  SchedulerSpecSchema,
  resolveScheduler,
  sameScheduler,
  type Backend,
  type MachineFacts,
  type Scheduler,
  type SchedulerSpec,
} from '../contract/scheduler.ts';
import { writeDurably } from './durable-files.ts';

/** Under what proofs are made. */
export interface Setup {
  spec: SchedulerSpec;
  scheduler: Scheduler;
  backend: Backend;
  emulate: string | null;
}

export interface WaitingSwitch {
  setup: Setup;
  /** Number of the first proof that was queued for it; null: none yet, so everything that waits comes before it. */
  firstProof: number | null;
}

const StoredSetup = v.strictObject({ spec: SchedulerSpecSchema, backend: v.picklist(BACKENDS), emulate: v.nullable(v.string()) });
const StoredPlan = v.strictObject({
  version: v.literal(1),
  active: StoredSetup,
  next: v.nullable(v.strictObject({ setup: StoredSetup, firstProof: v.nullable(v.number()) })),
});

export function sameDevices(a: Setup, b: Setup): boolean {
  return a.backend === b.backend && a.emulate === b.emulate;
}

export function sameSetup(a: Setup, b: Setup): boolean {
  return sameDevices(a, b) && sameScheduler(a.scheduler, b.scheduler);
}

/** `p57` → 57; foreign ids come first. */
export function proofNumber(proof: string): number {
  return Number(/^p(\d+)$/.exec(proof)?.[1] ?? 0);
}

export class Plan {
  active: Setup;
  next: WaitingSwitch | null = null;
  readonly #path: string;

  constructor(path: string, initial: Setup) {
    this.#path = path;
    this.active = initial;
  }

  /** Takes what an earlier host left. Answers what is wrong with it, or null. */
  load(machine: MachineFacts): string | null {
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch {
      return null;
    }
    try {
      const stored = v.parse(StoredPlan, parseUntrusted(text));
      const build = (s: v.InferOutput<typeof StoredSetup>): Setup => ({ ...s, scheduler: resolveScheduler(s.spec, machine) });
      this.active = build(stored.active);
      this.next = stored.next && { setup: build(stored.next.setup), firstProof: stored.next.firstProof };
      return null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  async save(): Promise<void> {
    const strip = ({ spec, backend, emulate }: Setup) => ({ spec, backend, emulate });
    const stored = {
      version: 1,
      active: strip(this.active),
      next: this.next && { setup: strip(this.next.setup), firstProof: this.next.firstProof },
    };
    await writeDurably(this.#path, `${JSON.stringify(stored, null, 2)}\n`, { replace: true });
  }

  /** True while proofs of this number may go to the prover. */
  mayGo(proof: string): boolean {
    if (!this.next) return true;
    if (sameDevices(this.next.setup, this.active)) return false;
    return this.next.firstProof === null || proofNumber(proof) < this.next.firstProof;
  }
}
