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

export interface RunSlotDeps {
  store: Store;
  clock: Clock;
  plan: Plan;
  onBegun(begun: CurrentRun): void;
  onChange(): void;
}

export class RunSlot {
  readonly #deps: RunSlotDeps;
  /** A run that has a row, but that no process has begun. */
  #unbegun: CurrentRun | null = null;
  /** Null between runs. */
  current: CurrentRun | null = null;

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
    this.#deps.onBegun(begun);
    this.#deps.onChange();
  }

  /** Another scheduler in the same process: params stay where they are. False when the prover wants to be restarted for it. */
  async reconfigure(process: ProverProcess): Promise<boolean> {
    const old = this.current;
    try {
      await this.begin(process);
    } catch (error) {
      if (error instanceof ProverRefusal && (error.code === 'restart_needed' || error.code === 'not_quiescent')) return false;
      throw error;
    }
    if (old) await this.#deps.store.closeRun(old.run, { state: 'finished', endedBy: 'configured', atLastEvent: false });
    return true;
  }
}
