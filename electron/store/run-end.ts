/** How far a run reaches in a process, and how far everything of it is known. */
import type { Nanoseconds } from '../contract/units.ts';
import type { Reads, Stretch } from './reads.ts';

/** `lasts`: the run still lasts in this process: it is alive and has not ended the run. */
function readEnd(reads: Reads, run: string, stretch: Stretch): { lasts: boolean; horizon: number | null } {
  const found = reads.db
    .prepare(
      `SELECT j.horizon, p.ended, rp.ended_t AS endedT, (SELECT r.state FROM run r WHERE r.run = rp.run) AS state,
         (SELECT count(*) FROM run_process later WHERE later.run = rp.run AND (later.place, later.process) > (rp.place, rp.process)) AS later
       FROM run_process rp JOIN process p ON p.id = rp.process JOIN journal j ON j.process = rp.process WHERE rp.run = ? AND rp.process = ?`,
    )
    .get(run, stretch.id) as { horizon: number | null; ended: string | null; endedT: number | null; state: string; later: number };
  const lasts = found.ended === null && found.endedT === null && found.state === 'running' && found.later === 0;
  return { lasts, horizon: found.horizon };
}

/** On the process's clock; null where the run still lasts in this process. `lastT`: of the stretch's latest event, where it is known already. */
export function endOf(reads: Reads, run: string, stretch: Stretch, lastT?: Nanoseconds): Nanoseconds | null {
  const { lasts, horizon } = readEnd(reads, run, stretch);
  if (lasts) return null;
  const isWhole = stretch.seqTo === Number.MAX_SAFE_INTEGER;
  return Math.max(lastT ?? readLastT(reads, stretch), isWhole ? (horizon ?? 0) : 0);
}

function readLastT(reads: Reads, stretch: Stretch): Nanoseconds {
  const last = reads.db
    .prepare('SELECT max(t) FROM event WHERE process = ? AND seq >= ? AND seq <= ?')
    .pluck()
    .get(stretch.id, stretch.seqFrom, stretch.seqTo) as number | null;
  return last ?? 0;
}

/** On the run's axis, how far everything is known of a run that lasts; null once it is over or its process is gone. */
export function horizonOf(reads: Reads, run: string, stretches: readonly Stretch[]): Nanoseconds | null {
  const last = stretches.at(-1);
  if (!last) return null;
  const { lasts, horizon } = readEnd(reads, run, last);
  if (!lasts || horizon === null) return null;
  return Math.max(0, horizon + (reads.axisOf(stretches)?.offsetOf(last.hello) ?? 0));
}
