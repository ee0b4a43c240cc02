/**
 * The worked lanes of the idle causes, as lines that a person can check: `<ms> <event> <partition> w<worker>[@device] field=value`. A line
 * may hold several events of one instant, `+` between them; what an event does not name is filled in. A lane starts at 0 with `run_started`
 * of process A; `process B <ms>` begins another one, `mark <ms>` says when a process was last seen.
 */
import type { EventName, TimelineEvent } from '../../electron/contract/timeline-events.ts';
import type { Scheduler } from '../../electron/contract/scheduler.ts';
import { makeEvent, SCHEDULER } from '../support/journal.ts';
import type { SampleProcess, SampleRun } from './run-sample.ts';

export interface Lane {
  name: string;
  scheduler?: Partial<Scheduler>;
  devices?: string[];
  lines: string;
  /** Ends the run here by `run_ended`, or, with `lasts`, is the horizon. */
  endMs: number;
  lasts?: boolean;
  engine?: SampleRun['engine'];
  /** ms of each device that has any; what is not named is 0. */
  expected: Record<string, Record<string, number>>;
  windows?: Record<string, Partial<Record<'kernel' | 'lock' | 'job' | 'copy', number>>>;
  worker?: Record<string, Record<string, number>>;
}

const JOB = { gpu_workers: 1, lock_scope: 'job' as const };
const KERNELS = { gpu_workers: 2, lock_scope: 'kernels' as const };

/** picked up, prepare from, kernels from, finish from, put down (ms), with scope `job` and nobody in the way. */
function job(partition: string, worker: string, [from, kernels, finish, to]: [number, number, number, number]): string {
  return `
    ${from} picked_up ${partition} ${worker} + lock_asked + lock_granted + prepare_started
    ${kernels} prepare_ended ${partition} ${worker} + device_started + kernel_started
    ${finish} kernel_ended ${partition} ${worker} + device_ended + finish_started
    ${to} finish_ended ${partition} ${worker} + lock_released + put_down`;
}

/** The same with scope `kernels`: asked for the lock at `asked`, had it from `granted` to `released`, all of it kernels. */
function pass(partition: string, worker: string, [from, asked, granted, released, to]: [number, number, number, number, number]): string {
  return `
    ${from} picked_up ${partition} ${worker} + prepare_started
    ${asked} prepare_ended ${partition} ${worker} + lock_asked
    ${granted} lock_granted ${partition} ${worker} + device_started + kernel_started
    ${released} kernel_ended ${partition} ${worker} + device_ended + lock_released + finish_started
    ${to} finish_ended ${partition} ${worker} + put_down`;
}

export const LANES: Lane[] = [
  {
    name: 'a',
    scheduler: JOB,
    lines: `0 proof_accepted A\n${job('A.0', 'w0', [0, 100, 200, 300])}\n150 queued A.1`,
    endMs: 300,
    expected: { cpu0: { kernel: 100, preamble: 100, epilogue: 100 } },
  },
  {
    name: 'b',
    scheduler: KERNELS,
    lines: `0 proof_accepted A\n${pass('A.0', 'w0', [0, 60, 60, 180, 240])}\n${pass('A.1', 'w1', [0, 60, 180, 300, 360])}`,
    endMs: 360,
    expected: { cpu0: { preamble: 60, kernel: 240, no_work: 60 } },
    windows: { cpu0: { job: 360, lock: 240, kernel: 240 } },
  },
  {
    name: 'c',
    scheduler: { ...JOB, dispatch: 'batch' },
    lines: `
      0 proof_accepted A + synthesis_started A.0 + synthesis_started A.1
      100 synthesis_ended A.0
      180 synthesis_ended A.1 + queued A.0 + queued A.1
      ${job('A.0', 'w0', [180, 180, 200, 200])}`,
    endMs: 200,
    expected: { cpu0: { first_synthesis: 100, dispatch: 80, kernel: 20 } },
  },
  {
    name: 'd',
    scheduler: { ...KERNELS, gpu_workers: 1 },
    devices: ['g0', 'g1'],
    lines: `
      -30 proof_accepted A + proof_accepted B
      ${pass('A.0', 'w0@g0', [-20, -20, -20, -10, 0])}
      ${pass('A.1', 'w1@g1', [-20, -20, -20, -10, 0])}
      -9 synthesis_started A.5 + synthesis_started B.0
      10 synthesis_ended A.5 + queued A.5
      ${pass('A.5', 'w1@g1', [10, 10, 10, 20, 20])}
      14 synthesis_ended B.0 + queued B.0
      ${pass('B.0', 'w0@g0', [14, 14, 14, 20, 20])}`,
    endMs: 20,
    expected: { g0: { cross_sector: 14, kernel: 6 }, g1: { starved: 10, kernel: 10 } },
  },
  {
    name: 'e',
    scheduler: JOB,
    lines: `
      -30 proof_accepted A circuit=c1
      ${job('A.0', 'w0', [-20, -20, -10, -10])}
      -5 proof_accepted B circuit=c2 + synthesis_started B.0
      0 params_load_started circuit=c2
      35 synthesis_ended B.0 + queued B.0
      45 params_load_ended circuit=c2
      ${job('B.0', 'w0', [45, 45, 50, 50])}`,
    endMs: 50,
    expected: { cpu0: { warm_up: 45, kernel: 5 } },
  },
  {
    name: 'f',
    scheduler: { ...JOB, partitions_in_flight: 1 },
    lines: `
      -60 proof_accepted A
      ${job('A.0', 'w0', [-50, -50, 0, 0])}
      -34 permit_asked A.1
      0 permit_granted A.1 waited_for=bytes + synthesis_started A.1
      30 synthesis_ended A.1 + queued A.1
      ${job('A.1', 'w0', [30, 30, 40, 40])}`,
    endMs: 40,
    expected: { cpu0: { permit: 30, 'permit.bytes': 30, kernel: 10 } },
  },
  {
    name: 'g',
    scheduler: JOB,
    lines: `
      0 proof_accepted A + synthesis_started A.3
      ${job('A.0', 'w0', [0, 0, 40, 40])}
      50 stage_failed A.3 stage=synthesis`,
    endMs: 60,
    expected: { cpu0: { kernel: 40, starved: 10, no_work: 10 } },
  },
  {
    name: 'h',
    scheduler: JOB,
    lines: `
      mark 100
      process B 130
      130 run_started
      160 ready
      160 proof_accepted A
      ${job('A.0', 'w0', [160, 160, 170, 170])}`,
    endMs: 170,
    expected: { cpu0: { no_work: 100, down: 30, warm_up: 30, kernel: 10 } },
  },
  ...[
    { name: 'i, live at 20', endMs: 20, lasts: true, idle: { cross_sector: 20, provisional: 20 } },
    { name: 'i, in the end', endMs: 25, lasts: false, idle: { starved: 25 } },
  ].map(({ name, endMs, lasts, idle }) => ({
    name,
    scheduler: JOB,
    lines: `
      -60 proof_accepted A + proof_accepted B
      ${job('A.0', 'w0', [-50, -50, 0, 0])}
      -3 synthesis_started B.0
      5 synthesis_started A.9
      25 synthesis_ended A.9 + queued A.9
      25 picked_up A.9 w0`,
    endMs,
    lasts,
    expected: { cpu0: idle } as Lane['expected'],
  })),
  {
    name: 'j',
    scheduler: JOB,
    lines: `
      -60 proof_accepted A
      ${job('A.0', 'w0', [-50, -50, 0, 0])}
      36000 proof_accepted B + synthesis_started B.0
      36030 synthesis_ended B.0 + queued B.0
      ${job('B.0', 'w0', [36030, 36030, 36040, 36040])}`,
    endMs: 36040,
    expected: { cpu0: { no_work: 36000, cross_sector: 30, kernel: 10 } },
  },
  {
    name: 'k',
    scheduler: { ...KERNELS, gpu_workers: 1 },
    lines: `
      0 proof_accepted A + synthesis_started A.0 + synthesis_started A.1
      60 synthesis_ended A.1 + queued A.1
      ${pass('A.1', 'w0', [60, 60, 60, 80, 80])}
      100 synthesis_ended A.0 + queued A.0
      ${pass('A.0', 'w0', [100, 100, 100, 120, 120])}`,
    endMs: 120,
    expected: { cpu0: { first_synthesis: 60, starved: 20, kernel: 40 } },
  },
  {
    name: 'l',
    scheduler: JOB,
    lines: `
      0 proof_accepted A + permit_asked A.2
      ${job('A.0', 'w0', [0, 0, 10, 30])}
      0 queued A.1
      ${job('A.1', 'w0', [30, 30, 40, 40])}`,
    endMs: 40,
    expected: { cpu0: { kernel: 20, epilogue: 20 } },
  },
  {
    name: 'T-a',
    scheduler: JOB,
    lines: `
      0 proof_accepted A
      ${job('A.0', 'w0', [0, 100, 2100, 3800])}
      0 synthesis_started A.1
      1000 synthesis_ended A.1 + queued A.1
      ${job('A.1', 'w0', [3800, 3900, 3900, 3900])}`,
    endMs: 3900,
    expected: { cpu0: { kernel: 2000, preamble: 200, epilogue: 1700 } },
  },
  {
    name: 'T-b',
    scheduler: JOB,
    lines: `
      0 proof_accepted A
      ${job('A.0', 'w0', [0, 100, 2100, 3800])}
      0 synthesis_started A.1
      5000 synthesis_ended A.1 + queued A.1
      ${job('A.1', 'w0', [5000, 5100, 5100, 5100])}`,
    endMs: 5100,
    expected: { cpu0: { kernel: 2000, preamble: 200, starved: 2900 } },
  },
  {
    name: 'T-c',
    scheduler: KERNELS,
    lines: `0 proof_accepted A\n${pass('A.0', 'w0', [0, 100, 100, 2100, 2100])}\n${pass('A.1', 'w1', [50, 150, 2100, 4100, 4100])}`,
    endMs: 4100,
    expected: { cpu0: { kernel: 4000, preamble: 100 } },
    worker: { cpu0: { waiting: 1950, prepare: 200, device: 4000, finish: 0 } },
  },
  {
    name: 'T-d',
    scheduler: JOB,
    lines: `
      0 proof_accepted A + proof_accepted B
      ${job('A.9', 'w0', [0, 0, 10000, 10000])}
      9000 synthesis_started B.0
      13000 synthesis_ended B.0 + queued B.0
      ${job('B.0', 'w0', [13000, 13000, 13010, 13010])}`,
    endMs: 13010,
    expected: { cpu0: { kernel: 10010, cross_sector: 3000 } },
  },
  {
    name: 'T-e',
    scheduler: KERNELS,
    lines: `
      0 proof_accepted A + picked_up A.0 w0 + prepare_started + prepare_ended + lock_asked + lock_granted + device_started
      500 kernel_started A.0 w0
      1400 kernel_ended A.0 w0
      2000 device_ended A.0 w0 + lock_released + put_down`,
    endMs: 2000,
    expected: { cpu0: { kernel: 900, in_lock: 1100, 'in_lock.host': 1100 } },
    windows: { cpu0: { job: 2000, lock: 2000, kernel: 900 } },
  },
];

/** Missing ends, losses and logs that cannot tell. */
export const MORE_LANES: Lane[] = [
  {
    name: 'a worker moves on without having been put down',
    scheduler: KERNELS,
    lines: `
      0 proof_accepted A + picked_up A.0 w0 + prepare_started
      10 prepare_ended A.0 w0 + lock_asked + lock_granted
      50 picked_up A.1 w0 + prepare_started
      60 prepare_ended A.1 w0 + lock_asked + lock_granted
      70 lock_released A.1 w0 + put_down`,
    endMs: 70,
    expected: { cpu0: { preamble: 20, unknown: 40, in_lock: 10 } },
    windows: { cpu0: { job: 20, lock: 10 } },
  },
  {
    name: 'a kernel without end reaches to the next event of its worker, one without start back to the one before',
    scheduler: KERNELS,
    lines: `
      0 proof_accepted A + picked_up A.0 w0 + lock_granted
      10 kernel_started A.0 w0 kernel=ntt
      30 kernel_started A.0 w0 kernel=h_msm
      50 kernel_ended A.0 w0 kernel=h_msm
      70 kernel_ended A.0 w0 kernel=l_msm
      80 lock_released A.0 w0 + put_down`,
    endMs: 80,
    expected: { cpu0: { kernel: 20, unknown: 40, in_lock: 20 } },
  },
  {
    name: 'killed while a worker prepares, before it died in its device stage',
    scheduler: { ...KERNELS, gpu_workers: 1 },
    lines: `
      0 proof_accepted A + picked_up A.0 w0
      10 lock_granted A.0 w0
      30 worker_dead w0
      45 picked_up A.1 w1
      mark 60
      process B 75
      80 run_started + ready`,
    endMs: 90,
    expected: { cpu0: { preamble: 10, unknown: 35, fault: 15, down: 15, warm_up: 5, no_work: 10 } },
  },
  {
    name: 'a loss that nothing heals',
    scheduler: JOB,
    lines: `10 proof_accepted A\nloss 40 60`,
    endMs: 100,
    expected: { cpu0: { no_work: 10, first_synthesis: 30, unknown: 60 } },
  },
  {
    name: 'a log: a window that was placed, one that was not, and a job without an end',
    engine: 'cuzk',
    lines: `
      10 synthesis_started A.0
      20 synthesis_ended A.0 + queued A.0
      25 picked_up A.0 w0
      30 lock_granted A.0 w0
      50 lock_released A.0 w0
      55 queued A.1
      60 picked_up A.1 w0
      62 put_down A.0 w0
      70 put_down A.1 w0
      80 picked_up A.2 w0
      85 call_started A.2 w0
      88 stage_failed A.2 stage=device
      95 picked_up A.3 w0
      98 put_down A.3 w0`,
    endMs: 100,
    // 50-55 and 70-80 nobody is ready; 55-60 A.0 finishes while A.1 is ready; 60-70 and 95-98 no window.
    expected: {
      cpu0: { between_work: 37, dispatch: 5, outside_lock: 10, lock_or_kernel: 20, inside_job: 13, unknown: 15 },
    },
  },
];

const MS = 1_000_000;
/** The run starts 100 ms after the process's clock did. */
const ZERO_MS = 100;

export function makeLane(lane: Lane): SampleRun {
  const scheduler: Scheduler = { ...SCHEDULER, ...lane.scheduler };
  const devices = (lane.devices ?? ['cpu0']).map((device) => ({ device, kind: 'cpu', name: device, workers_max: 2, clock: 'host' }));
  const processes: SampleProcess[] = [];
  const begin = (name: string, atMs: number) => {
    const monotonic = String(BigInt(Math.round((atMs + ZERO_MS) * MS)));
    const hello = makeEvent('hello', 0, 0, { process: name, devices, monotonic_ns: monotonic });
    processes.push({
      hello, seqFrom: 0, startedT: ZERO_MS * MS, events: [hello], losses: [], seqTo: null, endedT: null, ended: 'killed', horizon: null,
    }); // prettier-ignore
    return atMs;
  };
  let zeroMs = begin('A', -ZERO_MS);
  let order = 0;
  let told: { tMs: number; order: number; e: EventName; fields: Record<string, unknown> }[] = [];
  const settle = () => {
    const process = processes.at(-1) as SampleProcess;
    told.sort((one, other) => one.tMs - other.tMs || one.order - other.order);
    for (const { tMs, e, fields } of told) {
      process.events.push(makeEvent(e, Math.round((tMs - zeroMs) * MS), process.events.length, fields) as TimelineEvent);
    }
    told = [];
  };
  const tell = (tMs: number, e: EventName, fields: Record<string, unknown>) => told.push({ tMs, order: order++, e, fields });
  tell(-ZERO_MS, 'ready', {});
  tell(0, 'run_started', { scheduler });
  for (const line of lane.lines.split('\n').map((text) => text.trim())) {
    if (line === '') continue;
    const [first, second, third] = line.split(/\s+/) as [string, string, string];
    if (first === 'mark') (processes.at(-1) as SampleProcess).horizon = Math.round((Number(second) - zeroMs) * MS);
    else if (first === 'loss') {
      const [t_from, t_to] = [Number(second), Number(third)].map((ms) => (ms - zeroMs) * MS) as [number, number];
      const loss = { ring: 'w0', count: 3, filled: 0, t_from, t_to, healed_t: null, state: null };
      (processes.at(-1) as SampleProcess).losses.push(loss);
    } else if (first === 'process') {
      settle();
      zeroMs = begin(second, Number(third));
    } else {
      let fields: Record<string, unknown> = {};
      for (const part of line.slice(first.length).split(' + ')) {
        const [name = '', ...words] = part.trim().split(/\s+/);
        fields = { ...fields, ...readWords(words) };
        tell(Number(first), name as EventName, fields);
      }
    }
  }
  const last = processes.at(-1) as SampleProcess;
  if (lane.lasts) [last.ended, last.horizon] = [null, Math.round((lane.endMs - zeroMs) * MS)];
  else tell(lane.endMs, 'run_ended', {});
  settle();
  return {
    name: lane.name, engine: lane.engine ?? 'builtin', scheduler, state: lane.lasts ? 'running' : 'finished', processes, holds: [],
  }; // prettier-ignore
}

function readWords(words: string[]): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const word of words) {
    const partition = /^([A-Z])(?:\.(\d+))?$/.exec(word);
    const worker = /^w(\d+)(?:@(\S+))?$/.exec(word);
    const value = /^(\w+)=(\S+)$/.exec(word);
    if (partition) Object.assign(fields, { proof: partition[1], ...(partition[2] && { partition: Number(partition[2]) }) });
    else if (worker) Object.assign(fields, { worker: Number(worker[1]), device: worker[2] ?? 'cpu0' });
    else if (value) fields[value[1] as string] = value[2];
    else throw new Error(`not a word of a lane: ${word}`);
  }
  return fields;
}
