/**
 * The window's way to the host: always the host's unix socket, whether that host runs headless for days or was started for this window.
 * If nobody answers there it starts one, once, and waits for it. A lost connection is made anew by the next call.
 */
import type { CallName, Transport } from '../../contract/api.ts';
import { sleep, type Clock } from '../../contract/clock.ts';
import { InterlockError, toFailure, type Result } from '../../contract/errors.ts';
import type { LiveMessage } from '../../contract/live.ts';
import type { SocketTransport } from '../socket/client.ts';

const POLL_MS = 100;
/** A host that heals a large history may take its time. */
const START_MS = 60_000;

export interface HostConnectionOptions {
  clock: Clock;
  connect: () => Promise<SocketTransport | null>;
  /** Starts a host; resolves with why it ended, if it ends before it answers. */
  startHost: () => Promise<string>;
}

export class HostConnection implements Transport {
  readonly #options: HostConnectionOptions;
  #connection: Promise<SocketTransport> | null = null;
  #closed = false;

  constructor(options: HostConnectionOptions) {
    this.#options = options;
  }

  async call(name: CallName, input: unknown): Promise<Result<unknown>> {
    try {
      return await (await this.#connect()).call(name, input);
    } catch (error) {
      return toFailure(error);
    }
  }

  live(onMessage: (message: LiveMessage) => void, onClose: () => void): () => void {
    let left = false;
    let leave: (() => void) | null = null;
    this.#connect().then(
      (transport) => {
        if (!left) leave = transport.live(onMessage, onClose);
      },
      () => {
        if (!left) onClose();
      },
    );
    return () => {
      left = true;
      leave?.();
    };
  }

  /** The host itself goes on. */
  async close(): Promise<void> {
    this.#closed = true;
    const connection = await this.#connection?.catch(() => null);
    connection?.close();
  }

  #connect(): Promise<SocketTransport> {
    if (this.#closed) return Promise.reject(new InterlockError('no_host', 'The window is closing.'));
    if (!this.#connection) {
      const attempt = this.#findOrStart();
      const forget = () => {
        if (this.#connection === attempt) this.#connection = null;
      };
      this.#connection = attempt;
      attempt.then((transport) => void transport.closed.then(forget), forget);
    }
    return this.#connection;
  }

  async #findOrStart(): Promise<SocketTransport> {
    const { clock, connect, startHost } = this.#options;
    const running = await connect();
    if (running) return running;
    let ended: string | null = null;
    void startHost().then(
      (why) => {
        ended = why;
      },
      (error: unknown) => {
        ended = error instanceof Error ? error.message : String(error);
      },
    );
    const untilNs = clock.nowNs() + START_MS * 1e6;
    while (clock.nowNs() < untilNs) {
      const transport = await connect();
      if (transport) return transport;
      if (ended !== null) throw new InterlockError('no_host', `The host could not be started: ${String(ended)}`);
      await sleep(clock, POLL_MS);
    }
    throw new InterlockError('no_host', `The host did not answer within ${START_MS / 1000} s.`);
  }
}
