/** How far a run reaches in a process. */
import type { Reads, Stretch } from './reads.ts';

/** Null where the run still lasts in this process: it is alive and has not ended the run. */
export function endOf(reads: Reads, run: string, stretch: Stretch): number | null {
  const found = reads.db
    .prepare(
      `SELECT j.horizon, p.ended, rp.ended_t AS endedT, (SELECT r.state FROM run r WHERE r.run = rp.run) AS state,
         (SELECT max(t) FROM event WHERE process = rp.process AND seq >= rp.seq_from AND seq <= ?) AS lastT,
         (SELECT count(*) FROM run_process later WHERE later.run = rp.run AND (later.place, later.process) > (rp.place, rp.process)) AS later
       FROM run_process rp JOIN process p ON p.id = rp.process JOIN journal j ON j.process = rp.process WHERE rp.run = ? AND rp.process = ?`,
    )
    .get(stretch.seqTo, run, stretch.id) as {
    horizon: number | null;
    ended: string | null;
    endedT: number | null;
    state: string;
    lastT: number | null;
    later: number;
  };
  if (found.ended === null && found.endedT === null && found.state === 'running' && found.later === 0) return null;
  const isWhole = stretch.seqTo === Number.MAX_SAFE_INTEGER;
  return Math.max(found.lastT ?? 0, isWhole ? (found.horizon ?? 0) : 0);
}
