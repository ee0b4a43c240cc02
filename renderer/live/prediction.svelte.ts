/**
 * Asks the host what the act of the verdict line would bring: once after each proof end, at most every ten seconds, one question at a
 * time. It never keeps the screen waiting, and an answer to an older question changes nothing.
 */
import { ERROR_CODES, toFailure } from '../../electron/contract/errors.ts';
import type { HostLink } from '../link/host-link.svelte.ts';
import type { Act } from './acts.ts';
import { sameAct, type Prediction } from './verdict.ts';

export const ASK_EVERY_MS = 10_000;

export class PredictionAsker {
  prediction = $state.raw<Prediction | null>(null);

  #link: HostLink;
  #askedMs: number | null = null;
  /** Run, valid proofs and act of the last question. */
  #about = '';
  #asking = false;

  constructor(link: HostLink) {
    this.#link = link;
  }

  /** Told with every refresh of the text; asks when there is something new to ask. */
  consider(run: string, proofsEnded: number, act: Act | null): void {
    if (act === null || this.#asking || this.#link.connection !== 'open') return;
    const about = `${run} ${proofsEnded} ${act.cause} ${JSON.stringify(act.change)}`;
    const nowMs = this.#link.clock.nowNs() / 1e6;
    if (about === this.#about || (this.#askedMs !== null && nowMs - this.#askedMs < ASK_EVERY_MS)) return;
    this.#about = about;
    this.#askedMs = nowMs;
    void this.#ask(run, act);
  }

  /** Another run: what was said of the last one is over. */
  forget(): void {
    this.prediction = null;
    this.#about = '';
  }

  async #ask(run: string, act: Act): Promise<void> {
    this.#asking = true;
    const about = this.#about;
    try {
      const report = await this.#link.client.simulate({ run, change: act.change });
      if (about === this.#about) this.prediction = { act, report };
    } catch (error) {
      const failure = toFailure(error);
      // An answer that is known stays while a later question fails.
      const known = this.prediction && 'report' in this.prediction && sameAct(this.prediction.act, act);
      if (about === this.#about && !known) this.prediction = { act, failed: failure.message || ERROR_CODES[failure.code].next };
    }
    this.#asking = false;
  }
}
