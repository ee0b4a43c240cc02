/** Stretches in which the host kept at least one proof back: written as they begin and end, read on a run's axis. */
import type { Nanoseconds } from '../contract/units.ts';
import type { Db } from './open.ts';
import { NO_JOURNAL } from './processes.ts';
import type { Reads } from './reads.ts';
import { endOf } from './run-end.ts';
import type { HoldStart } from './types.ts';

export interface Hold {
  fromNs: Nanoseconds;
  /** Null: it lasts. */
  toNs: Nanoseconds | null;
}

/** Answers the hold's number. `fromNs`: the machine's monotonic clock, decimal ns. */
export function beginHold(db: Db, { bootId, fromNs, reason }: HoldStart): number {
  return Number(db.prepare('INSERT INTO hold (boot_id, from_ns, reason) VALUES (?, ?, ?)').run(bootId, fromNs, reason).lastInsertRowid);
}

export function endHold(db: Db, id: number, toNs: string): void {
  db.prepare('UPDATE hold SET to_ns = ? WHERE id = ? AND to_ns IS NULL').run(toNs, id);
}

/**
 * Holds that a host left open when it died. Nothing let the proofs go before this one came; those of an earlier boot reach to the last
 * thing that is known of it.
 */
export function endLeftHolds(db: Db, now: { bootId: string; ns: string }): void {
  const left = db.prepare('SELECT id, boot_id AS bootId, from_ns AS fromNs FROM hold WHERE run IS NULL AND to_ns IS NULL').all() as {
    id: number;
    bootId: string;
    fromNs: string;
  }[];
  for (const { id, bootId, fromNs } of left) {
    const end = bootId === now.bootId ? BigInt(now.ns) : lastOfBoot(db, bootId);
    const from = BigInt(fromNs);
    endHold(db, id, String(end !== null && end > from ? end : from));
  }
}

/** The last instant that a process of that boot told of, on its monotonic clock. */
function lastOfBoot(db: Db, bootId: string): bigint | null {
  const rows = db
    .prepare(
      `SELECT j.horizon, e.detail FROM journal j JOIN event e ON e.process = j.process AND e.seq = 0
       WHERE j.path <> '${NO_JOURNAL}' AND j.horizon IS NOT NULL ORDER BY j.process DESC LIMIT 100`,
    )
    .all() as { horizon: number; detail: string }[];
  let last: bigint | null = null;
  for (const { horizon, detail } of rows) {
    const hello = JSON.parse(detail) as { boot_id: string; monotonic_ns: string };
    if (hello.boot_id !== bootId) continue;
    const at = BigInt(hello.monotonic_ns) + BigInt(horizon);
    if (last === null || at > last) last = at;
  }
  return last;
}

/** The holds that lie in a run, ns since its start, in order. Those of an imported run are as they were told. */
export function readHolds(reads: Reads, run: string): Hold[] {
  const imported = reads.db.prepare('SELECT from_ns AS fromNs, to_ns AS toNs FROM hold WHERE run = ? ORDER BY id').all(run) as HoldRow[];
  if (imported.length > 0)
    return imported.map(({ fromNs, toNs }) => ({ fromNs: Number(fromNs), toNs: toNs === null ? null : Number(toNs) }));
  // A host that never held anything back is the usual one: then no end of a process has to be found.
  if (reads.db.prepare('SELECT 1 FROM hold WHERE run IS NULL LIMIT 1').get() === undefined) return [];
  const stretches = reads.stretchesOf(run);
  const axis = reads.axisOf(stretches);
  if (!axis) return [];
  const ofBoot = reads.db.prepare('SELECT from_ns AS fromNs, to_ns AS toNs FROM hold WHERE boot_id = ? ORDER BY id');
  const holds: Hold[] = [];
  const seen = new Set<string>();
  let endNs: Nanoseconds | null = 0;
  for (const stretch of stretches) {
    const { hello } = stretch;
    const offset = axis.offsetOf(hello);
    const end = endOf(reads, run, stretch);
    endNs = end === null || endNs === null ? null : Math.max(endNs, end + offset);
    if (seen.has(hello.boot_id)) continue;
    seen.add(hello.boot_id);
    const onAxis = (ns: string) => Number(BigInt(ns) - BigInt(hello.monotonic_ns)) + offset;
    for (const { fromNs, toNs } of ofBoot.all(hello.boot_id) as HoldRow[]) {
      holds.push({ fromNs: onAxis(fromNs), toNs: toNs === null ? null : onAxis(toNs) });
    }
  }
  return holds.flatMap((hold) => clip(hold, endNs)).sort((a, b) => a.fromNs - b.fromNs);
}

interface HoldRow {
  fromNs: string;
  toNs: string | null;
}

/** What of it lies between the run's start and its end (null: it lasts). */
function clip({ fromNs, toNs }: Hold, endNs: Nanoseconds | null): Hold[] {
  const from = Math.max(0, fromNs);
  const to = endNs === null ? toNs : Math.min(toNs ?? endNs, endNs);
  return to !== null && to <= from ? [] : [{ fromNs: from, toNs: to }];
}
