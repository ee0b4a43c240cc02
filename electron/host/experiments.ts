/**
 * Experiments: two schedulers in turns over the host's own queue. One at a time, and alone: while it lasts no other proof and no other
 * switch is taken, for they would be measured with it.
 *
 *   switch → queue the block's proofs → wait for their ends → note the block → switch → …        one prover process throughout
 *
 * Every block is a row before its first proof is in the queue, so whoever finds the rows after a kill knows whose the proofs are: what
 * waits is withdrawn, the scheduler of before is set again, and the experiment is stopped with what it has. It is never resumed.
 */
import { randomBytes } from 'node:crypto';
import { blockSecondsPerProof, countWarmUp, planBlocks, type BlockPlan } from '../analysis/experiment.ts';
import { CIRCUIT_DEFAULTS, type CheckedInput } from '../contract/api.ts';
import { sleep, type Clock } from '../contract/clock.ts';
import { InterlockError } from '../contract/errors.ts';
import type { ProverPhase } from '../contract/live.ts';
import type { SchedulerSpec } from '../contract/scheduler.ts';
import type { ExperimentReport } from '../contract/what-if.ts';
import type { CommittedBatch, ExperimentEnd, ProofSpec, Store } from '../store/types.ts';
import { decodeSetup, describeSetup, encodeSetup, sameSetup, type Setup } from './plan.ts';
import type { ProofQueue } from './proof-queue.ts';
import { setupFor, withdrawProofs, type SetupDeps } from './setups.ts';
import type { Supervisor } from './supervisor.ts';

/** How often the queue is looked at while a block runs; no figure depends on it. */
const LOOK_MS = 100;
const RETRY_MS = 2_000;
/** Phases in which a held queue is the operator's wish and not a failure. */
const CALM: readonly ProverPhase[] = ['absent', 'draining', 'stopping'];

export interface ExperimentDeps extends SetupDeps {
  store: Store;
  clock: Clock;
  queue: ProofQueue;
  supervisor: Supervisor;
  notify(severity: 'info' | 'warning' | 'error', code: 'info' | string, message: string): void;
  onChange(): void;
}

export interface Experiments {
  /** Begins one and answers at once. Fails with `busy` while anything else is in work, waits or is held. */
  start(input: CheckedInput<'start_experiment'>): Promise<ExperimentReport>;
  /** Ends it with what it has; the answer is its last word. One that has ended already is only shown. */
  stop(experiment: string): Promise<ExperimentReport>;
  /** Throws `busy`, naming the experiment, while one has the prover to itself. */
  refuseOthers(): void;
  /** Settles what an earlier host left. Before the queue begins to move. */
  recover(): Promise<void>;
  /** Ends it because the host closes. */
  close(): Promise<void>;
}

interface Running {
  experiment: string;
  sides: { a: Setup; b: Setup };
  before: Setup;
  rounds: number;
  proofsPerBlock: number;
  warmUp: number;
  proof: Pick<ProofSpec, 'circuit' | 'partitions'>;
  round: number;
  /** Proofs of the block that runs. */
  open: string[];
  /** Ends that the prover told, on its own clock. */
  heard: Map<string, { process: string; t: number }>;
  /** Set when it is to end early. */
  end: ExperimentEnd | null;
  wake: AbortController;
  done: Promise<void>;
}

export function createExperiments(deps: ExperimentDeps): Experiments {
  return new HostExperiments(deps);
}

class HostExperiments implements Experiments {
  readonly #deps: ExperimentDeps;
  #running: Running | null = null;
  #starting = false;

  constructor(deps: ExperimentDeps) {
    this.#deps = deps;
  }

  async start(input: CheckedInput<'start_experiment'>): Promise<ExperimentReport> {
    const { store, plan } = this.#deps;
    this.refuseOthers();
    this.#starting = true;
    try {
      const side = (spec: unknown) => setupFor(this.#deps, spec as SchedulerSpec, input.backend, input.emulate);
      const sides = { a: side(input.a), b: side(input.b) };
      await this.#refuseUnlessIdle();
      const warmUp = countWarmUp(sides.a.scheduler, sides.b.scheduler);
      const { rounds, proofs_per_block: proofsPerBlock, circuit, partitions } = input;
      const before = plan.active;
      const schedulers = { a: sides.a.scheduler, b: sides.b.scheduler };
      const row = { ...schedulers, rounds, proofsPerBlock, warmUpProofs: warmUp, before: encodeSetup(before) };
      const { experiment } = await store.createExperiment(row);
      const running: Running = {
        experiment,
        sides,
        before,
        rounds,
        proofsPerBlock,
        warmUp,
        proof: { circuit: `${circuit}-${input.constraints ?? CIRCUIT_DEFAULTS[circuit]}`, partitions },
        round: 0,
        open: [],
        heard: new Map(),
        end: null,
        wake: new AbortController(),
        done: Promise.resolve(),
      };
      this.#running = running;
      running.done = this.#serve(running);
      return await store.showExperiment(experiment);
    } finally {
      this.#starting = false;
    }
  }

  async stop(experiment: string): Promise<ExperimentReport> {
    const running = this.#running;
    if (running?.experiment === experiment) {
      this.#endEarly(running, { state: 'stopped', message: `Stopped in ${placeOf(running)}.` });
      await running.done;
    }
    return this.#deps.store.showExperiment(experiment);
  }

  refuseOthers(): void {
    const running = this.#running;
    if (!running && this.#starting) throw new InterlockError('busy', 'An experiment is just beginning.');
    if (!running) return;
    const { a, b } = running.sides;
    const what = `${describeSetup(a)} against ${describeSetup(b)}`;
    throw new InterlockError(
      'busy',
      `Experiment ${running.experiment} (${what}) has the prover to itself and is in ${placeOf(running)}; anything else would be measured with it. Wait for its end, or stop it: interlock experiment ${running.experiment} --stop`,
      { experiment: running.experiment },
    );
  }

  async recover(): Promise<void> {
    const { store, machine, notify } = this.#deps;
    for (const left of await store.openExperiments()) {
      const message = `The host was lost in ${placeOf(left)}; what was measured until then is kept.`;
      await this.#settle(left.experiment, left.proofs, decodeSetup(left.before, machine), { state: 'stopped', message });
      notify('warning', 'interrupted', `Experiment ${left.experiment} was stopped: ${message}`);
    }
  }

  async close(): Promise<void> {
    const running = this.#running;
    if (!running) return;
    this.#endEarly(running, { state: 'stopped', message: `The host was closed in ${placeOf(running)}.` });
    await running.done;
  }

  #endEarly(running: Running, end: ExperimentEnd): void {
    running.end ??= end;
    running.wake.abort();
  }

  async #refuseUnlessIdle(): Promise<void> {
    const { store, plan, queue } = this.#deps;
    if (queue.hold !== null) throw new InterlockError('busy', `The queue is held: ${queue.hold}`);
    if (plan.next) throw new InterlockError('busy', `A switch to ${describeSetup(plan.next.setup)} waits already.`);
    const { waiting, running } = await store.countProofs();
    const count = waiting + running;
    if (count > 0) {
      const proofs = count === 1 ? 'a proof waits or is in work' : `${count} proofs wait or are in work`;
      throw new InterlockError('busy', `An experiment needs the prover to itself, but ${proofs}.`);
    }
  }

  async #serve(running: Running): Promise<void> {
    const { store, notify } = this.#deps;
    const stopListening = store.onCommitted((batch) => hear(running, batch), ['proof_ended']);
    let end: ExperimentEnd;
    try {
      end = await this.#runBlocks(running);
    } catch (error) {
      end = { state: 'failed', message: error instanceof Error ? error.message : String(error) };
    }
    stopListening();
    await this.#persistently(running, () => this.#settle(running.experiment, running.open, running.before, end));
    this.#running = null;
    const [severity, code] = end.state === 'failed' ? (['warning', 'interrupted'] as const) : (['info', 'info'] as const);
    notify(severity, code, `Experiment ${running.experiment} ${end.state === 'done' ? 'is done.' : `${end.state}: ${end.message ?? ''}`}`);
    this.#deps.onChange();
  }

  async #runBlocks(running: Running): Promise<ExperimentEnd> {
    for (const block of planBlocks(running.rounds)) {
      const early = await this.#runBlock(running, block);
      if (early) return early;
    }
    return { state: 'done', message: null };
  }

  /** Null once the block is noted, else why the experiment ends here. */
  async #runBlock(running: Running, block: BlockPlan): Promise<ExperimentEnd | null> {
    const { store, plan, queue } = this.#deps;
    running.round = block.round;
    const setup = running.sides[block.side];
    if (running.end) return running.end;
    await plan.switchTo(setup, null);
    this.#moved();
    const unswitched = await this.#until(running, () => plan.next === null && sameSetup(plan.active, setup));
    if (unswitched) return unswitched;
    const count = running.warmUp + (block.warmUp ? 0 : running.proofsPerBlock);
    const { position, proofs } = await store.beginBlock(running.experiment, block, this.#specs(running, count));
    running.open = proofs;
    this.#moved();
    const early = await this.#until(running, async () => {
      const counts = await store.countProofs();
      return counts.waiting + counts.running === 0 && queue.inProver === 0;
    });
    if (early) return early;
    const ended = await store.listProofs({ state: 'ended', limit: proofs.length });
    const bad = proofs.map((proof) => ended.find((summary) => summary.proof === proof)).find((s) => s?.state !== 'valid' || s.attempt > 1);
    const ends = proofs.flatMap((proof) => running.heard.get(proof) ?? []);
    running.open = [];
    running.heard.clear();
    const run = ended[0]?.run ?? null;
    if (bad || new Set(ends.map((end) => end.process)).size !== 1 || ends.length !== proofs.length) {
      await store.endBlock(running.experiment, position, { run, sPerProof: null, proofs: 0 });
      return { state: 'failed', message: `${bad ? wordsOf(bad) : 'The prover was replaced'} in ${placeOf(running)}.` };
    }
    // A run that grew too long was cut, with an empty pipeline, in the middle of this block.
    const isWhole = ended.every((summary) => summary.run === run);
    const counts = isWhole && !block.warmUp;
    const sPerProof = counts ? blockSecondsPerProof(ends.map((end) => end.t), running.warmUp) : null; // prettier-ignore
    await store.endBlock(running.experiment, position, { run, sPerProof, proofs: counts ? running.proofsPerBlock : 0 });
    return null;
  }

  #specs({ proof }: Running, count: number): ProofSpec[] {
    const submittedWallNs = `${BigInt(this.#deps.clock.wallMs()) * 1_000_000n}`;
    return Array.from({ length: count }, () => ({
      ...proof,
      priority: 2,
      submittedWallNs,
      deadlineWallNs: null,
      seed: randomBytes(32).toString('hex'),
    }));
  }

  /** Waits; null once it holds, else why the experiment ends here. */
  async #until(running: Running, holds: () => boolean | Promise<boolean>): Promise<ExperimentEnd | null> {
    const { queue, supervisor, clock } = this.#deps;
    for (;;) {
      if (running.end) return running.end;
      if (queue.hold !== null) {
        const state = CALM.includes(supervisor.phase) ? ('stopped' as const) : ('failed' as const);
        return { state, message: `The queue was held in ${placeOf(running)}: ${queue.hold}` };
      }
      if (await holds()) return null;
      await sleep(clock, LOOK_MS, running.wake.signal);
    }
  }

  /** Withdraws what has not begun, goes back to the scheduler of before, and writes the last word. Doing it again is harmless. */
  async #settle(experiment: string, open: string[], before: Setup, end: ExperimentEnd): Promise<void> {
    const { store, plan } = this.#deps;
    if (open.length > 0) await withdrawProofs(this.#deps, open);
    plan.next = null;
    await plan.switchTo(before, null);
    await store.endExperiment(experiment, end);
    this.#moved();
  }

  /** Until the disk takes it. A host that closes leaves the rest to the next one, which finds the row. */
  async #persistently(running: Running, work: () => Promise<void>): Promise<void> {
    for (let told = false; ; told = true) {
      try {
        return await work();
      } catch (error) {
        const code = error instanceof InterlockError ? error.code : 'internal';
        if (!told) this.#deps.notify('error', code, error instanceof Error ? error.message : String(error));
        if (running.end) return;
        await sleep(this.#deps.clock, RETRY_MS, running.wake.signal);
      }
    }
  }

  #moved(): void {
    this.#deps.queue.pump();
    this.#deps.onChange();
  }
}

function hear(running: Running, batch: CommittedBatch): void {
  for (const event of batch.events) {
    if (event.e === 'proof_ended') running.heard.set(event.proof, { process: batch.process, t: event.t });
  }
}

function placeOf({ round, rounds }: { round: number; rounds: number }): string {
  return round === 0 ? 'its warm-up' : `round ${round} of ${rounds}`;
}

function wordsOf(proof: { proof: string; state: string; attempt: number; message: string | null }): string {
  if (proof.state === 'valid') return `${proof.proof} needed ${proof.attempt} attempts`;
  return `${proof.proof} ended as ${proof.state}${proof.message === null ? '' : ` (${proof.message})`}`;
}
