/**
 * Idle account and gaps of one run. Read once the page shows them, each on its own; of a run that lasts, again now and then. The gaps
 * are filtered here: the host's totals are over the same list.
 */
import { toFailure, type Failure } from '../../electron/contract/errors.ts';
import type { Cause, GapsReport, Group, IdleReport } from '../../electron/contract/idle.ts';
import type { Timer } from '../../electron/contract/clock.ts';
import type { HostLink } from '../link/host-link.svelte.ts';

export const IDLE_AGAIN_MS = 15_000;
export const GAPS_A_PAGE = 50;
/** Gaps shorter than this are not asked for. */
export const LEAST_GAP_NS = 10_000_000;
export const MOST_GAPS = 1000;

export class IdleController {
  idle = $state.raw<IdleReport | null>(null);
  idleFailure = $state.raw<Failure | null>(null);
  gaps = $state.raw<GapsReport | null>(null);
  gapsFailure = $state.raw<Failure | null>(null);
  span = $state<'per_proof' | 'all'>('per_proof');
  cause = $state<Cause | Group | null>(null);
  gapsShown = $state(GAPS_A_PAGE);

  readonly filtered = $derived.by(() => (this.gaps?.gaps ?? []).filter((gap) => this.cause === null || gap.cause === this.cause));

  readonly run: string;
  #link: HostLink;
  #timer: Timer | null = null;
  #ended = false;
  #reading = false;

  constructor(link: HostLink, run: string) {
    this.#link = link;
    this.run = run;
  }

  async read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    this.#timer?.cancel();
    await this.#readIdle();
    await this.#readGaps();
    this.#reading = false;
    if (this.#ended) return;
    if (this.idle?.state === 'running') this.#timer = this.#link.clock.after(IDLE_AGAIN_MS, () => void this.read());
  }

  filterBy(cause: Cause | Group | null): void {
    this.cause = this.cause === cause ? null : cause;
    this.gapsShown = GAPS_A_PAGE;
  }

  dispose(): void {
    this.#ended = true;
    this.#timer?.cancel();
  }

  async #readIdle(): Promise<void> {
    try {
      const idle = await this.#link.client.idle({ run: this.run });
      if (this.#ended) return;
      this.idle = idle;
      this.idleFailure = null;
    } catch (error) {
      if (!this.#ended) this.idleFailure = toFailure(error);
    }
  }

  async #readGaps(): Promise<void> {
    if (this.#ended) return;
    try {
      const gaps = await this.#link.client.gaps({ run: this.run, min_ns: LEAST_GAP_NS, limit: MOST_GAPS });
      if (this.#ended) return;
      this.gaps = gaps;
      this.gapsFailure = null;
    } catch (error) {
      if (!this.#ended) this.gapsFailure = toFailure(error);
    }
  }
}
