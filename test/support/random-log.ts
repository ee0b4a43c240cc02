/**
 * Random imported logs of the cuzk daemon: job spans that overlap on one worker, lock windows for some partitions only, calls, failed and
 * lost work without an end, lines of acceptance or none, dropped lines, a log that still grows.
 */
import type { EventName, TimelineEvent } from '../../electron/contract/timeline-events.ts';
import type { SampleLoss, SampleProcess, SampleRun } from '../oracle/run-sample.ts';
import { makeEvent, SCHEDULER } from './journal.ts';
import type { Random } from './random.ts';

interface Line {
  t: number;
  e: EventName;
  fields: Record<string, unknown>;
}

export function makeRandomLog(random: Random): SampleRun {
  const devices = ['gpu0', 'gpu1'].slice(0, random.pick([1, 1, 2]));
  const scheduler = random.chance(0.5) ? null : { ...SCHEDULER, gpu_workers: random.int(1, 2) };
  const lines: Line[] = [{ t: 0, e: 'ready', fields: {} }];
  const placed = random.pick([0, 0.5, 1]);
  const accepts = random.chance(0.5);
  const queue: { at: number; P: Record<string, unknown> }[] = [];
  for (let proof = 0; proof < random.int(1, 3); proof++) {
    const at = random.int(0, 60);
    const name = `p${proof}`;
    const partitions = random.int(1, 3);
    if (accepts) lines.push({ t: at, e: 'proof_accepted', fields: { proof: name, partitions, circuit: 'c1' } });
    if (random.chance(0.3)) lines.push({ t: at, e: 'proof_named', fields: { proof: name, name: 'porep of a sector', kind: 'porep-c2' } });
    for (let partition = 0; partition < partitions; partition++) {
      const P = { proof: name, attempt: 1, partition };
      const from = at + random.int(0, 20);
      const to = from + random.int(0, 30);
      lines.push({ t: from, e: 'synthesis_started', fields: { ...P, synthesiser: 0 } });
      if (random.chance(0.1)) {
        if (random.chance(0.5)) lines.push({ t: to, e: 'stage_failed', fields: { ...P, stage: 'synthesis' } });
        continue;
      }
      lines.push({ t: to, e: 'synthesis_ended', fields: { ...P, synthesiser: 0 } });
      lines.push({ t: to + random.int(0, 1), e: 'queued', fields: P });
      if (random.chance(0.9)) queue.push({ at: to + 1, P });
    }
  }
  if (random.chance(0.2)) {
    const from = random.int(0, 60);
    lines.push({ t: from, e: 'params_load_started', fields: { circuit: 'c1' } });
    lines.push({ t: from + random.int(0, 40), e: 'params_load_ended', fields: { circuit: 'c1' } });
  }
  work(random, devices, queue, placed, lines);
  return assemble(random, devices, scheduler, lines);
}

function work(random: Random, devices: string[], queue: { at: number; P: Record<string, unknown> }[], placed: number, lines: Line[]): void {
  const workers = devices.flatMap((device, index) =>
    [0, 1].slice(0, random.int(1, 2)).map((n) => ({ device, worker: index * 2 + n, free: 0 })),
  );
  const lock = new Map(devices.map((device) => [device, 0]));
  queue.sort((one, other) => one.at - other.at);
  for (const { at, P } of queue) {
    const worker = workers.reduce((best, one) => (one.free < best.free ? one : best));
    const W = { ...P, device: worker.device, worker: worker.worker };
    const picked = Math.max(at, worker.free) + random.int(0, 3);
    lines.push({ t: picked, e: 'picked_up', fields: W });
    const call = picked + random.int(0, 2);
    if (random.chance(0.95)) lines.push({ t: call, e: 'call_started', fields: W });
    const granted = Math.max(call + random.int(0, 10), lock.get(worker.device) as number);
    const released = granted + random.int(0, 20);
    lock.set(worker.device, released);
    const isPlaced = random.chance(placed);
    if (isPlaced) {
      lines.push({ t: granted, e: 'lock_granted', fields: W });
      lines.push({ t: released, e: 'lock_released', fields: W });
    }
    worker.free = released + random.int(0, 3);
    if (random.chance(0.12)) {
      if (random.chance(0.6)) lines.push({ t: released + random.int(0, 5), e: 'stage_failed', fields: { ...P, stage: 'device' } });
      continue;
    }
    const end = released + random.int(0, 20);
    lines.push({ t: end, e: 'put_down', fields: W });
    if (random.chance(0.3)) lines.push({ t: end, e: 'measured', fields: { ...W, durations: { lock_held: released - granted } } });
    if (random.chance(0.5)) lines.push({ t: end, e: 'partition_ended', fields: { ...P, outcome: 'valid' } });
  }
}

function assemble(random: Random, devices: string[], scheduler: SampleRun['scheduler'], lines: Line[]): SampleRun {
  const named = devices.map((device) => ({ device, kind: 'cuda', name: device, workers_max: 2, clock: 'host' }));
  const hello = makeEvent('hello', 0, 0, {
    format: 2,
    process: 'L',
    engine: 'cuzk',
    devices: named,
    monotonic_ns: '0',
    boot_id: 'imported',
  });
  lines.push({ t: 0, e: 'run_started', fields: { scheduler } });
  const order = new Map(lines.map((line) => [line, random.next()]));
  lines.sort((one, other) => one.t - other.t || (order.get(one) as number) - (order.get(other) as number));
  const lastT = (lines.at(-1) as Line).t;
  const losses: SampleLoss[] = [];
  let kept = lines;
  if (random.chance(0.2)) {
    const from = random.int(0, lastT);
    const to = from + random.int(0, 20);
    losses.push({ ring: 'log', count: 2, filled: 0, t_from: from, t_to: to, healed_t: to, state: null });
    kept = lines.filter((line) => line.t < from || line.t > to || line.e === 'run_started' || random.chance(0.3));
    kept.push({ t: to, e: 'lost', fields: { ring: 'log', count: 2, t_from: from, t_to: to } });
    kept.sort((one, other) => one.t - other.t);
  }
  const events: TimelineEvent[] = [hello];
  for (const { e, t, fields } of kept) events.push(makeEvent(e, t, events.length, fields) as TimelineEvent);
  const process: SampleProcess = {
    hello,
    seqFrom: 0,
    startedT: 0,
    events,
    losses,
    seqTo: null,
    endedT: null,
    ended: 'log ended',
    horizon: null,
  };
  const lives = random.chance(0.3);
  if (lives) {
    process.ended = null;
    process.horizon = random.int(0, lastT + 5);
  } else if (random.chance(0.5)) {
    process.events.push(makeEvent('run_ended', lastT + random.int(0, 5), events.length));
    process.seqTo = events.length - 1;
    process.endedT = (process.events.at(-1) as TimelineEvent).t;
  }
  return { name: '', engine: 'cuzk', scheduler, state: lives ? 'running' : 'interrupted', processes: [process], holds: [] };
}
