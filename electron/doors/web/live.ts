/**
 * The WebSocket of the web door. The order is fixed: the head is judged as any request's, then the socket has 2 s to send
 * `{"token": "…"}` as its first message, and only then does it become a subscriber; it has nothing else to say.
 *
 * A reader that falls behind costs a bounded amount: past {@link BUFFER_MOST} the subscriber says no, and the host skips to a snapshot.
 */
import type { Duplex } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import type { Host } from '../../contract/api.ts';
import type { Clock, Timer } from '../../contract/clock.ts';
import { parseUntrusted } from '../../contract/json.ts';
import type { Ration, Secrets } from './secrets.ts';

/** Bytes that may wait for a slow reader before it is told to skip. */
export const BUFFER_MOST = 4 * 2 ** 20;
const SOCKETS_MOST = 8;
const MESSAGE_MOST = 64 * 2 ** 10;
const FRAGMENTS_MOST = 64;
const CHUNKS_MOST = 256;
const FIRST_MESSAGE_MS = 2000;
const FAREWELL_MS = 500;
const PING_MS = 30_000;
/** Silent pings after which a socket is taken for gone; a reader may stall for more than a minute. */
const PINGS_MOST = 4;

export const CLOSE_UNAUTHORISED = 4401;
export const CLOSE_PROTOCOL = 4400;

export interface LiveOptions {
  host: Host;
  clock: Clock;
  secrets: Secrets;
  wrongTries: Ration;
  /** Tests alone. */
  off: { token: boolean; size: boolean; connections: boolean };
}

export class LiveSockets {
  readonly #options: LiveOptions;
  readonly #server: WebSocketServer;
  readonly #sockets = new Set<WebSocket>();

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      ...(options.off.size ? {} : { maxPayload: MESSAGE_MOST, maxFragments: FRAGMENTS_MOST, maxBufferedChunks: CHUNKS_MOST }),
    });
  }

  get full(): boolean {
    return !this.#options.off.connections && this.#sockets.size >= SOCKETS_MOST;
  }

  /** Takes over a connection whose head was judged good. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, (opened) => this.#greet(opened));
  }

  close(): void {
    for (const socket of this.#sockets) socket.terminate();
    this.#server.close();
  }

  #greet(socket: WebSocket): void {
    const { clock, off } = this.#options;
    this.#sockets.add(socket);
    let leave: (() => void) | null = null;
    let farewell: Timer | null = null;
    // A peer that does not answer the close is cut off.
    const dismiss = (code: number, reason: string) => {
      socket.close(code, reason);
      farewell ??= clock.after(FAREWELL_MS, () => socket.terminate());
    };
    const patience = clock.after(FIRST_MESSAGE_MS, () => {
      if (!leave) dismiss(CLOSE_UNAUTHORISED, 'no token in time');
    });
    const pings = this.#watch(socket);
    socket.on('close', () => {
      patience.cancel();
      farewell?.cancel();
      pings();
      leave?.();
      this.#sockets.delete(socket);
    });
    socket.on('error', () => socket.terminate());
    socket.on('message', (data, isBinary) => {
      if (leave) {
        dismiss(CLOSE_PROTOCOL, 'nothing more is expected');
        return;
      }
      if (isBinary || !this.#isWelcome(data)) {
        dismiss(CLOSE_UNAUTHORISED, 'wrong token');
        return;
      }
      patience.cancel();
      leave = this.#subscribe(socket);
    });
    if (off.token) leave = this.#subscribe(socket);
  }

  #isWelcome(data: RawData): boolean {
    let token: unknown;
    try {
      const message = parseUntrusted(String(data));
      token = typeof message === 'object' && message !== null && 'token' in message ? message.token : null;
    } catch {
      token = null;
    }
    if (typeof token === 'string' && this.#options.secrets.isToken(token)) return true;
    this.#options.wrongTries.take();
    return false;
  }

  #subscribe(socket: WebSocket): () => void {
    return this.#options.host.subscribe({
      send: (message) => {
        if (socket.readyState !== socket.OPEN || socket.bufferedAmount > BUFFER_MOST) return false;
        socket.send(JSON.stringify(message));
        return true;
      },
    });
  }

  /** Pings at long intervals; a socket that was silent for several is gone. Returns the function that ends it. */
  #watch(socket: WebSocket): () => void {
    let silent = 0;
    socket.on('pong', () => {
      silent = 0;
    });
    const step = () => {
      silent += 1;
      if (silent > PINGS_MOST) socket.terminate();
      else if (socket.readyState === socket.OPEN) socket.ping();
      timer = this.#options.clock.after(PING_MS, step);
    };
    let timer = this.#options.clock.after(PING_MS, step);
    return () => timer.cancel();
  }
}
