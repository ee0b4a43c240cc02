/**
 * The way down for a prover that shall end. Each rung has its own deadline and leaves a record; what still lives after the last one is
 * stuck in the kernel, is fenced by the host and is not signalled again.
 *
 *   drain command ─▶ stop command ─▶ TERM to the group ─▶ KILL to the group ─▶ stuck
 */
import { within, TIMED_OUT, type Clock } from '../../contract/clock.ts';
import type { Nanoseconds } from '../../contract/units.ts';

export type Rung = 'drain' | 'stop' | 'term' | 'kill';

export interface LadderStep {
  rung: Rung;
  /** From the first rung on. */
  atNs: Nanoseconds;
  waitedNs: Nanoseconds;
  /** `skipped`: the command could not be given (no socket); the next rung follows at once. `hurried`: a more urgent end was asked for. */
  result: 'ended' | 'timed_out' | 'skipped' | 'hurried' | 'stuck';
  /** One sentence for people. */
  message: string;
}

/** What the ladder acts through. */
export interface LadderHands {
  command(command: 'drain' | 'stop'): Promise<void>;
  /** To the whole group, after checking that it is still ours. False when there is nobody left. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): boolean;
  /** Its letter in /proc, null when it is gone or a zombie. */
  state(): string | null;
  /** Settles once the process is gone. */
  ended: Promise<unknown>;
}

export interface LadderDeadlines {
  stopMs: number;
  termMs: number;
  killMs: number;
}

export const LADDER_DEADLINES: LadderDeadlines = { stopMs: 10_000, termMs: 5_000, killMs: 5_000 };

const POLL_MS = 50;

export class Ladder {
  readonly #hands: LadderHands;
  readonly #clock: Clock;
  readonly #deadlines: LadderDeadlines;
  readonly #record: (step: LadderStep) => void;
  readonly #steps: LadderStep[] = [];
  #run: Promise<LadderStep[]> | null = null;
  #rung: Rung | null = null;
  #hurry: () => void = () => undefined;
  #wanted: 'drain' | 'now' | 'hung' = 'drain';
  #startNs = 0;

  constructor(
    hands: LadderHands,
    clock: Clock,
    deadlines: LadderDeadlines = LADDER_DEADLINES,
    record: (step: LadderStep) => void = () => undefined,
  ) {
    this.#hands = hands;
    this.#clock = clock;
    this.#deadlines = deadlines;
    this.#record = record;
  }

  /** Steps down from the rung that `how` begins at. Called again, it hurries a descent that is under way and never slows one. */
  descend(how: 'drain' | 'now' | 'hung', drainMs: number): Promise<LadderStep[]> {
    if (this.#run) {
      if (how !== 'drain' && this.#wanted === 'drain') {
        this.#wanted = how;
        if (this.#rung === 'drain') this.#hurry();
      }
      return this.#run;
    }
    this.#wanted = how;
    this.#startNs = this.#clock.nowNs();
    this.#run = this.#descend(drainMs);
    return this.#run;
  }

  async #descend(drainMs: number): Promise<LadderStep[]> {
    const { stopMs, termMs, killMs } = this.#deadlines;
    if (this.#wanted === 'drain' && (await this.#ask('drain', drainMs))) return this.#steps;
    // A silent process is not asked for long: its socket may not answer at all.
    if (await this.#ask('stop', this.#wanted === 'hung' ? Math.min(stopMs, 2_000) : stopMs)) return this.#steps;
    if (await this.#push('term', 'SIGTERM', termMs)) return this.#steps;
    await this.#push('kill', 'SIGKILL', killMs);
    return this.#steps;
  }

  async #ask(rung: 'drain' | 'stop', deadlineMs: number): Promise<boolean> {
    const from = this.#clock.nowNs();
    this.#rung = rung;
    const hurried = new Promise<'hurried'>((resolve) => {
      this.#hurry = () => resolve('hurried');
    });
    const asked = this.#hands.command(rung).then(
      () => new Promise<never>(() => undefined),
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const ended = this.#hands.ended.then(() => 'ended' as const);
    const outcome = await within(this.#clock, deadlineMs, Promise.race([ended, hurried, asked]));
    if (outcome === 'ended') return this.#note(rung, from, 'ended', `It ended after the command ${rung}.`);
    if (outcome === 'hurried') return this.#note(rung, from, 'hurried', 'A stop at once was asked for.');
    if (outcome === TIMED_OUT)
      return this.#note(rung, from, 'timed_out', `It did not end within ${deadlineMs / 1000} s of the command ${rung}.`);
    if (this.#hands.state() === null) return this.#note(rung, from, 'ended', 'It was gone already.');
    return this.#note(rung, from, 'skipped', `The command ${rung} could not be given: ${outcome}`);
  }

  async #push(rung: 'term' | 'kill', signal: 'SIGTERM' | 'SIGKILL', deadlineMs: number): Promise<boolean> {
    const from = this.#clock.nowNs();
    this.#rung = rung;
    if (!this.#hands.signal(signal)) return this.#note(rung, from, 'ended', 'It was gone already.');
    const outcome = await within(this.#clock, deadlineMs, this.#gone(from, deadlineMs));
    if (outcome === true) return this.#note(rung, from, 'ended', `It ended after ${signal} to its group.`);
    if (rung === 'term') return this.#note(rung, from, 'timed_out', `It did not end within ${deadlineMs / 1000} s of ${signal}.`);
    const state = this.#hands.state();
    const why =
      state === 'D'
        ? 'it is in state D, stuck in the kernel (as a rule in the GPU driver)'
        : `it is still there in state ${state ?? 'unknown'}`;
    return this.#note(rung, from, 'stuck', `It cannot be killed: ${why}. It is fenced; a reboot is needed to free what it holds.`);
  }

  /** True once the process is gone: by its end, or by /proc (an adopted process has no other sign). */
  async #gone(from: Nanoseconds, deadlineMs: number): Promise<boolean> {
    let ended = false;
    void this.#hands.ended.then(() => (ended = true));
    while (!ended && this.#hands.state() !== null) {
      if (this.#clock.nowNs() - from > deadlineMs * 1e6) return false;
      await new Promise<void>((resolve) => {
        const timer = this.#clock.after(POLL_MS, resolve);
        void this.#hands.ended.then(() => {
          timer.cancel();
          resolve();
        });
      });
    }
    return true;
  }

  #note(rung: Rung, from: Nanoseconds, result: LadderStep['result'], message: string): boolean {
    const step: LadderStep = { rung, atNs: from - this.#startNs, waitedNs: this.#clock.nowNs() - from, result, message };
    this.#steps.push(step);
    this.#record(step);
    return result === 'ended';
  }
}
