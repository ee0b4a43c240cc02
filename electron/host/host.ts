/**
 * The object behind every door. One host owns one data folder: the queue of proofs, the runs, the prover and what the doors are told.
 * This file puts the parts together; each part has its own file.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigValue, Host } from '../contract/api.ts';
import type { Clock } from '../contract/clock.ts';
import { InterlockError, isErrorCode } from '../contract/errors.ts';
import { resolveScheduler, type Backend, type MachineFacts, type SchedulerSpec } from '../contract/scheduler.ts';
import { binaryCandidates, checkoutFolder } from '../engines/builtin/binary.ts';
import { createBuiltinEngine } from '../engines/builtin/engine.ts';
import type { Engine } from '../engines/engine.ts';
import type { LadderDeadlines } from '../engines/supervision/ladder.ts';
import { StageHistory, type WatchdogLimits } from '../engines/supervision/watchdog.ts';
import { makeFolder } from '../store/folder.ts';
import { openStore } from '../store/store.ts';
import { Broadcast } from './broadcast.ts';
import { createHandlers } from './calls.ts';
import { systemClock } from './clock.ts';
import { CrashWindow } from './crash-window.ts';
import { runDoctor } from './doctor.ts';
import { writeDurably } from './durable-files.ts';
import { createExperiments } from './experiments.ts';
import { readMachine } from './machine.ts';
import { dataLayout, preparePrivateFolder } from './paths.ts';
import { Plan, type Setup } from './plan.ts';
import { ProofQueue } from './proof-queue.ts';
import { recover } from './recovery.ts';
import { readStatus } from './status.ts';
import type { RunLimits } from './run-slot.ts';
import { Supervisor } from './supervisor.ts';

/** Least grace of a lifeline drain, and of any other. */
const LEAST_GRACE_S = 600;
/** What this build's prover can be. */
const BACKENDS_HERE: readonly Backend[] = ['cpu', 'emulated'];

export interface HostOptions {
  dataFolder: string;
  version: string;
  clock?: Clock;
  machine?: MachineFacts & { hostname?: string; memoryFrom?: string };
  /** The prover's binary; null lets it be found. */
  binary?: string | null;
  libraryPath?: string | null;
  /** Where Groth16 parameters are; `<data>/params` unless given. */
  paramsFolder?: string | null;
  /** What `show_config` answers. */
  configValues?: ConfigValue[];
  /** The set-up of a data folder that has none yet. */
  backend?: Backend | null;
  scheduler?: SchedulerSpec | null;
  emulate?: string | null;
  environment?: NodeJS.ProcessEnv;
  /** How long a prover may drain; by default twice the slowest recent proof, at least 10 minutes. */
  graceS?: number;
  ladder?: LadderDeadlines;
  watchdog?: WatchdogLimits;
  engine?: Engine;
  /** When a run is cut and continued; a day or two million events. */
  runLimits?: RunLimits;
  /** Hears every notice, for a log. */
  onNotice?: (severity: string, message: string) => void;
}

/** A host in this process. */
export interface RunningHost extends Host {
  readonly dataFolder: string;
  /** The web door says how to make a link; until then `make_link` fails with `no_host`. */
  setLinkMaker(make: (() => Promise<string> | string) | null): void;
  /** Drains (or stops now) the prover, commits everything, releases the data folder. A second call with `now` hurries the first. */
  close(how?: 'drain' | 'now'): Promise<void>;
}

/** Opens the data folder, heals what an earlier host left, and is ready for calls. */
export async function createHost(options: HostOptions): Promise<RunningHost> {
  const clock = options.clock ?? systemClock;
  const machine = { hostname: '', ...(options.machine ?? readMachine()) };
  const environment = options.environment ?? process.env;
  const dataFolder = preparePrivateFolder(options.dataFolder);
  const layout = dataLayout(dataFolder);
  const paramsFolder = options.paramsFolder ?? layout.params;
  const spec = options.scheduler ?? {};
  const initial: Setup = {
    spec,
    scheduler: resolveScheduler(spec, machine),
    backend: options.backend ?? 'cpu',
    emulate: options.emulate ?? null,
  };
  const store = await openStore({ folder: dataFolder, clock });
  const readOnly = store.access.readOnly !== null;
  if (!readOnly) for (const folder of [layout.proofs, layout.processes, paramsFolder]) makeFolder(folder);

  let makeLink: (() => Promise<string> | string) | null = null;
  let closing: Promise<void> | null = null;
  const changed = () => broadcast.changed();

  const notify = (severity: 'info' | 'warning' | 'error', code: string, message: string) => {
    options.onNotice?.(severity, message);
    if (readOnly) return;
    const known = code === 'info' || isErrorCode(code) ? code : 'internal';
    void store.recordNotice({ severity, code: known, message }).then(changed, () => undefined);
  };

  const engine =
    options.engine ??
    createBuiltinEngine({
      clock,
      candidates: binaryCandidates({ override: options.binary ?? null, resourcesFolder: resources(), checkout: checkoutFolder() }),
      environment,
      ...(options.libraryPath ? { libraryPath: options.libraryPath } : {}),
      ...(options.ladder ? { ladder: options.ladder } : {}),
      onStep: (process, step) => supervisor.noteStep(process, step),
    });
  const plan = new Plan(layout.active, initial);
  const history = readHistory(layout.stageHistory);
  let graceS = options.graceS ?? LEAST_GRACE_S;
  const parts = { store, clock, proofsFolder: layout.proofs, processesFolder: layout.processes };
  const crashes = new CrashWindow();
  const queue = new ProofQueue({
    ...parts,
    ...(options.runLimits ? { limits: options.runLimits } : {}),
    plan,
    supervisor: () => supervisor,
    crashes,
    notify,
    onChange: changed,
  });
  const supervisor: Supervisor = new Supervisor({
    ...parts,
    engine,
    paramsFolder,
    graceS: () => graceS,
    history,
    circuitOf: (proof) => queue.holding(proof)?.circuit ?? null,
    ...(options.watchdog ? { watchdog: options.watchdog } : {}),
    onChange: changed,
    onEnded: (process, end, asked) => queue.processEnded(process, end, asked),
    onStuck: (process, message) => {
      notify('error', 'prover_lost', `The prover (process ${process.identity.pid}) is stuck: ${message}`);
      void queue.abandon(process, message);
    },
    onRelinked: (process, held) => void queue.reconcile(process, held),
    onHung: (process, message, proof) => {
      queue.hangsOn(process, proof);
      notify('error', 'prover_lost', `${message} It is being ended; its proofs go again.`);
    },
  });
  const statusDeps = { store, plan, queue, supervisor, clock, machine, version: options.version, dataFolder };
  const broadcast: Broadcast = new Broadcast(store, clock, () => readStatus(statusDeps));

  const experiments = createExperiments({
    store,
    clock,
    plan,
    queue,
    supervisor,
    machine,
    backends: BACKENDS_HERE,
    notify,
    onChange: changed,
  });

  const planProblem = plan.load(machine);
  if (planProblem !== null)
    notify('warning', 'corrupt_data', `The set-up kept in active.json was left out (${planProblem}); the default is used.`);
  if (!readOnly) {
    await recover({
      ...parts,
      engine,
      notify,
      takeOver: async (adopted, record, run, held) => {
        const setup: Setup = run ? { ...plan.active, scheduler: run.scheduler, backend: run.backend, emulate: run.emulate } : plan.active;
        queue.adopt(adopted, held, run && { run: run.run, setup, startedWallMs: run.startedWallMs });
        await supervisor.adopt(adopted, setup, record);
      },
    });
    await experiments.recover();
    graceS = options.graceS ?? (await graceFromHistory());
  }

  /** Twice the slowest recent proof of this machine. */
  async function graceFromHistory(): Promise<number> {
    try {
      // Runs from elsewhere say nothing about this machine.
      const own = (await store.listRuns({ limit: 20 })).runs.find((run) => run.imported_from === null);
      if (!own) return LEAST_GRACE_S;
      const report = await store.showRun(own.run);
      const slowest = Math.max(0, ...report.proofs.map((proof) => proof.latency_ns ?? 0)) / 1e9;
      return Math.min(86_400, Math.max(LEAST_GRACE_S, Math.ceil(2 * slowest)));
    } catch {
      return LEAST_GRACE_S;
    }
  }

  const handlers = createHandlers({
    store,
    clock,
    plan,
    queue,
    supervisor,
    experiments,
    machine,
    backends: BACKENDS_HERE,
    configValues: options.configValues ?? [],
    readStatus: () => readStatus(statusDeps),
    doctor: () =>
      runDoctor({
        engine,
        dataFolder,
        paramsFolder,
        machine,
        memoryBudgetBytes: plan.active.scheduler.memory_budget_bytes,
        environment,
        checkout: checkoutFolder(),
        hostRunning: { pid: process.pid, socket: 'this host' },
        sqlite: { version: '', problem: store.access.readOnly?.message ?? null },
      }),
    makeLink: async () => {
      if (!makeLink) throw new InterlockError('no_host', 'This host has no web door.');
      return makeLink();
    },
    isClosing: () => closing !== null,
    onChange: changed,
  });
  queue.pump();

  async function shutDown(how: 'drain' | 'now'): Promise<void> {
    await experiments.close();
    await queue.stopFeeding();
    await supervisor.end(how, 'the host is closing');
    await queue.idle();
    queue.close();
    broadcast.close();
    supervisor.release();
    if (!readOnly) await writeDurably(layout.stageHistory, JSON.stringify(history.save()), { replace: true }).catch(() => undefined);
    await store.close();
  }

  return {
    dataFolder,
    handlers,
    subscribe: (subscriber) => broadcast.subscribe(subscriber),
    setLinkMaker: (make) => (makeLink = make),
    close(how = 'drain') {
      if (closing && how === 'now') void supervisor.end('now', 'the host is closing at once');
      closing ??= shutDown(how);
      return closing;
    },
  };
}

function resources(): string | null {
  const path = (process as { resourcesPath?: string }).resourcesPath;
  return path === undefined ? null : join(path, 'prover');
}

function readHistory(path: string): StageHistory {
  try {
    return new StageHistory(JSON.parse(readFileSync(path, 'utf8')) as Record<string, number[]>);
  } catch {
    return new StageHistory();
  }
}
