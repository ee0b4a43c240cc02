/** Tells a whole run, as it is stored, to a {@link RunFeed}: pages, never an open cursor. */
import type { FedLoss, RunFeed } from '../analysis/run-feed.ts';
import type { StateLine } from '../contract/timeline-events.ts';
import { readHolds } from './holds.ts';
import type { Reads, Stretch } from './reads.ts';

const PAGE = 10_000;

interface LossRow {
  count: number;
  tFrom: number;
  tTo: number;
  healedT: number | null;
  state: string | null;
}

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

export function walkRun(reads: Reads, run: string, feed: RunFeed): void {
  const stretches = reads.stretchesOf(run);
  const losses = reads.db.prepare<[number, number, number], LossRow>(
    `SELECT count - filled AS count, t_from AS tFrom, t_to AS tTo, healed_t AS healedT, healed_state AS state FROM loss
     WHERE process = ? AND seq_from >= ? AND seq_from <= ? AND count > filled ORDER BY t_from`,
  );
  const originT = stretches[0]?.startedT ?? 0;
  for (const stretch of stretches) {
    feed.beginProcess(stretch.hello, originT, stretch.seqFrom === 0);
    for (let from = stretch.seqFrom; ;) {
      const page = reads.readPage(stretch.id, from, stretch.seqTo, PAGE);
      for (const event of page) feed.take(event);
      const last = page.at(-1);
      if (!last || page.length < PAGE) break;
      from = last.seq + 1;
    }
    for (const row of losses.all(stretch.id, stretch.seqFrom, stretch.seqTo)) feed.takeLoss?.(readLoss(row));
    feed.endProcess?.(endOf(reads, run, stretch));
  }
  if (feed.takeHold) for (const { fromNs, toNs } of readHolds(reads, run)) feed.takeHold(fromNs, toNs);
}

function readLoss(row: LossRow): FedLoss {
  return { ...row, state: row.state === null ? null : (JSON.parse(row.state) as StateLine) };
}
