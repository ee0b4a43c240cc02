/**
 * What subscribers of the live view get: the status, a snapshot, then batches. A subscriber that is too slow is skipped and gets a fresh
 * snapshot once it takes messages again; it never holds up the host, nor is anything kept for it.
 */
import type { LiveSubscriber } from '../contract/api.ts';
import type { Clock, Timer } from '../contract/clock.ts';
import type { HostStatus, LiveMessage } from '../contract/live.ts';
import type { Store } from '../store/types.ts';

const STATUS_EVERY_MS = 1_000;
const STATUS_SOON_MS = 100;
const RETRY_SLOW_MS = 500;

interface Listener {
  subscriber: LiveSubscriber;
  /** Run and number of the last batch it has; null: it needs a snapshot first. */
  run: string | null;
  batch: number;
  /** A snapshot is being fetched for it. */
  catching: boolean;
  slow: boolean;
}

export class Broadcast {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #readStatus: () => Promise<HostStatus>;
  readonly #listeners = new Set<Listener>();
  readonly #unsubscribe: () => void;
  #timer: Timer | null = null;
  #soon = false;
  #closed = false;

  constructor(store: Store, clock: Clock, readStatus: () => Promise<HostStatus>) {
    this.#store = store;
    this.#clock = clock;
    this.#readStatus = readStatus;
    this.#unsubscribe = store.onLive((message) => this.#live(message));
  }

  subscribe(subscriber: LiveSubscriber): () => void {
    const listener: Listener = { subscriber, run: null, batch: -1, catching: false, slow: false };
    this.#listeners.add(listener);
    void this.#readStatus().then((status) => {
      this.#send(listener, { kind: 'status', status });
      void this.#catchUp(listener);
    }, ignore);
    this.#schedule(STATUS_EVERY_MS);
    return () => this.#listeners.delete(listener);
  }

  /** Status has changed: subscribers hear of it soon. */
  changed(): void {
    if (this.#soon || this.#listeners.size === 0) return;
    this.#soon = true;
    this.#timer?.cancel();
    this.#timer = null;
    this.#schedule(STATUS_SOON_MS);
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#unsubscribe();
    this.#listeners.clear();
  }

  #schedule(ms: number): void {
    if (this.#timer || this.#closed) return;
    this.#timer = this.#clock.after(ms, () => {
      this.#timer = null;
      this.#soon = false;
      if (this.#listeners.size === 0) return;
      void this.#readStatus()
        .then((status) => {
          for (const listener of this.#listeners) this.#send(listener, { kind: 'status', status });
        }, ignore)
        .finally(() => this.#schedule(STATUS_EVERY_MS));
    });
  }

  #send(listener: Listener, message: LiveMessage): boolean {
    if (!this.#listeners.has(listener)) return false;
    let taken = false;
    try {
      taken = listener.subscriber.send(message);
    } catch {
      this.#listeners.delete(listener);
    }
    return taken;
  }

  #live(message: LiveMessage): void {
    for (const listener of this.#listeners) {
      if (listener.catching || listener.slow) continue;
      if (message.kind === 'snapshot') this.#give(listener, message, message.live.run, message.live.batch);
      else if (message.kind === 'batch') {
        if (message.run === listener.run && message.batch <= listener.batch) continue;
        if (message.run !== listener.run || message.batch !== listener.batch + 1) void this.#catchUp(listener);
        else this.#give(listener, message, message.run, message.batch);
      } else if (message.kind === 'no_run') this.#send(listener, message);
    }
  }

  #give(listener: Listener, message: LiveMessage, run: string, batch: number): void {
    // A refusal means: taken or not, no more for now. What follows is a snapshot, so it does not matter which.
    if (this.#send(listener, message)) {
      listener.run = run;
      listener.batch = batch;
      return;
    }
    listener.slow = true;
    this.#clock.after(RETRY_SLOW_MS, () => {
      listener.slow = false;
      void this.#catchUp(listener);
    });
  }

  async #catchUp(listener: Listener): Promise<void> {
    if (listener.catching || !this.#listeners.has(listener)) return;
    listener.catching = true;
    try {
      const live = await this.#store.liveSnapshot();
      listener.catching = false;
      if (live) this.#give(listener, { kind: 'snapshot', live }, live.run, live.batch);
      else this.#send(listener, { kind: 'no_run' });
    } catch {
      listener.catching = false;
    }
  }
}

function ignore(): void {
  // The store is closing, or says by itself that it fails.
}
