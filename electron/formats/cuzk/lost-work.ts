/**
 * Work that the daemon lost. Waiting jobs of one circuit share one key of its queue: a later one takes the place of an earlier one, and
 * no line says so. The sign is a GPU_QUEUE without a GPU_PICKUP; that a log merely ends while something waits is no loss.
 */
import type { Emitter } from './emitter.ts';
import { isOneCircuit } from './jobs.ts';
import type { Results } from './results.ts';
import type { Source } from './tears.ts';
import { idsOf, type Waiting, type Work } from './work.ts';

/** A worker that has nothing to do takes up what waits within milliseconds; after this long it never will. */
const LONG_IDLE_NS = 5e9;

/** At the end of an engine's log. */
export function tellLost(work: Work, results: Results, out: Emitter, problem: (source: Source, text: string) => void): void {
  const endNs = out.maxT;
  for (const waiting of [...work.waiting.values()]) {
    if (!isLost(waiting, work, endNs)) continue;
    const { part, source } = waiting;
    const { attempt, partition, queuedNs, replacedBy } = part;
    const by =
      replacedBy === null ? 'every worker was idle long after' : `${replacedBy} was queued while it waited, and probably took its place`;
    const text = `partition ${partition} of ${attempt.name} was queued at ${seconds(queuedNs ?? 0)} s and never picked up: ${by}`;
    problem(source, text);
    out.emit('stage_failed', endNs, { ...idsOf(part), stage: 'device', code: 'lost_by_engine', message: text });
    if (!part.hasEnded) results.endPart(part, endNs, 'failed');
    if (attempt.outcome === null) results.end(attempt, endNs, 'failed', 'lost_by_engine', text);
  }
}

function isLost({ part }: Waiting, work: Work, endNs: number): boolean {
  if (part.replacedBy !== null && isOneCircuit(part.attempt.kind)) return true;
  return work.busy === 0 && endNs - Math.max(part.queuedNs ?? 0, work.lastDownNs) > LONG_IDLE_NS;
}

function seconds(ns: number): string {
  return (ns / 1e9).toFixed(3);
}
