/** The other end of the socket door: a {@link Transport} over the host's unix socket, for the command line and the window. */
import { connect, type Socket } from 'node:net';
import type { CallName, Transport } from '../../contract/api.ts';
import { InterlockError, toFailure, type Result } from '../../contract/errors.ts';
import type { LiveMessage } from '../../contract/live.ts';
import { LineSplitter } from '../../contract/lines.ts';
import { ANSWER_CAP } from '../router.ts';
import type { AnswerLine } from './protocol.ts';

export interface SocketTransport extends Transport {
  /** Resolves once the connection is gone. */
  readonly closed: Promise<void>;
  close(): void;
}

/** Connects to a living host; null when nobody answers there. */
export function connectToHost(path: string): Promise<SocketTransport | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      resolve(new Connected(socket));
    });
    socket.once('error', () => resolve(null));
  });
}

interface Listener {
  onMessage(message: LiveMessage): void;
  onClose(): void;
}

class Connected implements SocketTransport {
  readonly #socket: Socket;
  readonly #splitter = new LineSplitter(ANSWER_CAP + 4096);
  readonly #calls = new Map<number, (result: Result<unknown>) => void>();
  readonly #listeners = new Map<number, Listener>();
  readonly closed: Promise<void>;
  #nextId = 1;
  #lost: Result<unknown> | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', () => socket.destroy());
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#end('The host ended or closed the connection.');
        resolve();
      });
    });
  }

  call(name: CallName, input: unknown): Promise<Result<unknown>> {
    if (this.#lost) return Promise.resolve(this.#lost);
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#calls.set(id, resolve);
      this.#socket.write(`${JSON.stringify({ id, call: name, input })}\n`);
    });
  }

  live(onMessage: (message: LiveMessage) => void, onClose: () => void): () => void {
    const id = this.#nextId++;
    if (this.#lost) {
      queueMicrotask(onClose);
      return () => undefined;
    }
    this.#listeners.set(id, { onMessage, onClose });
    this.#socket.write(`${JSON.stringify({ id, live: true })}\n`);
    return () => {
      if (this.#listeners.delete(id) && !this.#lost) this.#socket.write(`${JSON.stringify({ id, live: false })}\n`);
    };
  }

  close(): void {
    this.#end('The connection was closed.');
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    try {
      for (const line of this.#splitter.push(chunk)) this.#answer(JSON.parse(line) as AnswerLine);
    } catch {
      this.#end('The host sent something that cannot be read.');
      this.#socket.destroy();
    }
  }

  #answer(answer: AnswerLine): void {
    if ('message' in answer) return this.#listeners.get(answer.id)?.onMessage(answer.message);
    const resolve = this.#calls.get(answer.id);
    this.#calls.delete(answer.id);
    resolve?.(answer.result);
  }

  #end(why: string): void {
    if (this.#lost) return;
    this.#lost = toFailure(new InterlockError('no_host', why));
    for (const resolve of this.#calls.values()) resolve(this.#lost);
    this.#calls.clear();
    for (const listener of this.#listeners.values()) listener.onClose();
    this.#listeners.clear();
  }
}
