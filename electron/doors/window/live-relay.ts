/**
 * Live feeds between the host and the page. Sending to a page never blocks and never says no, so the relay counts: a page that has not
 * taken {@link AHEAD_MOST} messages is skipped. Its feed from the host is left, and begun anew (with a fresh snapshot) once it has
 * caught up.
 *
 *   following ──too far ahead──▶ skipping ──page caught up──▶ following (new snapshot)
 */
import type { Transport } from '../../contract/api.ts';
import type { LiveMessage } from '../../contract/live.ts';
import type { LiveFeeds } from './ipc-gate.ts';

/** Messages on their way to a page at most: some ten seconds of a feed. */
export const AHEAD_MOST = 128;
/** A page this close behind has caught up: it tells how far it is in steps. */
const CAUGHT_UP = AHEAD_MOST / 4;
/** Feeds of one page at most. */
const FEEDS_MOST = 4;

interface Feed {
  ahead: number;
  /** Leaves the host's feed; null while skipping. */
  leave: (() => void) | null;
}

export class LiveRelay implements LiveFeeds {
  readonly #transport: Pick<Transport, 'live'>;
  readonly #send: (id: number, message: LiveMessage | null) => void;
  readonly #feeds = new Map<number, Feed>();
  #page = 0;

  /** `send` passes a message to the page; null says that the feed ended. */
  constructor(transport: Pick<Transport, 'live'>, send: (id: number, message: LiveMessage | null) => void) {
    this.#transport = transport;
    this.#send = send;
  }

  get size(): number {
    return this.#feeds.size;
  }

  /** `page` is another number after each load: the feeds of the page before are gone with it. */
  open(id: number, page: number): void {
    if (page !== this.#page) this.closeAll();
    this.#page = page;
    if (this.#feeds.has(id)) return;
    if (this.#feeds.size >= FEEDS_MOST) {
      this.#send(id, null);
      return;
    }
    const feed: Feed = { ahead: 0, leave: null };
    this.#feeds.set(id, feed);
    this.#follow(id, feed);
  }

  close(id: number): void {
    const feed = this.#feeds.get(id);
    this.#feeds.delete(id);
    feed?.leave?.();
  }

  took(id: number, count: number): void {
    const feed = this.#feeds.get(id);
    if (!feed) return;
    feed.ahead = Math.max(0, feed.ahead - count);
    if (feed.ahead <= CAUGHT_UP && feed.leave === null) this.#follow(id, feed);
  }

  /** The page is gone: nobody listens any more. */
  closeAll(): void {
    for (const id of this.#feeds.keys()) this.close(id);
  }

  #follow(id: number, feed: Feed): void {
    let current = true;
    const leave = this.#transport.live(
      (message) => {
        if (!current || this.#feeds.get(id) !== feed) return;
        feed.ahead += 1;
        this.#send(id, message);
        if (feed.ahead < AHEAD_MOST) return;
        current = false;
        feed.leave?.();
        feed.leave = null;
      },
      () => {
        if (!current || this.#feeds.get(id) !== feed) return;
        this.#feeds.delete(id);
        this.#send(id, null);
      },
    );
    if (current) feed.leave = leave;
    else leave();
  }
}
