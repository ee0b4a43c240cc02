/**
 * The screens' one connection to the host: the typed client, the newest {@link HostStatus}, and the live messages, whatever carries
 * them. It owns losing the connection and coming back; it leaves what a message means to the screens.
 *
 *   connecting ──first message──▶ open ──closed──▶ reconnecting ──first message──▶ open
 *        └───────────────── the host knows this session no more ──────────────────▶ refused   (a fresh link is needed)
 *
 * A new subscription begins with `status` and a whole snapshot, so coming back needs no catching up of its own.
 */
import type { Client, Transport } from '../../electron/contract/api.ts';
import { createClient } from '../../electron/contract/client.ts';
import type { Clock, Timer } from '../../electron/contract/clock.ts';
import type { HostStatus, LiveMessage } from '../../electron/contract/live.ts';

export type Connection = 'connecting' | 'open' | 'reconnecting' | 'refused';
export type RunMessage = Exclude<LiveMessage, { kind: 'status' }>;

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8000;

export class HostLink {
  readonly client: Client;
  readonly clock: Clock;
  connection = $state<Connection>('connecting');
  status = $state.raw<HostStatus | null>(null);
  /** Wall clock of the last message, ms; null before the first. */
  lastMessageMs = $state<number | null>(null);
  /** Tries since the connection was lost. */
  tries = $state(0);

  #transport: Transport;
  #listeners = new Set<(message: RunMessage) => void>();
  #leave: (() => void) | null = null;
  #timer: Timer | null = null;
  #ended = false;
  /** Raised by every subscription and loss, so that a late answer changes nothing. */
  #turn = 0;

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.client = createClient(transport);
    this.clock = clock;
  }

  /** Begins; called once. */
  open(): void {
    this.#subscribe();
  }

  close(): void {
    this.#ended = true;
    this.#timer?.cancel();
    this.#leave?.();
  }

  onRun(listener: (message: RunMessage) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Asks for a fresh snapshot, after a batch was missed. */
  resubscribe(): void {
    if (this.#ended || this.connection !== 'open') return;
    this.#leave?.();
    this.#subscribe();
  }

  /** Tries again now instead of at the end of the wait. */
  retry(): void {
    if (this.#ended || this.connection === 'open') return;
    this.#timer?.cancel();
    this.#leave?.();
    if (this.connection === 'refused') this.connection = this.status ? 'reconnecting' : 'connecting';
    this.#subscribe();
  }

  #subscribe(): void {
    this.#turn += 1;
    let current = true;
    const leave = this.#transport.live(
      (message) => {
        if (current) this.#receive(message);
      },
      () => {
        if (!current) return;
        current = false;
        this.#leave = null;
        void this.#lost();
      },
    );
    if (!current) return;
    this.#leave = () => {
      current = false;
      this.#leave = null;
      leave();
    };
  }

  #receive(message: LiveMessage): void {
    this.connection = 'open';
    this.tries = 0;
    this.lastMessageMs = this.clock.wallMs();
    if (message.kind === 'status') {
      this.status = message.status;
      return;
    }
    for (const listener of this.#listeners) listener(message);
  }

  async #lost(): Promise<void> {
    if (this.#ended) return;
    if (this.connection === 'open') this.connection = 'reconnecting';
    // The subscription says only that it ended; a call says why.
    const turn = ++this.#turn;
    const answer = await this.#transport.call('status', {});
    if (this.#ended || turn !== this.#turn) return;
    if (!answer.ok && answer.code === 'unauthorised') {
      this.connection = 'refused';
      return;
    }
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.tries);
    this.tries += 1;
    this.#timer = this.clock.after(wait, () => this.#subscribe());
  }
}
