/** Every state that the screens have a form for, as a scripted host. Each is photographed and checked by ui.test.ts. */
import * as v from 'valibot';
import { CALLS } from '../../electron/contract/api.ts';
import type { HostStatus, LiveMessage } from '../../electron/contract/live.ts';
import { resolveScheduler, sameScheduler, type SchedulerSpec } from '../../electron/contract/scheduler.ts';
import type { RunSummary } from '../../electron/contract/run-report.ts';
import { toFailure } from '../../electron/contract/errors.ts';
import { createDemoRun, DEMO_MACHINE, DEMO_STARTED_MS, secondsPerProof, type DemoRun, type DemoRunOptions } from '../support/demo-run.ts';
import { readLog, recordedLog } from '../support/demo-log.ts';
import { scriptExports, scriptImports } from '../support/demo-transfer.ts';
import { FakeTransport } from '../support/fake-transport.ts';

export const AT_NS = 168.4e9;

export interface Scenario {
  name: string;
  /** Address after the origin, without the code. */
  path: string;
  transport: FakeTransport;
  demo: DemoRun;
  /** What to press before the picture, as accessible names of buttons. */
  press?: string[];
  /** Files to import, before the picture. */
  files?: { name: string; text: string }[];
  /** Cuts the connection before the picture. */
  cut?: boolean;
  /** The session is unknown. */
  forget?: boolean;
  /** Visible text that proves that this state is on show. */
  shows: string;
}

const GREETING = (demo: DemoRun, atNs: number, status: HostStatus): LiveMessage[] => [
  { kind: 'status', status },
  { kind: 'snapshot', live: demo.snapshotAt(atNs) },
];

function script(demo: DemoRun, atNs: number, change: (status: HostStatus) => void = () => {}, runs?: RunSummary[]): FakeTransport {
  const status = demo.statusAt(atNs);
  change(status);
  const transport = new FakeTransport();
  transport.greeting = () =>
    status.run === null && atNs === 0 ? [{ kind: 'status', status }, { kind: 'no_run' }] : GREETING(demo, atNs, status);
  transport.value('status', status);
  transport.value('list_runs', { runs: runs ?? [demo.summaryAt(atNs)], more: false });
  transport.answer('show_run', (input) => {
    const { run } = input as { run: string };
    if (run === demo.run) return { ok: true, value: demo.reportAt(atNs) };
    return { ok: false, code: 'not_found', message: `There is no run ${run}.` };
  });
  transport.answer('resolve_scheduler', (input) => {
    try {
      const scheduler = resolveScheduler((input as { scheduler: SchedulerSpec }).scheduler, DEMO_MACHINE);
      const backend = (input as { backend?: string }).backend;
      const restarts = backend !== undefined && backend !== demo.backend;
      const same = status.run !== null && sameScheduler(scheduler, status.run.scheduler) && !restarts;
      return { ok: true, value: { scheduler, restarts, waitsForProofs: same ? 0 : status.queue.inProver } };
    } catch (error) {
      return toFailure(error);
    }
  });
  const only = (input: unknown) => (input as { run: string }).run === demo.run || (input as { run: string }).run === 'last';
  const absent = (input: unknown) =>
    ({ ok: false, code: 'not_found', message: `There is no run ${(input as { run: string }).run}.` }) as const;
  transport.answer('idle', (input) => (only(input) ? { ok: true, value: demo.idle.idleAt(atNs) } : absent(input)));
  transport.answer('gaps', (input) => {
    const { min_ns, limit } = v.parse(CALLS.gaps.input, input);
    return only(input) ? { ok: true, value: demo.idle.gapsAt(atNs, min_ns, limit) } : absent(input);
  });
  transport.answer('simulate', (input) => {
    if (!only(input)) return absent(input);
    const { run: _run, stages: _stages, ...rest } = v.parse(CALLS.simulate.input, input);
    return { ok: true, value: demo.idle.simulateAt(atNs, secondsPerProof(demo.timeline, atNs).value, rest) };
  });
  scriptImports(transport);
  scriptExports(transport, demo.reportAt(Math.max(atNs, 1)));
  transport.answer('switch_scheduler', { ok: false, code: 'busy', message: 'A switch is under way already.' });
  transport.value('stop', { waitsForProofs: status.queue.inProver });
  transport.value('start', {});
  transport.answer('prove', (input) => ({
    ok: true,
    value: {
      proofs: ['p-1'],
      run: null,
      scheduler: resolveScheduler((input as { scheduler?: SchedulerSpec }).scheduler ?? {}, DEMO_MACHINE),
    },
  }));
  return transport;
}

/** Nothing has been proved on this machine. */
function scriptIdle(demo: DemoRun, change: (status: HostStatus) => void = () => {}): FakeTransport {
  return script(
    demo,
    0,
    (status) => {
      status.run = null;
      status.prover = { phase: 'absent', pid: null, backend: null, detail: null, sinceMs: DEMO_STARTED_MS };
      status.queue = { waiting: 0, inProver: 0, held: null };
      change(status);
    },
    [],
  );
}

function history(): RunSummary[] {
  const make = (options: DemoRunOptions, hoursAgo: number) => {
    const summary = createDemoRun({ proofs: 16, ...options }).summaryAt(1e15);
    return {
      ...summary,
      run: `r-202611${String(30 - Math.floor(hoursAgo / 24)).padStart(2, '0')}-${String(100000 - hoursAgo * 731).padStart(6, '0')}`,
      started_wall_ns: `${DEMO_STARTED_MS - hoursAgo * 3_600_000}000000`,
    };
  };
  return [
    createDemoRun().summaryAt(AT_NS),
    make({ spec: { preset: 'per-partition' } }, 3),
    make({ spec: { preset: 'batch' } }, 7),
    make({ spec: { preset: 'interlock', gpu_workers: 3, order: 'proof-first' }, failing: [4], invalid: [9] }, 20),
    { ...make({ backend: 'emulated', spec: { preset: 'interlock' } }, 26), lost: 37 },
    { ...make({ proofs: 3 }, 31), state: 'interrupted', ended_by: 'host stopped' },
    { ...make({ proofs: 2, failing: [0, 1] }, 49), state: 'failed', ended_by: 'crash loop' },
    make({ backend: 'cuda', spec: { preset: 'interlock' } }, 52),
    make({ backend: 'cuda', spec: { preset: 'per-partition' } }, 60),
    readLog(recordedLog('gw2a'), 'cuzk-daemon.log').runs[0]!.summary,
  ];
}

const withPhase =
  (phase: HostStatus['prover']['phase'], detail: string | null = null) =>
  (status: HostStatus) => {
    status.prover = { ...status.prover, phase, detail };
  };

export function createScenarios(): Scenario[] {
  const cpu = createDemoRun();
  const cuda = createDemoRun({ backend: 'cuda' });
  const emulated = createDemoRun({ backend: 'emulated', spec: { preset: 'per-partition' } });
  const eight = createDemoRun({
    backend: 'cuda',
    devices: Array.from({ length: 8 }, (_, index) => `gpu${index}`),
    proofs: 120,
    spec: { synthesis_workers: 16, partitions_in_flight: 40, proofs_in_flight: 6 },
    permitBytes: 2 ** 29,
    seconds: { synthesis: 3.6, prepare: 0.4, kernels: 1.5, finish: 0.8 },
  });
  const failing = createDemoRun({ failing: [13], invalid: [12] });
  const lost = createDemoRun({ lost: { device: null, startNs: 137e9, endNs: 146.5e9, count: 37 } });
  const modified = createDemoRun({ spec: { preset: 'interlock', gpu_workers: 3, order: 'proof-first' } });
  const batch = createDemoRun({ spec: { preset: 'batch' } });
  const young = createDemoRun();
  const imported = readLog(recordedLog('gw2a'), 'cuzk-daemon.log').runs[0]!;
  const live = (
    name: string,
    demo: DemoRun,
    shows: string,
    change?: (status: HostStatus) => void,
    atNs = AT_NS,
    more: Partial<Scenario> = {},
  ): Scenario => ({ name, path: '/live', demo, transport: script(demo, atNs, change), shows, ...more });

  return [
    live('live-cpu', cpu, 'predicted'),
    live('live-cuda', cuda, 'CUDA'),
    live('live-emulated', emulated, 'EMULATED'),
    live('live-eight-devices', eight, 'gpu7'),
    live('live-modified', modified, ', modified'),
    live('live-batch', batch, 'Batch'),
    live('live-young', young, 'Not enough proofs yet', undefined, 6.2e9),
    live('live-failed-proof', failing, 'does not verify'),
    live('live-lost-events', lost, '37 events lost'),
    live('live-paused', cpu, 'paused; the run goes on', undefined, AT_NS, { press: ['Pause'] }),
    live('live-ended', cpu, 'which has ended', undefined, 1e12),
    live('prover-starting', cpu, 'Starting', withPhase('starting')),
    live('prover-lost', cpu, 'Prover lost', withPhase('lost', 'killed by signal 9, not by us (kernel out-of-memory likely)')),
    live('prover-hung', cpu, 'Not answering', withPhase('hung', 'worker 1 of cpu0 has stood in its device stage for 61 s')),
    live('prover-stuck', cpu, 'Stuck', withPhase('stuck', 'process 4711 is in an uninterruptible wait')),
    live('prover-draining', cpu, 'Draining', withPhase('draining')),
    live('prover-stopping', cpu, 'Stopping', withPhase('stopping')),
    live('crash-loop', cpu, 'Held after crashes', (status) => {
      withPhase('crash_loop', 'three exits within 60 s; the first: illegal instruction (signal 4)')(status);
      status.run = null;
      status.queue = { waiting: 4, inProver: 0, held: 'crash loop' };
    }),
    live('switching', cpu, 'Switching to', (status) => {
      status.switching = { scheduler: resolveScheduler({ preset: 'per-partition' }, DEMO_MACHINE), backend: 'cpu', restarts: false };
    }),
    live(
      'notices',
      cpu,
      'does not verify',
      (status) => {
        status.notices = [
          {
            id: 1,
            severity: 'info',
            code: 'info',
            message: 'Adopted the running prover (pid 4711) with params loaded.',
            wallMs: DEMO_STARTED_MS,
          },
          {
            id: 2,
            severity: 'error',
            code: 'proof_invalid',
            message: 'Proof s-t01000-19 does not verify (partition 4).',
            wallMs: DEMO_STARTED_MS + 90_000,
          },
        ];
      },
      AT_NS,
      { press: ['1 more'] },
    ),
    live('connection-lost', cpu, 'Connection to the host lost', undefined, AT_NS, { cut: true }),
    live('no-session', cpu, 'npx interlock link', undefined, AT_NS, { forget: true }),
    live('lanes-table', cpu, 'covered, last 60 s', undefined, AT_NS, { press: ['Table: Lanes', 'Table: Three windows'] }),
    { name: 'empty', path: '/live', demo: cpu, transport: scriptIdle(cpu), shows: 'Nothing is being proved' },
    {
      name: 'queue-held',
      path: '/live',
      demo: cpu,
      transport: scriptIdle(cpu, (status) => (status.queue = { waiting: 3, inProver: 0, held: 'stopped by the operator' })),
      shows: 'The queue is held',
    },
    {
      name: 'read-only',
      path: '/runs',
      demo: cpu,
      transport: script(
        cpu,
        AT_NS,
        (status) => {
          status.run = null;
          status.readOnly = { code: 'newer_data', message: 'This history was written by Interlock 0.9; this version only reads it.' };
          status.prover = { phase: 'absent', pid: null, backend: null, detail: null, sinceMs: DEMO_STARTED_MS };
          status.queue = { waiting: 0, inProver: 0, held: null };
        },
        history(),
      ),
      shows: 'History is read-only',
    },
    { name: 'runs', path: '/runs', demo: cpu, transport: script(cpu, AT_NS, undefined, history()), shows: '37 events missing' },
    { name: 'runs-empty', path: '/runs', demo: cpu, transport: scriptIdle(cpu), shows: 'No runs yet' },
    {
      name: 'run',
      path: `/runs/${cpu.run}`,
      demo: cpu,
      transport: script(cpu, 1e12),
      shows: 'Stages of a partition',
      press: ['s-t01000-12'],
    },
    { name: 'run-failed', path: `/runs/${failing.run}`, demo: failing, transport: script(failing, 1e12), shows: 'does not verify' },
    { name: 'run-lost', path: `/runs/${lost.run}`, demo: lost, transport: script(lost, 1e12), shows: 'not complete' },
    {
      name: 'run-gaps',
      path: `/runs/${emulated.run}`,
      demo: emulated,
      transport: script(emulated, 1e12),
      shows: 'between s-t',
      press: ['epilogue 239'],
    },
    {
      name: 'run-idle-failed',
      path: `/runs/${cpu.run}`,
      demo: cpu,
      transport: script(cpu, 1e12)
        .fail('idle', 'corrupt_data', 'The events of this run cannot be read.')
        .fail('gaps', 'corrupt_data', 'The events of this run cannot be read.'),
      shows: 'cannot be read',
    },
    { name: 'run-export', path: `/runs/${cpu.run}`, demo: cpu, transport: script(cpu, 1e12), shows: 'Chrome trace', press: ['Export'] },
    {
      name: 'runs-import',
      path: '/runs',
      demo: cpu,
      transport: script(cpu, AT_NS, undefined, history()),
      shows: '1 line not understood',
      files: [{ name: 'cuzk-daemon.log', text: `${recordedLog('gw2a').toString()}TIMELINE,2315\n` }],
    },
    {
      name: 'run-imported',
      path: `/runs/${imported.run}`,
      demo: cpu,
      transport: script(cpu, AT_NS)
        .value('show_run', imported.report)
        .value('idle', imported.idle)
        .answer('gaps', (input) => {
          const { min_ns, limit } = v.parse(CALLS.gaps.input, input);
          return { ok: true, value: imported.gaps(min_ns, limit) };
        }),
      shows: 'that this log cannot tell apart',
    },
    { name: 'run-absent', path: '/runs/r-none', demo: cpu, transport: script(cpu, AT_NS), shows: 'There is no run r-none' },
    {
      name: 'dialog-start',
      path: '/live',
      demo: cpu,
      transport: scriptIdle(cpu),
      shows: 'Start proving',
      press: ['Choose what to prove …'],
    },
    {
      name: 'dialog-start-running',
      path: '/live',
      demo: modified,
      transport: script(modified, AT_NS),
      shows: 'modified',
      press: ['Prove more …'],
    },
    {
      name: 'dialog-switch',
      path: '/live',
      demo: cpu,
      transport: script(cpu, AT_NS),
      shows: 'Switch scheduler',
      press: ['Switch …', 'card:per-partition'],
    },
    {
      name: 'dialog-try',
      path: '/live',
      demo: emulated,
      transport: script(emulated, AT_NS),
      shows: 'Switch scheduler',
      press: ['Try it on the next run'],
    },
    {
      name: 'dialog-stop',
      path: '/live',
      demo: cpu,
      transport: script(cpu, AT_NS),
      shows: 'Stop now, losing this work',
      press: ['Stop …'],
    },
  ];
}
