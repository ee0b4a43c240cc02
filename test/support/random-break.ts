/** Breaks a run on purpose: an event gone, an end twice, stamps out of order. What comes of it is defined all the same. */
import type { TimelineEvent } from '../../electron/contract/timeline-events.ts';
import type { SampleProcess, SampleRun } from '../oracle/run-sample.ts';
import type { Random } from './random.ts';
import { renumber } from './random-run.ts';

const FIXED = new Set(['hello', 'run_started', 'run_ended', 'bye']);

export function breakRun(run: SampleRun, random: Random): void {
  for (let times = random.int(1, 3); times > 0; times--) {
    const process = random.pick(run.processes);
    const places = process.events.flatMap((event, index) => (FIXED.has(event.e) ? [] : [index]));
    if (places.length < 2) continue;
    breakAt(process, random.pick(places), random);
    renumber(process);
  }
}

function breakAt(process: SampleProcess, place: number, random: Random): void {
  const { events } = process;
  const event = events[place] as TimelineEvent;
  const last = Math.max(...events.map((one) => one.t));
  switch (random.int(0, 3)) {
    case 0:
      events.splice(place, 1);
      break;
    case 1: {
      const copy = { ...event, t: Math.min(last, event.t + random.int(0, 12)) } as TimelineEvent;
      const at = events.findIndex((one) => one.t > copy.t);
      events.splice(at < 0 || process.seqTo !== null ? (at < 0 ? events.length - 1 : Math.max(at, 1)) : Math.max(at, 1), 0, copy);
      break;
    }
    case 2: {
      const t = Math.max(process.startedT, Math.min(last, event.t + random.int(-10, 10)));
      events[place] = { ...event, t };
      break;
    }
    default: {
      const other = random.int(1, events.length - 1);
      const swapped = events[other] as TimelineEvent;
      if (FIXED.has(swapped.e)) return;
      events[place] = { ...event, t: swapped.t };
      events[other] = { ...swapped, t: event.t };
    }
  }
}
