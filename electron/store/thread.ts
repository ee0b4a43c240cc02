/** One of the store's threads as seen from the host's: calls with numbers, answers in any order, told events. */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../contract/clock.ts';
import { InterlockError, type Failure } from '../contract/errors.ts';
import type { Answer, Told } from './messages.ts';

interface Waiting {
  call: string;
  sinceNs: number;
  resolve: (value: never) => void;
  reject: (error: InterlockError) => void;
}

export interface ThreadOptions {
  url: URL;
  data: unknown;
  clock: Clock;
  slowMs: number;
  onSlow: (entry: { call: string; ms: number }) => void;
  onTold: (told: Told) => void;
  /** It ended without being asked to; its waiting calls have failed with `interrupted`. */
  onLost: (why: string) => void;
}

/** `C`: its calls. Each becomes a function that returns a promise. */
export class Thread<C> {
  readonly #options: ThreadOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #worker: Worker;
  #lastId = 0;
  #ending = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.#worker = new Worker(options.url, { workerData: options.data });
    this.#worker.on('message', (message: Answer | Told) => {
      if ('told' in message) options.onTold(message);
      else this.#settle(message);
    });
    let why = 'it ended';
    this.#worker.on('error', (error) => (why = error instanceof Error ? error.message : String(error)));
    this.#worker.on('exit', () => {
      for (const { call, reject } of this.#waiting.values()) {
        reject(new InterlockError('interrupted', `The history's thread ended before it answered ${call}: ${why}`));
      }
      this.#waiting.clear();
      const wasEnding = this.#ending;
      this.#ending = true;
      if (!wasEnding) options.onLost(why);
    });
  }

  call<K extends keyof C & string>(
    call: K,
    ...args: C[K] extends (...args: infer A) => unknown ? A : never
  ): Promise<C[K] extends (...args: never[]) => infer R ? Awaited<R> : never> {
    if (this.#ending) return Promise.reject(new InterlockError('interrupted', 'The history is closed.'));
    return this.#send(call, args);
  }

  /** A call after which the thread ends by itself; waits for that. */
  async callLast(call: keyof C & string): Promise<void> {
    if (this.#ending) return;
    this.#ending = true;
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve));
    await this.#send(call, []);
    await ended;
  }

  #send(call: string, args: unknown[]): Promise<never> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { call, sinceNs: this.#options.clock.nowNs(), resolve, reject });
      this.#worker.postMessage({ id, call, args });
    });
  }

  async terminate(): Promise<void> {
    this.#ending = true;
    await this.#worker.terminate();
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    if (!waiting) return;
    this.#waiting.delete(answer.id);
    const ms = (this.#options.clock.nowNs() - waiting.sinceNs) / 1e6;
    if (ms > this.#options.slowMs) this.#options.onSlow({ call: waiting.call, ms });
    if (answer.ok) waiting.resolve(answer.value as never);
    else waiting.reject(failureToError(answer));
  }
}

export function failureToError(failure: Failure): InterlockError {
  return new InterlockError(failure.code, failure.message, failure.detail);
}
