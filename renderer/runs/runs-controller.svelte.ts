/** State of the run list: pages of summaries from the host, newest first, and an order to show them in. */
import { toFailure, type Failure } from '../../electron/contract/errors.ts';
import type { RunSummary } from '../../electron/contract/run-report.ts';
import type { HostLink } from '../link/host-link.svelte.ts';
import { sortRuns, type SortKey } from './layout.ts';

const PAGE = 100;

export class RunsController {
  runs = $state.raw<readonly RunSummary[]>([]);
  more = $state(false);
  loading = $state(false);
  /** Whether the host has answered at all. */
  known = $state(false);
  failure = $state.raw<Failure | null>(null);
  sortKey = $state<SortKey>('started');
  ascending = $state(false);
  readonly shown = $derived.by(() => sortRuns(this.runs, this.sortKey, this.ascending));

  #link: HostLink;
  #question = 0;

  constructor(link: HostLink) {
    this.#link = link;
  }

  /** Reads the newest page again, and as many older runs as are on show. */
  async refresh(): Promise<void> {
    const question = ++this.#question;
    this.loading = true;
    try {
      const { runs, more } = await this.#link.client.list_runs({ limit: Math.min(500, Math.max(PAGE, this.runs.length)) });
      if (question !== this.#question) return;
      this.runs = runs;
      this.more = more;
      this.failure = null;
      this.known = true;
    } catch (error) {
      if (question === this.#question) this.failure = toFailure(error);
    }
    if (question === this.#question) this.loading = false;
  }

  async loadMore(): Promise<void> {
    const oldest = this.runs.at(-1);
    if (!oldest || this.loading) return;
    const question = ++this.#question;
    this.loading = true;
    try {
      const { runs, more } = await this.#link.client.list_runs({ limit: PAGE, before: oldest.run });
      if (question !== this.#question) return;
      this.runs = [...this.runs, ...runs];
      this.more = more;
    } catch (error) {
      if (question === this.#question) this.failure = toFailure(error);
    }
    if (question === this.#question) this.loading = false;
  }

  sortBy(key: SortKey): void {
    if (this.sortKey === key) this.ascending = !this.ascending;
    else {
      this.sortKey = key;
      this.ascending = key !== 'started' && key !== 'proofs';
    }
  }
}
