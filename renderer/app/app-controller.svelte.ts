/** State of the shell: where we are, the theme, which dialog is open, what the operator asked the host to do. */
import { toFailure, type Failure } from '../../electron/contract/errors.ts';
import type { SchedulerSettings } from '../../electron/contract/scheduler.ts';
import type { HostLink } from '../link/host-link.svelte.ts';
import type { Page } from '../link/page.ts';
import { LiveController } from '../live/live-controller.svelte.ts';
import { computeConditions } from './conditions.ts';
import { computeStanding, type ActionId } from './next-action.ts';
import { parseRoute } from './routes.ts';

export type Theme = 'system' | 'light' | 'dark';

export class AppController {
  path = $state('');
  theme = $state<Theme>('system');
  dialog = $state<'prove' | 'switch' | 'stop' | 'stop_now' | null>(null);
  /** Settings that the switch dialog begins with; null: those of the run. */
  suggestion = $state.raw<Partial<SchedulerSettings> | null>(null);
  /** What the host refused outside a dialog. */
  failure = $state.raw<Failure | null>(null);
  dismissed = $state.raw<ReadonlySet<number>>(new Set());

  readonly route = $derived.by(() => parseRoute(this.path));
  readonly standing = $derived.by(() => computeStanding(this.link.status));
  readonly conditions = $derived.by(() =>
    computeConditions({
      connection: this.link.connection,
      tries: this.link.tries,
      lastMessageMs: this.link.lastMessageMs,
      status: this.link.status,
      dismissed: this.dismissed,
    }),
  );
  readonly link: HostLink;
  readonly page: Page;
  readonly live: LiveController;

  constructor(link: HostLink, page: Page) {
    this.link = link;
    this.page = page;
    this.live = new LiveController(link);
    this.path = page.readPath();
    page.onPath(() => (this.path = page.readPath()));
    const theme = page.readChoice('theme');
    this.setTheme(theme === 'light' || theme === 'dark' ? theme : 'system');
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.page.setTheme(theme === 'system' ? null : theme);
    this.page.writeChoice('theme', theme === 'system' ? null : theme);
  }

  act(id: ActionId): void {
    this.failure = null;
    if (id === 'start') void this.#run(() => this.link.client.start({}));
    else {
      this.suggestion = null;
      this.dialog = id;
    }
  }

  /** The switch dialog with a change filled in; nothing happens before it is confirmed there. */
  suggest(change: Partial<SchedulerSettings>): void {
    this.suggestion = change;
    this.dialog = 'switch';
  }

  /** The sample of the empty screen: ten partitions of the built-in circuit, as configured. */
  proveSample(): void {
    void this.#run(() => this.link.client.prove({ circuit: 'sha256', partitions: 10, count: 1 }));
  }

  dismiss(notice: number): void {
    this.dismissed = new Set([...this.dismissed, notice]);
  }

  async #run(call: () => Promise<unknown>): Promise<void> {
    try {
      await call();
    } catch (error) {
      this.failure = toFailure(error);
    }
  }
}
