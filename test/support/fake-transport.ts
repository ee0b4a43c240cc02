/**
 * A contract transport that a test scripts: what each call answers, what the live subscription says, when it is lost. It keeps every
 * call, so that a test can ask what was sent.
 */
import type { CallName, CallOutput, Transport } from '../../electron/contract/api.ts';
import type { LiveMessage } from '../../electron/contract/live.ts';
import { toFailure, type Failure, type Result } from '../../electron/contract/errors.ts';

type Answer<C extends CallName> = Result<CallOutput<C>> | ((input: unknown) => Result<CallOutput<C>> | Promise<Result<CallOutput<C>>>);

export class FakeTransport implements Transport {
  readonly calls: { name: CallName; input: unknown }[] = [];
  /** Subscriptions ever begun, and those that listen now. */
  subscriptions = 0;
  #answers = new Map<CallName, Answer<CallName>>();
  #subscribers = new Set<{ onMessage: (message: LiveMessage) => void; onClose: () => void }>();
  /** Told to every new subscriber at once, as the host does. */
  greeting: () => LiveMessage[] = () => [];

  /** Sets what a call answers from now on: a value, a failure, or a function of the input. */
  answer<C extends CallName>(name: C, answer: Answer<C>): this {
    this.#answers.set(name, answer as unknown as Answer<CallName>);
    return this;
  }

  value<C extends CallName>(name: C, value: CallOutput<C>): this {
    return this.answer(name, { ok: true, value } as Answer<C>);
  }

  fail(name: CallName, code: Failure['code'], message: string, detail?: Record<string, unknown>): this {
    return this.answer(name, { ok: false, code, message, ...(detail ? { detail } : {}) });
  }

  get listening(): number {
    return this.#subscribers.size;
  }

  inputsOf(name: CallName): unknown[] {
    return this.calls.filter((call) => call.name === name).map((call) => call.input);
  }

  async call(name: CallName, input: unknown): Promise<Result<unknown>> {
    this.calls.push({ name, input });
    const answer = this.#answers.get(name);
    if (answer === undefined) return { ok: false, code: 'internal', message: `the test gave no answer for ${name}` };
    try {
      return typeof answer === 'function' ? await answer(input) : answer;
    } catch (error) {
      return toFailure(error);
    }
  }

  live(onMessage: (message: LiveMessage) => void, onClose: () => void): () => void {
    const subscriber = { onMessage, onClose };
    this.subscriptions += 1;
    this.#subscribers.add(subscriber);
    for (const message of this.greeting()) onMessage(message);
    return () => this.#subscribers.delete(subscriber);
  }

  push(...messages: LiveMessage[]): void {
    for (const message of messages) {
      for (const subscriber of [...this.#subscribers]) subscriber.onMessage(message);
    }
  }

  /** The connection is lost: every subscriber hears it once. */
  lose(): void {
    const lost = [...this.#subscribers];
    this.#subscribers.clear();
    for (const subscriber of lost) subscriber.onClose();
  }
}
