/** State of one run's page: its report, and which proofs are open. A running run is read again now and then. */
import { toFailure, type Failure } from '../../electron/contract/errors.ts';
import type { Timer } from '../../electron/contract/clock.ts';
import type { RunReport } from '../../electron/contract/run-report.ts';
import type { HostLink } from '../link/host-link.svelte.ts';

export const READ_AGAIN_MS = 5000;
export const PROOFS_A_PAGE = 100;

export class RunController {
  report = $state.raw<RunReport | null>(null);
  failure = $state.raw<Failure | null>(null);
  open = $state.raw<ReadonlySet<string>>(new Set());
  proofsShown = $state(PROOFS_A_PAGE);

  readonly run: string;
  #link: HostLink;
  #timer: Timer | null = null;
  #ended = false;

  constructor(link: HostLink, run: string) {
    this.#link = link;
    this.run = run;
  }

  async read(): Promise<void> {
    this.#timer?.cancel();
    try {
      const report = await this.#link.client.show_run({ run: this.run });
      if (this.#ended) return;
      this.report = report;
      this.failure = null;
    } catch (error) {
      if (this.#ended) return;
      this.failure = toFailure(error);
    }
    if (this.report?.state === 'running') this.#timer = this.#link.clock.after(READ_AGAIN_MS, () => void this.read());
  }

  toggle(key: string): void {
    const open = new Set(this.open);
    if (!open.delete(key)) open.add(key);
    this.open = open;
  }

  dispose(): void {
    this.#ended = true;
    this.#timer?.cancel();
  }
}
