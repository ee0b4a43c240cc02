/** The handlers of every call, over the parts of the host. Input is checked already; whatever is wrong is thrown as an InterlockError. */
import { randomBytes } from 'node:crypto';
import { CIRCUIT_DEFAULTS, type CheckedInput, type ConfigValue, type DoctorCheck, type Handlers } from '../contract/api.ts';
import type { Clock } from '../contract/clock.ts';
import { InterlockError } from '../contract/errors.ts';
import type { HostStatus } from '../contract/live.ts';
import type { Backend, MachineFacts, SchedulerSpec } from '../contract/scheduler.ts';
import type { Store } from '../store/types.ts';
import type { Experiments } from './experiments.ts';
import { describeSetup, proofNumber, sameDevices, sameSetup, type Plan, type Setup } from './plan.ts';
import { historyReads } from './history-reads.ts';
import type { ProofQueue } from './proof-queue.ts';
import { setupFor, withdrawProofs } from './setups.ts';
import type { Supervisor } from './supervisor.ts';

export interface CallDeps {
  store: Store;
  clock: Clock;
  plan: Plan;
  queue: ProofQueue;
  supervisor: Supervisor;
  experiments: Experiments;
  machine: MachineFacts;
  /** Backends that this build's engine has. */
  backends: readonly Backend[];
  configValues: ConfigValue[];
  readStatus(): Promise<HostStatus>;
  doctor(): Promise<DoctorCheck[]>;
  makeLink(): Promise<string>;
  isClosing(): boolean;
  onChange(): void;
}

export function createHandlers(deps: CallDeps): Handlers {
  const { store, plan, queue, supervisor } = deps;

  const setupOf = (spec: unknown, backend: Backend | undefined, emulate: string | undefined) =>
    setupFor(deps, spec as SchedulerSpec | undefined, backend, emulate);

  async function isBusy(): Promise<boolean> {
    const counts = await store.countProofs();
    return counts.waiting > 0 || counts.running > 0 || queue.inProver > 0;
  }

  /** True if the prover restarts on the way from what it is set to. */
  function restartsFor(setup: Setup): boolean {
    return supervisor.setup !== null && !sameDevices(supervisor.setup, setup);
  }

  async function waitsFor(setup: Setup): Promise<number> {
    if (sameSetup(setup, plan.active)) return 0;
    const counts = await store.countProofs();
    return sameDevices(setup, plan.active) ? queue.inProver : counts.waiting + counts.running;
  }

  async function switchTo(setup: Setup): Promise<void> {
    await plan.switchTo(setup, null);
    deps.onChange();
  }

  function refuseWhenClosing(): void {
    if (deps.isClosing()) throw new InterlockError('busy', 'The host is closing.');
    const { readOnly } = store.access;
    if (readOnly) throw new InterlockError(readOnly.code, readOnly.message);
  }

  async function prove(input: CheckedInput<'prove'>) {
    refuseWhenClosing();
    deps.experiments.refuseOthers();
    const setup = setupOf(input.scheduler, input.backend, input.emulate);
    const target = plan.next?.setup ?? plan.active;
    const differs = !sameSetup(setup, target);
    if (differs && plan.next) throw new InterlockError('busy', `A switch to ${describeSetup(plan.next.setup)} waits already.`);
    if (differs && !input.switch && (await isBusy())) {
      const message = `Proofs are in work or wait under ${describeSetup(target)}; you asked for ${describeSetup(setup)}. Add --switch to change once they allow it.`;
      throw new InterlockError('other_scheduler', message, { active: describeSetup(target), asked: describeSetup(setup) });
    }
    // Once more, after the wait above: from here to the queue nothing comes in between.
    deps.experiments.refuseOthers();
    const constraints = input.constraints ?? CIRCUIT_DEFAULTS[input.circuit];
    const wallNs = `${BigInt(deps.clock.wallMs()) * 1_000_000n}`;
    // The switch is noted first: a proof must never be there without the set-up it is meant for.
    if (differs) await switchTo(setup);
    const proofs = await store.addProofs(
      Array.from({ length: input.count }, () => ({
        circuit: `${input.circuit}-${constraints}`,
        partitions: input.partitions,
        priority: input.priority,
        submittedWallNs: wallNs,
        deadlineWallNs: input.deadline_wall_ns ?? null,
        seed: randomBytes(32).toString('hex'),
      })),
    );
    if (plan.next && plan.next.firstProof === null && proofs[0] !== undefined) {
      plan.next.firstProof = proofNumber(proofs[0]);
      await plan.save();
    }
    queue.pump();
    deps.onChange();
    const current = queue.run;
    return { proofs, run: !plan.next && current && sameSetup(current.setup, setup) ? current.run : null, scheduler: setup.scheduler };
  }

  return {
    status: () => deps.readStatus(),
    ...historyReads(store),
    start_experiment: (input) => {
      refuseWhenClosing();
      return deps.experiments.start(input);
    },
    stop_experiment: (input) => {
      refuseWhenClosing();
      return deps.experiments.stop(input.experiment);
    },
    import_begin: (input) => {
      refuseWhenClosing();
      return store.beginImport(input);
    },
    import_piece: (input) => store.importPiece(input.import, input.base64),
    import_end: (input) => store.endImport(input.import),
    prove,
    withdraw: async (input) => {
      refuseWhenClosing();
      const states = await withdrawProofs(deps, input.proofs);
      queue.pump();
      deps.onChange();
      return { states };
    },
    switch_scheduler: async (input) => {
      refuseWhenClosing();
      deps.experiments.refuseOthers();
      const setup = setupOf(input.scheduler, input.backend, input.emulate);
      const waitsForProofs = await waitsFor(setup);
      const restarts = restartsFor(setup);
      await switchTo(setup);
      queue.pump();
      return { scheduler: setup.scheduler, restarts, waitsForProofs };
    },
    resolve_scheduler: async (input) => {
      const setup = setupOf(input.scheduler, input.backend, undefined);
      return { scheduler: setup.scheduler, restarts: restartsFor(setup), waitsForProofs: await waitsFor(setup) };
    },
    stop: (input) => {
      queue.holdBack(
        input.how === 'drain' ? 'Stopped by the operator; press Start to go on.' : 'Stopped at once by the operator; press Start to go on.',
      );
      void supervisor.end(input.how, input.how === 'drain' ? 'stopped by the operator' : 'stopped at once by the operator');
      return Promise.resolve({ waitsForProofs: queue.inProver });
    },
    start: () => {
      refuseWhenClosing();
      if (supervisor.phase === 'stuck') {
        throw new InterlockError('busy', `The prover is stuck and fenced: ${supervisor.detail ?? ''}`);
      }
      if (supervisor.phase === 'crash_loop' || supervisor.phase === 'lost') supervisor.setPhase('absent');
      queue.release();
      return Promise.resolve({});
    },
    doctor: async () => ({ checks: await deps.doctor() }),
    show_config: () => Promise.resolve({ values: deps.configValues }),
    make_link: async () => ({ url: await deps.makeLink() }),
  };
}
