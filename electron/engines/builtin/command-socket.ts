/**
 * One connection to a prover's command socket. Strict: every answer belongs to a request, fits its schema and comes within its deadline.
 * A peer that breaks the protocol loses the connection (its process is then judged by the watchdog, not here).
 */
import { lstatSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import * as v from 'valibot';
import type { Clock, Timer } from '../../contract/clock.ts';
import { InterlockError } from '../../contract/errors.ts';
import { parseUntrusted } from '../../contract/json.ts';
import { LineSplitter, LineTooLong } from '../../contract/lines.ts';
import { visibleText } from '../../contract/visible-text.ts';
import { ProverRefusal } from '../engine.ts';
import { ANSWERS, AnswerLine, LINE_CAP, type AnswerOf, type Command } from './protocol.ts';

interface Waiting {
  cmd: Command['cmd'];
  resolve(value: unknown): void;
  reject(error: Error): void;
  timer: Timer;
}

export const COMMAND_DEADLINE_MS = 15_000;

/** Why a request failed without the prover's refusing it. */
export class CommandSocketLost extends InterlockError {
  constructor(message: string) {
    super('prover_lost', message);
    this.name = 'CommandSocketLost';
  }
}

export class CommandSocket {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #splitter = new LineSplitter(LINE_CAP);
  readonly #waiting = new Map<number, Waiting>();
  /** Ids whose deadline passed: their late answers are not breaches. */
  readonly #late = new Set<number>();
  readonly closed: Promise<string>;
  #nextId = 1;
  #why: string | null = null;

  private constructor(socket: Socket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#fail(`the connection broke: ${error.message}`));
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#fail('the prover closed the connection');
        resolve(this.#why ?? '');
      });
    });
  }

  /** Connects to a socket that is ours: the path must be a socket owned by this user. */
  static connect(path: string, clock: Clock): Promise<CommandSocket> {
    return new Promise((resolve, reject) => {
      try {
        const stat = lstatSync(path);
        if (!stat.isSocket()) throw new CommandSocketLost(`${path} is not a socket`);
        if (stat.uid !== process.getuid?.()) throw new CommandSocketLost(`${path} belongs to another user`);
      } catch (error) {
        reject(error instanceof CommandSocketLost ? error : new CommandSocketLost(String(error)));
        return;
      }
      const socket = connect(path);
      socket.once('connect', () => {
        socket.removeAllListeners('error');
        resolve(new CommandSocket(socket, clock));
      });
      socket.once('error', (error) => reject(new CommandSocketLost(error.message)));
    });
  }

  /** Sends a command and waits for its checked answer. Rejects with a {@link ProverRefusal} or a {@link CommandSocketLost}. */
  request<C extends Command>(command: C, deadlineMs = COMMAND_DEADLINE_MS): Promise<AnswerOf<C['cmd']>> {
    return new Promise((resolve, reject) => {
      if (this.#why !== null) return reject(new CommandSocketLost(this.#why));
      const id = this.#nextId++;
      const line = JSON.stringify({ id, ...command });
      if (Buffer.byteLength(line) > LINE_CAP) return reject(new InterlockError('too_large', `The command ${command.cmd} is too long.`));
      const timer = this.#clock.after(deadlineMs, () => {
        this.#waiting.delete(id);
        this.#late.add(id);
        reject(new CommandSocketLost(`no answer to ${command.cmd} within ${deadlineMs / 1000} s`));
      });
      this.#waiting.set(id, { cmd: command.cmd, resolve: resolve as (value: unknown) => void, reject, timer });
      this.#socket.write(`${line}\n`);
    });
  }

  close(): void {
    this.#fail('closed by the host');
  }

  #take(chunk: Buffer): void {
    try {
      for (const line of this.#splitter.push(chunk)) this.#answer(line);
    } catch (error) {
      const what = error instanceof LineTooLong ? 'a line of more than 1 MiB' : error instanceof Error ? error.message : String(error);
      this.#fail(`the prover broke the protocol: ${visibleText(what).slice(0, 300)}`);
    }
  }

  #answer(line: string): void {
    if (this.#why !== null) return;
    const parsed = v.safeParse(AnswerLine, parseUntrusted(line));
    if (!parsed.success) throw new Error(`an answer of the wrong shape (${parsed.issues[0].message})`);
    const answer = parsed.output;
    const waiting = this.#waiting.get(answer.id);
    if (!waiting) {
      if (this.#late.delete(answer.id)) return;
      throw new Error(`an answer to ${answer.id}, which was not asked`);
    }
    this.#waiting.delete(answer.id);
    waiting.timer.cancel();
    if (!answer.ok) {
      waiting.reject(new ProverRefusal(answer.code, visibleText(answer.message).slice(0, 2000), answer.detail ?? {}));
      return;
    }
    const value = v.safeParse(ANSWERS[waiting.cmd], answer.value);
    if (value.success) return waiting.resolve(value.output);
    const problem = `an answer to ${waiting.cmd} of the wrong shape (${v.getDotPath(value.issues[0]) ?? ''} ${value.issues[0].message})`;
    waiting.reject(new CommandSocketLost(problem));
    throw new Error(problem);
  }

  #fail(why: string): void {
    if (this.#why !== null) return;
    this.#why = why;
    for (const waiting of this.#waiting.values()) {
      waiting.timer.cancel();
      waiting.reject(new CommandSocketLost(why));
    }
    this.#waiting.clear();
    this.#socket.destroy();
  }
}
