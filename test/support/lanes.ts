/**
 * Timelines as pictures. One line a lane; each character is one tick (1 ms unless said). The test is the picture.
 *
 *   p1.0 w0 ppwLKKLff.     what GPU worker 0 did with partition 0 of p1
 *   p1.1 s0 ..SSS.....     its synthesis on synthesiser 0
 *
 *   S synthesis   p prepare   w waiting for the lock   L lock held, in the device stage, no kernel   K kernel   f finish   . nothing
 *
 * Workers follow lock scope `kernels`: picked up at the first mark, put down after the last. A lane that stops at `!` loses its ends there.
 */
import type { TimelineEvent } from '../../electron/contract/timeline-events.ts';
import { makeEvent } from './journal.ts';

const STAGE: Record<string, string> = { p: 'prepare', w: 'waiting', L: 'device', K: 'device', f: 'finish' };

export interface Lanes {
  events: TimelineEvent[];
  /** Ticks of the longest lane, in ns. */
  endNs: number;
}

/** Events in the order of time; the run starts at tick 0. */
export function parseLanes(picture: string, options: { tickNs?: number; device?: string; proofs?: boolean } = {}): Lanes {
  const { tickNs = 1_000_000, device = 'cpu0' } = options;
  const raw: { t: number; order: number; make: (seq: number) => TimelineEvent }[] = [];
  let endTick = 0;
  const add = (tick: number, make: (t: number, seq: number) => TimelineEvent) => {
    raw.push({ t: tick * tickNs, order: raw.length, make: (seq) => make(tick * tickNs, seq) });
  };
  for (const line of picture
    .split('\n')
    .map((text) => text.trim())
    .filter((text) => text !== '')) {
    // prettier-ignore
    const match = /^(\S+)\.(\d+)\s+([ws])(\d+)(?:@(\S+))?\s+(\S+)$/.exec(line);
    if (!match) throw new Error(`not a lane: ${line}`);
    const [, proof = '', partition = '', role, index = '', at, cells = ''] = match;
    const key = { proof, attempt: 1, partition: Number(partition) };
    const cut = cells.indexOf('!');
    const lane = cut < 0 ? cells : cells.slice(0, cut);
    endTick = Math.max(endTick, cells.length);
    if (role === 's') readSynthesis(lane, { ...key, synthesiser: Number(index) }, cut >= 0, add);
    else readWorker(lane, { ...key, device: at ?? device, worker: Number(index) }, cut >= 0, add);
  }
  raw.sort((a, b) => a.t - b.t || a.order - b.order);
  const events: TimelineEvent[] = [makeEvent('hello', 0, 0), makeEvent('run_started', 0, 1)];
  for (const { make } of raw) events.push(make(events.length));
  return { events, endNs: endTick * tickNs };
}

type Add = (tick: number, make: (t: number, seq: number) => TimelineEvent) => void;

function readSynthesis(
  lane: string,
  key: { proof: string; attempt: number; partition: number; synthesiser: number },
  torn: boolean,
  add: Add,
): void {
  const from = lane.indexOf('S');
  add(from, (t, seq) => makeEvent('synthesis_started', t, seq, key));
  if (!torn) add(lane.lastIndexOf('S') + 1, (t, seq) => makeEvent('synthesis_ended', t, seq, key));
}

function readWorker(
  lane: string,
  key: { proof: string; attempt: number; partition: number; device: string; worker: number },
  torn: boolean,
  add: Add,
): void {
  const kernel = { ...key, stream: 0, kernel: 'h_msm' };
  let stage: string | undefined;
  let inKernel = false;
  let picked = false;
  const leave = (tick: number) => {
    if (stage === 'prepare') add(tick, (t, seq) => makeEvent('prepare_ended', t, seq, key));
    else if (stage === 'device') {
      add(tick, (t, seq) => makeEvent('device_ended', t, seq, key));
      add(tick, (t, seq) => makeEvent('lock_released', t, seq, key));
    } else if (stage === 'finish') add(tick, (t, seq) => makeEvent('finish_ended', t, seq, key));
  };
  const enter = (tick: number, next: string | undefined) => {
    if (next === 'prepare') add(tick, (t, seq) => makeEvent('prepare_started', t, seq, key));
    else if (next === 'waiting') add(tick, (t, seq) => makeEvent('lock_asked', t, seq, key));
    else if (next === 'device') {
      if (stage !== 'waiting') add(tick, (t, seq) => makeEvent('lock_asked', t, seq, key));
      add(tick, (t, seq) => makeEvent('lock_granted', t, seq, key));
      add(tick, (t, seq) => makeEvent('device_started', t, seq, key));
    } else if (next === 'finish') add(tick, (t, seq) => makeEvent('finish_started', t, seq, key));
  };
  for (let tick = 0; tick <= lane.length; tick++) {
    if (tick === lane.length && torn) return;
    const cell = lane[tick] ?? '.';
    const next = STAGE[cell];
    if (inKernel && cell !== 'K') {
      add(tick, (t, seq) => makeEvent('kernel_ended', t, seq, kernel));
      inKernel = false;
    }
    if (next !== undefined && !picked) {
      add(tick, (t, seq) => makeEvent('picked_up', t, seq, key));
      picked = true;
    }
    if (next !== stage) {
      leave(tick);
      enter(tick, next);
      stage = next;
    }
    if (!inKernel && cell === 'K') {
      add(tick, (t, seq) => makeEvent('kernel_started', t, seq, kernel));
      inKernel = true;
    }
    if (next === undefined && picked) {
      add(tick, (t, seq) => makeEvent('put_down', t, seq, key));
      return;
    }
  }
}
