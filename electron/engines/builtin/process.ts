/**
 * One life of the built-in prover, spawned by us or picked up. Owns its pipes, its command socket and the way down; leaves the journal
 * and the spool to others.
 *
 *   spawned:   exit ─▶ close, or 2 s (somebody keeps its output) ─▶ what is left of its group is killed ─▶ ended
 *   adopted:   /proc shows it gone ─▶ the same
 */
import type { ChildProcess } from 'node:child_process';
import type { Clock, Timer } from '../../contract/clock.ts';
import type { Scheduler } from '../../contract/scheduler.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import type { AttachAnswer, ProcessEnd, ProcessIdentity, ProverProcess, ProverState, SubmitOrder } from '../engine.ts';
import { describeEnd } from '../supervision/diagnostics.ts';
import { Ladder, type LadderDeadlines, type LadderStep } from '../supervision/ladder.ts';
import { groupMembers, readStat, stateOf, type ReadStat } from '../supervision/proc.ts';
import { StderrRing, type StderrTail } from '../supervision/stderr-ring.ts';
import { CommandSocketLost, type CommandSocket } from './command-socket.ts';

/** How long after `exit` its output may stay open before it counts as ended all the same. */
const CLOSE_GRACE_MS = 2_000;
/** How long before another connection is tried. */
const RELINK_MS = 500;
/** How often an adopted process is looked for. */
const LOOK_MS = 250;

export interface ProcessDeps {
  clock: Clock;
  ladder?: LadderDeadlines;
  readStat?: ReadStat;
  onStep?: (step: LadderStep) => void;
}

export class BuiltinProcess implements ProverProcess {
  readonly identity: ProcessIdentity;
  readonly adopted: boolean;
  readonly ended: Promise<ProcessEnd>;
  attached!: AttachAnswer;
  readonly #deps: ProcessDeps;
  readonly #child: ChildProcess | null;
  readonly #ring = new StderrRing();
  readonly #ladder: Ladder;
  #socket: CommandSocket | null = null;
  #asked = false;
  #sentByUs: string | null = null;
  #gone = false;
  #released = false;
  #relinked: (answer: AttachAnswer) => void = () => undefined;
  #looking: Timer | null = null;
  #resolveEnded!: (end: ProcessEnd) => void;

  constructor(identity: ProcessIdentity, child: ChildProcess | null, deps: ProcessDeps) {
    this.identity = identity;
    this.adopted = child === null;
    this.#child = child;
    this.#deps = deps;
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    if (child) this.#watchChild(child);
    else this.#look();
    this.#ladder = new Ladder(
      {
        command: (command) => this.#order(command),
        signal: (signal) => this.#signal(signal),
        state: () => this.state(),
        ended: this.ended,
      },
      deps.clock,
      deps.ladder,
      deps.onStep,
    );
  }

  /** Its letter in /proc; null when it is gone or a zombie. */
  state(): string | null {
    return this.#gone ? null : stateOf(this.identity, this.#deps.readStat ?? readStat);
  }

  get isLinked(): boolean {
    return this.#socket !== null;
  }

  onRelinked(listener: (answer: AttachAnswer) => void): void {
    this.#relinked = listener;
  }

  /** Takes a connection that has attached. When it is lost and the process lives, another one is tried. */
  useSocket(socket: CommandSocket, attached: AttachAnswer, link: () => Promise<[CommandSocket, AttachAnswer]>): void {
    this.#socket = socket;
    this.attached = attached;
    void socket.closed.then(() => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      this.#relink(link);
    });
  }

  #relink(link: () => Promise<[CommandSocket, AttachAnswer]>): void {
    if (this.#released || this.state() === null) return;
    link().then(
      ([socket, answer]) => {
        if (this.#released || this.#gone) return socket.close();
        this.useSocket(socket, answer, link);
        this.#relinked(answer);
      },
      () => this.#deps.clock.after(RELINK_MS, () => this.#relink(link)),
    );
  }

  async run(run: string, scheduler: Scheduler, emulate: string | null): Promise<void> {
    await this.#link().request({ cmd: 'run', run, scheduler, emulate });
  }

  async submit(order: SubmitOrder): Promise<void> {
    await this.#link().request({ cmd: 'submit', ...order });
  }

  async withdraw(proof: string): Promise<'returned' | 'stopping' | 'unknown'> {
    return (await this.#link().request({ cmd: 'withdraw', proof })).state;
  }

  async readState(deadlineMs?: number): Promise<ProverState> {
    return this.#link().request({ cmd: 'state' }, deadlineMs);
  }

  async drain(): Promise<void> {
    await this.#order('drain');
  }

  end(how: 'drain' | 'now' | 'hung', deadlineNs: Nanoseconds): Promise<LadderStep[]> {
    return this.#ladder.descend(how, deadlineNs / 1e6);
  }

  /** Closes our ends: the end of file on its stdin begins the lifeline drain, and nothing of it keeps our event loop alive. */
  release(): void {
    this.#released = true;
    this.#looking?.cancel();
    this.#socket?.close();
    if (!this.#child) return;
    this.#child.stdin?.destroy();
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#child.unref();
  }

  stderr(): StderrTail {
    return this.#ring.read();
  }

  #link(): CommandSocket {
    if (!this.#socket) throw new CommandSocketLost('not connected');
    return this.#socket;
  }

  async #order(command: 'drain' | 'stop'): Promise<void> {
    this.#asked = true;
    await this.#link().request({ cmd: command }, 5_000);
  }

  #watchChild(child: ChildProcess): void {
    child.stdin?.on('error', () => undefined);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => this.#ring.push(chunk));
      stream?.on('error', () => undefined);
    }
    child.once('exit', (exit, signal) => {
      // Whoever still holds its output does not hold up its end.
      const timer = this.#deps.clock.after(CLOSE_GRACE_MS, () => this.#finish(exit, signal, true));
      child.once('close', () => {
        timer.cancel();
        this.#finish(exit, signal, false);
      });
    });
  }

  #look(): void {
    this.#looking = this.#deps.clock.after(LOOK_MS, () => {
      if (this.state() === null) this.#finish(null, null, false);
      else this.#look();
    });
  }

  #finish(exit: number | null, signal: string | null, outputHeld: boolean): void {
    if (this.#gone) return;
    if (groupMembers(this.identity.pid).length > 0) this.#signal('SIGKILL', true);
    this.#gone = true;
    this.#socket?.close();
    this.#child?.stdin?.destroy();
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
    const described = describeEnd({ exit, signal, asked: this.#asked, sentByUs: this.#sentByUs, lastLine: this.#ring.lastLine() });
    this.#resolveEnded({ ...described, exit, signal, outputHeld });
  }

  /**
   * Signals the whole group. A group's number stays taken while it has members, so what is found under it is ours, unless a process
   * with another start time leads it: then the number was given away, and nobody is signalled.
   */
  #signal(signal: 'SIGTERM' | 'SIGKILL', leaderIsGone = false): boolean {
    const leader = (this.#deps.readStat ?? readStat)(this.identity.pid);
    if (leader && leader.startTicks !== this.identity.startTicks) return false;
    if (!leader && groupMembers(this.identity.pid).length === 0) return false;
    try {
      process.kill(-this.identity.pid, signal);
    } catch {
      return false;
    }
    if (!leaderIsGone) {
      this.#asked = true;
      this.#sentByUs = signal;
    }
    return true;
  }
}
