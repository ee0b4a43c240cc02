/**
 * Owns the one prover: starts it, watches it, makes it end. Says what phase it is in; what its end means for proofs and runs is the
 * queue's business (proof-queue.ts).
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Timer } from '../contract/clock.ts';
import type { ProverPhase } from '../contract/live.ts';
import type { AttachAnswer, Engine, ProcessEnd, ProverProcess } from '../engines/engine.ts';
import type { LadderStep } from '../engines/supervision/ladder.ts';
import { StageHistory, Watchdog, WATCHDOG_LIMITS, type WatchdogLimits } from '../engines/supervision/watchdog.ts';
import type { ProcessRecord, Store } from '../store/types.ts';
import type { Setup } from './plan.ts';

export interface SupervisorDeps {
  engine: Engine;
  store: Store;
  clock: Clock;
  processesFolder: string;
  paramsFolder: string;
  graceS: () => number;
  history: StageHistory;
  /** The circuit of a proof that the prover holds; null where it is not known. */
  circuitOf(proof: string): string | null;
  watchdog?: WatchdogLimits;
  /** Something that status shows has changed. */
  onChange(): void;
  /** It is gone. Called once per process, whether it was asked to end or not; resolves when what it left is settled. */
  onEnded(process: ProverProcess, end: ProcessEnd, asked: boolean): Promise<void>;
  /** It cannot be killed; it may end later all the same. */
  onStuck(process: ProverProcess, message: string): void;
  onHung(process: ProverProcess, message: string, proof: string | null): void;
  /** A lost connection to it was replaced. */
  onRelinked(process: ProverProcess, held: AttachAnswer['proofs']): void;
}

export class Supervisor {
  readonly #deps: SupervisorDeps;
  #process: ProverProcess | null = null;
  #setup: Setup | null = null;
  #phase: ProverPhase = 'absent';
  #detail: string | null = null;
  #sinceMs: number;
  #ticking: Timer | null = null;
  #graceUsed = 600;

  constructor(deps: SupervisorDeps) {
    this.#deps = deps;
    this.#sinceMs = deps.clock.wallMs();
  }

  get process(): ProverProcess | null {
    return this.#process;
  }
  /** What the living process was started or last configured for. */
  get setup(): Setup | null {
    return this.#setup;
  }
  get phase(): ProverPhase {
    return this.#phase;
  }
  get detail(): string | null {
    return this.#detail;
  }
  get sinceMs(): number {
    return this.#sinceMs;
  }
  /** It takes proofs. */
  get isReady(): boolean {
    return this.#process !== null && this.#phase === 'ready' && this.#process.isLinked;
  }

  setPhase(phase: ProverPhase, detail: string | null = null): void {
    if (phase !== this.#phase) this.#sinceMs = this.#deps.clock.wallMs();
    this.#phase = phase;
    this.#detail = detail;
    this.#deps.onChange();
  }

  configured(setup: Setup): void {
    this.#setup = setup;
  }

  /** Starts a process for a run. Rejects with an InterlockError when it does not come up. */
  async start(setup: Setup, run: string): Promise<ProverProcess> {
    const { engine, store, processesFolder, paramsFolder } = this.#deps;
    this.setPhase('starting', setup.backend === 'emulated' ? 'the emulated prover is starting' : 'the prover is starting');
    const uuid = randomUUID();
    const folder = join(processesFolder, uuid);
    let started: ProverProcess | null = null;
    try {
      mkdirSync(folder, { mode: 0o700 });
      this.#graceUsed = this.#deps.graceS();
      started = await engine.start({
        process: uuid,
        folder,
        paramsFolder,
        backend: setup.backend,
        emulate: setup.emulate,
        graceS: this.#graceUsed,
      });
      const { pid, startTicks } = started.identity;
      await store.addProcess({
        process: uuid,
        pid,
        startTicks,
        folder,
        journal: join(folder, 'journal.ndjson'),
        backend: setup.backend,
        run,
      });
      await store.follow(uuid);
      this.#take(started, setup);
      return started;
    } catch (error) {
      this.setPhase('lost', error instanceof Error ? error.message : String(error));
      if (started) await started.end('now', 0);
      else await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Takes over a process that an earlier host had started. */
  async adopt(adopted: ProverProcess, setup: Setup, record: ProcessRecord): Promise<void> {
    await this.#deps.store.follow(record.process);
    this.#take(adopted, setup);
  }

  /** Makes the process end; the rest comes by `onEnded`. Nothing to do when there is none. */
  async end(how: 'drain' | 'now' | 'hung', why: string): Promise<void> {
    const ending = this.#process;
    if (!ending) return;
    this.setPhase(how === 'hung' ? 'hung' : how === 'drain' ? 'draining' : 'stopping', why);
    const steps = await ending.end(how, (this.#graceUsed + 30) * 1e9);
    const last = steps.at(-1);
    if (last?.result === 'stuck' && this.#process === ending) {
      this.setPhase('stuck', last.message);
      this.#deps.onStuck(ending, last.message);
    }
  }

  /** Records a rung of the ladder. */
  noteStep(process: string, step: LadderStep): void {
    const detail = { ...step } as unknown as Record<string, unknown>;
    void this.#deps.store.recordStep(process, `${step.rung}_${step.result}`, detail).catch(() => undefined);
  }

  /** Lets go of the process without ending it: it drains by its lifeline. */
  release(): void {
    this.#ticking?.cancel();
    this.#process?.release();
    this.#process = null;
  }

  #take(taken: ProverProcess, setup: Setup): void {
    this.#process = taken;
    this.#setup = setup;
    void taken.ended.then((end) => {
      const phase = this.#phase;
      const asked = phase === 'draining' || phase === 'stopping';
      const mine = this.#process === taken;
      if (mine) {
        this.#ticking?.cancel();
        this.#process = null;
        this.#setup = null;
        if (!asked) this.setPhase('lost', end.message);
      }
      // It counts as absent once what it left is settled, so that nobody sees an ended prover with proofs still in it.
      void this.#deps.onEnded(taken, end, asked).then(() => {
        if (mine && asked && this.#phase === phase) this.setPhase('absent');
      });
    });
    taken.onRelinked((answer) => this.#deps.onRelinked(taken, answer.proofs));
    this.setPhase('ready');
    this.#watch(taken);
  }

  #watch(watched: ProverProcess): void {
    const { clock, history } = this.#deps;
    const limits = this.#deps.watchdog ?? WATCHDOG_LIMITS;
    const backend = this.#setup?.backend ?? '';
    const workOf = (proof: string) => `${backend} ${this.#deps.circuitOf(proof) ?? ''}`.trim();
    const dog = new Watchdog(clock.nowNs(), history, limits, workOf);
    let asking = false;
    const tick = () => {
      if (this.#process !== watched) return;
      if (!asking) {
        asking = true;
        void watched
          .readState(limits.floorMs)
          .then((state) => {
            dog.observe(state, clock.nowNs());
            if (state.phase === 'draining' && this.#phase === 'ready') this.setPhase('draining', 'it drains by itself');
          })
          .catch(() => undefined)
          .finally(() => (asking = false));
      }
      const verdict = dog.tick(clock.nowNs());
      if (verdict.is !== 'well' && this.#phase !== 'hung' && this.#phase !== 'stuck') {
        this.#deps.onHung(watched, verdict.message, verdict.proof);
        void this.end('hung', verdict.message);
        return;
      }
      this.#ticking = clock.after(limits.periodMs, tick);
    };
    this.#ticking = clock.after(limits.periodMs, tick);
  }
}
