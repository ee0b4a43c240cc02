/**
 * What the host is set to: the active set-up and, at most, one switch that waits. Kept in `<data>/active.json`, so that proofs that wait
 * across a restart go under the set-up they were queued for.
 *
 * A switch within one process (another scheduler) comes as soon as no proof is in the prover. A switch that restarts the prover (another
 * backend or emulation) comes after every proof queued before it: a proof queued for one backend is never proved by another.
 */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { InterlockError } from '../contract/errors.ts';
import { parseUntrusted } from '../contract/json.ts';
import {
  BACKENDS,
  SchedulerSpecSchema,
  resolveScheduler,
  sameScheduler,
  schedulerLabel,
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

/** As it is kept: what was asked for, not what this machine makes of it. */
export function encodeSetup({ spec, backend, emulate }: Setup): string {
  return JSON.stringify({ spec, backend, emulate });
}

export function decodeSetup(text: string, machine: MachineFacts): Setup {
  return buildSetup(v.parse(StoredSetup, parseUntrusted(text)), machine);
}

function buildSetup(stored: v.InferOutput<typeof StoredSetup>, machine: MachineFacts): Setup {
  return { ...stored, scheduler: resolveScheduler(stored.spec, machine) };
}

export function describeSetup(setup: Setup): string {
  return `${schedulerLabel(setup.scheduler)} on ${setup.backend}${setup.emulate ? ` (${setup.emulate})` : ''}`;
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
      this.active = buildSetup(stored.active, machine);
      this.next = stored.next && { setup: buildSetup(stored.next.setup, machine), firstProof: stored.next.firstProof };
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

  /** Notes a switch; to what is active already there is none. Fails with `busy` where another one waits. */
  async switchTo(setup: Setup, firstProof: number | null): Promise<void> {
    if (this.next && !sameSetup(this.next.setup, setup)) {
      throw new InterlockError('busy', `A switch to ${describeSetup(this.next.setup)} waits already.`);
    }
    this.next = sameSetup(setup, this.active) ? null : { setup, firstProof: this.next?.firstProof ?? firstProof };
    await this.save();
  }

  /** True while proofs of this number may go to the prover. */
  mayGo(proof: string): boolean {
    if (!this.next) return true;
    if (sameDevices(this.next.setup, this.active)) return false;
    return this.next.firstProof === null || proofNumber(proof) < this.next.firstProof;
  }
}
