/**
 * Random small runs that look like real ones: several devices and workers, both lock scopes, restarts, deaths, losses that heal or do not,
 * holds, loads, equal stamps, runs that still last; imported logs of the cuzk daemon; and all of them broken on purpose.
 */
import type { Scheduler } from '../../electron/contract/scheduler.ts';
import type { EventName, StateLine, TimelineEvent } from '../../electron/contract/timeline-events.ts';
import type { SampleLoss, SampleProcess, SampleRun } from '../oracle/run-sample.ts';
import { makeEvent, SCHEDULER } from './journal.ts';
import { breakRun } from './random-break.ts';
import { makeRandomLog } from './random-log.ts';
import { RandomProcess, type ProofPlan, type Told } from './random-process.ts';
import { Random } from './random.ts';

/** The run of a seed: mostly sound ones of our own, then broken ones, then imported logs. */
export function makeRandomRun(seed: number): SampleRun {
  const random = new Random(seed);
  const family = seed % 10;
  const run = family < 8 ? makeOwnRun(random) : makeRandomLog(random);
  run.name = `r${seed}`;
  if (family === 6 || family === 7 || family === 9) breakRun(run, random);
  return run;
}

function makeScheduler(random: Random): Scheduler {
  return {
    ...SCHEDULER,
    dispatch: random.pick(['batch', 'partition', 'partition']),
    gpu_workers: random.pick([1, 1, 2, 2, 3]),
    lock_scope: random.pick(['job', 'kernels']),
    partitions_in_flight: random.int(1, 4),
    synthesis_workers: random.pick([1, 1, 2]),
  };
}

function makeOwnRun(random: Random): SampleRun {
  const scheduler = makeScheduler(random);
  const devices = ['d0', 'd1', 'd2'].slice(0, random.pick([1, 1, 1, 2, 2, 3]));
  const scale = random.pick([1, 1, 1, 7, 1_000_003]);
  const lives = random.chance(0.25);
  const processes: SampleProcess[] = [];
  let proofs = planProofs(random);
  let monotonic = random.int(0, 1000);
  const count = random.pick([1, 1, 1, 2, 2, 3]);
  for (let number = 0; number < count; number++) {
    const isLast = number === count - 1;
    // Partly another run's process before this one began.
    const served = number === 0 && random.chance(0.2);
    const startedT = served ? random.int(50, 90) : random.int(0, number === 0 ? 30 : 5);
    const fromT = served ? startedT : 0;
    const untilT = fromT + (isLast && !lives ? 2000 : random.int(5, 120));
    const shifted = proofs.map((proof) => ({ ...proof, acceptAt: proof.acceptAt + fromT }));
    const snapshotsAt = random.chance(0.3) ? [fromT + random.int(1, 80), fromT + random.int(1, 160)] : [];
    const sim = new RandomProcess(
      {
        devices: random.chance(0.9) ? devices : devices.slice(0, 1),
        scheduler,
        proofs: shifted,
        loads: planLoads(random, fromT),
        readyAt: served ? -1 : random.pick([0, 0, random.int(0, 40)]),
        fromT,
        untilT,
        snapshotsAt,
        failure: random.chance(0.3) ? 0.15 : 0,
        death: random.chance(0.2) ? 0.15 : 0,
        skew: random.chance(0.1) ? 2 : 0,
      },
      random,
    );
    const killedT = isLast && !lives ? null : sim.endT;
    const process = assemble(random, sim, { number, devices, monotonic, startedT, served, scheduler, snapshotsAt });
    if (killedT !== null) process.events = process.events.filter((event) => event.t <= killedT || random.chance(0.5));
    finishProcess(random, process, { isLast, lives, startedT });
    renumber(process);
    processes.push(scaled(process, scale));
    // Of a finished run the next one may begin before the end of this one, as wall clocks set back make it seem.
    const seenT = Math.max(sim.endT, ...(lives ? [process.horizon ?? 0, ...process.events.map((event) => event.t)] : []));
    monotonic += seenT + random.int(0, 40);
    proofs = [...sim.left].map((proof) => ({ ...proof, attempt: proof.attempt + 1, acceptAt: random.int(0, 30) }));
    proofs.push(...planProofs(random, number + 1).slice(0, random.int(0, 1)));
  }
  const state = lives ? 'running' : (processes.at(-1) as SampleProcess).seqTo === null ? 'interrupted' : 'finished';
  const holds = [...Array(random.pick([0, 0, 1, 2])).keys()].map(() => {
    const from = random.int(-10, 150) * scale;
    return { from, to: random.chance(0.3) ? null : from + random.int(0, 80) * scale };
  });
  return { name: '', engine: 'builtin', scheduler, state, processes, holds };
}

function planProofs(random: Random, family = 0): ProofPlan[] {
  const plans: ProofPlan[] = [];
  let partitions = random.int(1, 4);
  for (let number = 0; partitions > 0 && number < 3; number++) {
    const own = random.int(1, partitions);
    partitions -= own;
    plans.push({
      proof: `p${family}${number}`, attempt: 1, circuit: random.pick(['c1', 'c2']), partitions: own,
      priority: random.pick([2, 2, 2, 1, 4]), acceptAt: random.int(0, 60),
    }); // prettier-ignore
  }
  return plans;
}

function planLoads(random: Random, fromT: number): { circuit: string; from: number; to: number }[] {
  return ['c1', 'c2'].flatMap((circuit) => {
    if (random.chance(0.5)) return [];
    const from = fromT + random.int(0, 60);
    return [{ circuit, from, to: from + random.int(0, 40) }];
  });
}

interface Setting {
  number: number;
  devices: string[];
  monotonic: number;
  startedT: number;
  served: boolean;
  scheduler: Scheduler;
  snapshotsAt: number[];
}

/** Events in the order in which a journal would have them: by time within a ring, some rings a little late. */
function assemble(random: Random, sim: RandomProcess, setting: Setting): SampleProcess {
  const { startedT, served } = setting;
  const named = setting.devices.map((device) => ({ device, kind: 'cpu', name: device, workers_max: 3, clock: 'host' }));
  const hello = makeEvent('hello', 0, 0, { process: `P${setting.number}`, devices: named, monotonic_ns: String(setting.monotonic) });
  const delays = new Map<string, number>();
  const delayOf = (ring: string) => {
    if (!delays.has(ring)) delays.set(ring, random.chance(0.3) ? random.int(0, 6) : 0);
    return delays.get(ring) as number;
  };
  const start: Told = { t: startedT, ring: 'main', e: 'run_started', fields: { scheduler: setting.scheduler } };
  const spare = random.pick([0, 0, 0.5, 1]);
  const redundant = new Set(['device_started', 'finish_ended', 'partition_ended', 'permit_released', 'lock_asked']);
  let told = [...sim.told, start].filter(({ e }) => !redundant.has(e) || !random.chance(spare));
  const losses = loseSome(random, sim, setting, told);
  if (losses) told = losses.kept;
  const lines = told
    .map((one, order) => ({ ...one, order, at: one.t + delayOf(one.ring) }))
    .sort((one, other) => one.at - other.at || one.order - other.order);
  // The part of a process that served another run before begins with this run's start.
  if (served) lines.sort((one, other) => Number(other.e === 'run_started') - Number(one.e === 'run_started'));
  const seqFrom = served ? 5 : 0;
  const events: TimelineEvent[] = served ? [] : [hello];
  for (const { e, t, fields } of lines) events.push(makeEvent(e, t, seqFrom + events.length, fields) as TimelineEvent);
  return {
    hello, seqFrom, startedT, events, losses: losses?.losses ?? [], seqTo: null, endedT: null, ended: 'killed', horizon: null,
  }; // prettier-ignore
}

function loseSome(random: Random, sim: RandomProcess, setting: Setting, told: Told[]): { kept: Told[]; losses: SampleLoss[] } | null {
  const at = setting.snapshotsAt.find((t) => sim.snapshots.has(t) && t > setting.startedT);
  if (at === undefined) return null;
  const tTo = Math.max(setting.served ? setting.startedT : 0, at - random.int(0, 5));
  const tFrom = Math.max(setting.served ? setting.startedT : 0, tTo - random.int(0, 30));
  const rings = [...new Set(told.map((one) => one.ring))];
  const ring = random.pick([...rings, null]);
  const isLost = (one: Told) =>
    tFrom <= one.t && one.t <= tTo && (ring === null || one.ring === ring) && one.e !== 'run_started' && random.chance(0.8);
  const kept = told.filter((one) => !isLost(one));
  const count = told.length - kept.length;
  if (count === 0) return null;
  const loss: SampleLoss = { ring, count, filled: 0, t_from: tFrom, t_to: tTo, healed_t: null, state: null };
  if (random.chance(0.8)) {
    loss.healed_t = at;
    loss.state = sim.snapshots.get(at) as StateLine;
  }
  const losses = [loss];
  if (random.chance(0.2)) losses.push({ ...loss, count: 3, filled: 3, t_from: 0, t_to: 200, state: null, healed_t: null });
  kept.push({
    t: tTo,
    ring: ring ?? 'journal',
    e: 'lost' as EventName,
    fields: { ring: ring ?? 'journal', count, t_from: tFrom, t_to: tTo },
  });
  kept.sort((one, other) => one.t - other.t);
  return { kept, losses };
}

function finishProcess(random: Random, process: SampleProcess, how: { isLast: boolean; lives: boolean; startedT: number }): void {
  const lastT = process.events.reduce((last, event) => Math.max(last, event.t), how.startedT);
  const add = (e: EventName, t: number, fields: Record<string, unknown> = {}) => {
    process.events.push(makeEvent(e, t, 0, fields) as TimelineEvent);
  };
  if (how.isLast && how.lives) {
    process.ended = null;
    process.horizon = random.chance(0.5) ? lastT + random.int(1, 20) : random.int(how.startedT + 1, Math.max(how.startedT + 1, lastT));
    return;
  }
  if (how.isLast && random.chance(0.75)) {
    add('run_ended', lastT + random.pick([0, 0, random.int(0, 15)]));
    process.endedT = (process.events.at(-1) as TimelineEvent).t;
    process.seqTo = 0;
    if (random.chance(0.5)) process.ended = null;
    return;
  }
  if (random.chance(0.2)) add('bye', lastT + random.int(0, 5));
  process.horizon = random.pick([null, lastT, lastT + random.int(0, 10)]);
}

/** Numbers without holes in the order of the file; a state line knows what was written before it. */
export function renumber(process: SampleProcess): void {
  process.events.forEach((event, index) => (event.seq = process.seqFrom + index));
  if (process.seqTo !== null) process.seqTo = process.seqFrom + process.events.length - 1;
  for (const loss of process.losses) {
    if (!loss.state) continue;
    const after = process.events.findIndex((event) => event.t > (loss.state as StateLine).t);
    loss.state = { ...loss.state, upto: process.seqFrom + (after < 0 ? process.events.length : after) - 1 };
  }
}

/** The same with every instant times `scale`. */
function scaled(process: SampleProcess, scale: number): SampleProcess {
  if (scale === 1) return process;
  const times = (t: number | null) => (t === null ? null : t * scale);
  return {
    ...process,
    hello: { ...process.hello, monotonic_ns: String(BigInt(process.hello.monotonic_ns) * BigInt(scale)) },
    startedT: process.startedT * scale,
    endedT: times(process.endedT),
    horizon: times(process.horizon),
    events: process.events.map((event) => ({ ...event, t: event.t * scale })),
    losses: process.losses.map((loss) => ({
      ...loss, t_from: loss.t_from * scale, t_to: loss.t_to * scale, healed_t: times(loss.healed_t),
      state: loss.state && { ...loss.state, t: loss.state.t * scale },
    })),
  }; // prettier-ignore
}
