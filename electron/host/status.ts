/** Composes the host's status from its parts. */
import { hostname } from 'node:os';
import type { Clock } from '../contract/clock.ts';
import type { HostStatus } from '../contract/live.ts';
import type { MachineFacts } from '../contract/scheduler.ts';
import type { Store } from '../store/types.ts';
import { sameDevices, type Plan } from './plan.ts';
import type { ProofQueue } from './proof-queue.ts';
import type { Supervisor } from './supervisor.ts';

export interface StatusDeps {
  store: Store;
  plan: Plan;
  queue: ProofQueue;
  supervisor: Supervisor;
  clock: Clock;
  machine: MachineFacts & { hostname?: string };
  version: string;
  dataFolder: string;
}

const NOTICES = 20;

export async function readStatus(deps: StatusDeps): Promise<HostStatus> {
  const { store, plan, queue, supervisor, machine } = deps;
  const [counts, ingest, notices] = await Promise.all([store.countProofs(), store.ingestStatus(), store.listNotices(NOTICES)]);
  const { run } = queue;
  return {
    version: deps.version,
    dataFolder: deps.dataFolder,
    readOnly: store.access.readOnly,
    machine: { cpus: machine.cpus, memoryBytes: machine.memoryBytes, hostname: machine.hostname || hostname() },
    prover: {
      phase: supervisor.phase,
      pid: supervisor.process?.identity.pid ?? null,
      backend: supervisor.setup?.backend ?? null,
      detail: supervisor.detail,
      sinceMs: supervisor.sinceMs,
    },
    run: run && {
      run: run.run,
      scheduler: run.setup.scheduler,
      backend: run.setup.backend,
      emulate: run.setup.emulate,
      startedWallMs: run.startedWallMs,
    },
    switching: plan.next && {
      scheduler: plan.next.setup.scheduler,
      backend: plan.next.setup.backend,
      restarts: !sameDevices(plan.next.setup, plan.active),
    },
    queue: { waiting: counts.waiting, inProver: queue.inProver, held: queue.hold },
    ingest: { lagNs: ingest.lagNs, lost: ingest.lost, unparsed: ingest.unparsed, failing: ingest.failing?.message ?? null },
    notices,
  };
}
