/** The run that the prover serves: its row first, then the prover's word; another scheduler begins another run in the same process. */
import type { Clock } from '../contract/clock.ts';
import { ProverRefusal, type ProverProcess } from '../engines/engine.ts';
import type { Store } from '../store/types.ts';
import { sameSetup, type Plan, type Setup } from './plan.ts';

export interface CurrentRun {
  run: string;
  setup: Setup;
  startedWallMs: number;
}

/** Beyond these a run is cut, once no proof is in the prover, and continued as another one. */
export interface RunLimits {
  ms: number;
  events: number;
}
export const RUN_LIMITS: RunLimits = { ms: 86_400_000, events: 2_000_000 };

export interface RunSlotDeps {
  store: Store;
  clock: Clock;
  plan: Plan;
  limits?: RunLimits;
  onBegun(begun: CurrentRun): void;
  onChange(): void;
}

export class RunSlot {
  readonly #deps: RunSlotDeps;
  /** A run that has a row, but that no process has begun. */
  #unbegun: CurrentRun | null = null;
  /** Null between runs. */
  current: CurrentRun | null = null;
  #begunNs = 0;
  /** The process's numbers at its start (null: not heard yet) and now. */
  #firstSeq: number | null = null;
  #lastSeq = 0;

  constructor(deps: RunSlotDeps) {
    this.#deps = deps;
  }

  /** The row of the next run under the active set-up; the same one until a process begins it. */
  async create(): Promise<CurrentRun> {
    const { store, plan, clock } = this.#deps;
    const setup = plan.active;
    if (this.#unbegun && sameSetup(this.#unbegun.setup, setup)) return this.#unbegun;
    await this.drop('never began');
    const { run } = await store.createRun({
      scheduler: setup.scheduler,
      backend: setup.backend,
      engine: 'builtin',
      emulate: setup.emulate,
    });
    this.#unbegun = { run, setup, startedWallMs: clock.wallMs() };
    return this.#unbegun;
  }

  /** Closes a run that will not begin. */
  async drop(why: string): Promise<void> {
    if (!this.#unbegun) return;
    await this.#deps.store.closeRun(this.#unbegun.run, { state: 'failed', endedBy: why, atLastEvent: true });
    this.#unbegun = null;
  }

  async begin(process: ProverProcess): Promise<void> {
    const begun = await this.create();
    await process.run(begun.run, begun.setup.scheduler, begun.setup.emulate);
    this.#unbegun = null;
    this.current = begun;
    this.#begunNs = this.#deps.clock.nowNs();
    this.#firstSeq = null;
    this.#deps.onBegun(begun);
    this.#deps.onChange();
  }

  /** Hears how far its process's events are committed. */
  heard(lastSeq: number): void {
    this.#firstSeq ??= lastSeq;
    this.#lastSeq = lastSeq;
  }

  /** It has lasted a day, or has two million events. */
  get isOver(): boolean {
    const { ms, events } = this.#deps.limits ?? RUN_LIMITS;
    if (!this.current) return false;
    return this.#deps.clock.nowNs() - this.#begunNs > ms * 1e6 || this.#lastSeq - (this.#firstSeq ?? this.#lastSeq) > events;
  }

  /** Another run in the same process: params stay where they are. False when the prover wants to be restarted for it. */
  async reconfigure(process: ProverProcess, endedBy: 'configured' | 'continued'): Promise<boolean> {
    const old = this.current;
    try {
      await this.begin(process);
    } catch (error) {
      if (error instanceof ProverRefusal && (error.code === 'restart_needed' || error.code === 'not_quiescent')) return false;
      throw error;
    }
    if (old) await this.#deps.store.closeRun(old.run, { state: 'finished', endedBy, atLastEvent: false });
    return true;
  }
}
