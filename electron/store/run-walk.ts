/** Tells a whole run, as it is stored, to a {@link RunFeed}: pages, never an open cursor. */
import type { FedLoss, RunFeed } from '../analysis/run-feed.ts';
import type { StateLine } from '../contract/timeline-events.ts';
import { readHolds } from './holds.ts';
import type { Reads } from './reads.ts';
import { endOf } from './run-end.ts';

const PAGE = 10_000;

interface LossRow {
  count: number;
  tFrom: number;
  tTo: number;
  healedT: number | null;
  state: string | null;
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
    let lastT = 0;
    for (let from = stretch.seqFrom; ;) {
      const page = reads.readPage(stretch.id, from, stretch.seqTo, PAGE);
      for (const event of page) {
        feed.take(event);
        if (event.t > lastT) lastT = event.t;
      }
      const last = page.at(-1);
      if (!last || page.length < PAGE) break;
      from = last.seq + 1;
    }
    for (const row of losses.all(stretch.id, stretch.seqFrom, stretch.seqTo)) feed.takeLoss?.(readLoss(row));
    feed.endProcess?.(endOf(reads, run, stretch, lastT));
  }
  if (feed.takeHold) for (const { fromNs, toNs } of readHolds(reads, run)) feed.takeHold(fromNs, toNs);
}

function readLoss(row: LossRow): FedLoss {
  return { ...row, state: row.state === null ? null : (JSON.parse(row.state) as StateLine) };
}
