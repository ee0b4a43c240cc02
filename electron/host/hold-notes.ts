/**
 * Notes the stretches in which a hold or a waiting switch keeps at least one proof in the queue: what the devices' idle time is `held`
 * for. Looked at whenever something may have changed; nothing is written while nothing is held.
 */
import type { Clock } from '../contract/clock.ts';
import type { Store } from '../store/types.ts';
import type { Plan } from './plan.ts';
import { Serial } from './serial.ts';

export interface HoldNotesDeps {
  store: Pick<Store, 'access' | 'takeWaiting' | 'beginHold' | 'endHold'>;
  clock: Clock;
  plan: Pick<Plan, 'next' | 'mayGo'>;
  bootId: string;
  /** Why nothing is fed; null while proofs may go. */
  hold: () => string | null;
  onError(error: unknown): void;
}

/** Proofs looked at for one that a switch keeps back. */
const MOST_WAITING = 10_000;

export class HoldNotes {
  readonly #deps: HoldNotesDeps;
  readonly #looks: Serial;
  #open: number | null = null;
  #closed = false;

  constructor(deps: HoldNotesDeps) {
    this.#deps = deps;
    this.#looks = new Serial((error) => deps.onError(error));
  }

  /** Something may have changed just now. */
  look(): void {
    const { plan, clock } = this.#deps;
    if (this.#closed || (this.#deps.hold() === null && plan.next === null && this.#open === null)) return;
    const atNs = clock.nowNs();
    void this.#looks.add(() => this.#look(atNs));
  }

  /** The host ends: so does what it keeps back. */
  async close(): Promise<void> {
    const atNs = this.#deps.clock.nowNs();
    this.#closed = true;
    await this.#looks.add(() => this.#end(atNs));
  }

  async idle(): Promise<void> {
    await this.#looks.idle();
  }

  async #look(atNs: number): Promise<void> {
    const { store, plan, bootId } = this.#deps;
    if (store.access.readOnly) return;
    const held = this.#deps.hold() !== null;
    const keeps = held ? (await store.takeWaiting(1)).length > 0 : plan.next !== null && (await this.#switchKeeps());
    if (!keeps) await this.#end(atNs);
    else this.#open ??= await store.beginHold({ bootId, fromNs: String(Math.round(atNs)), reason: held ? 'held' : 'switch' });
  }

  async #switchKeeps(): Promise<boolean> {
    const { store, plan } = this.#deps;
    return (await store.takeWaiting(MOST_WAITING)).some((proof) => !plan.mayGo(proof.proof));
  }

  async #end(atNs: number): Promise<void> {
    const open = this.#open;
    if (open === null) return;
    await this.#deps.store.endHold(open, String(Math.round(atNs)));
    this.#open = null;
  }
}
