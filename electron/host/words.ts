/** Sentences about what happened to proofs and runs, for notices. */
import type { ClosedProcess } from './process-closing.ts';

/** "p5, p6 and p7" */
export function listOf(items: string[], most = 6): string {
  const shown = items.length > most ? [...items.slice(0, most), `${items.length - most} more`] : items;
  if (shown.length <= 1) return shown.join('');
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

/** `what` happened; then what became of runs and proofs. */
export function tellClosed(what: string, closed: ClosedProcess): string {
  const parts = [what];
  const interrupted = closed.runs.filter((run) => run.state === 'interrupted').map((run) => run.run);
  if (interrupted.length > 0) {
    const [first] = closed.progress;
    const far = first ? ` after ${first.valid} of ${first.partitions} partitions of ${first.proof}` : '';
    parts.push(`run ${listOf(interrupted)} was interrupted${far}`);
  }
  const again = closed.again.map((entry) => entry.proof);
  if (again.length > 0) parts.push(`${listOf(again)} ${again.length === 1 ? 'goes' : 'go'} again`);
  if (closed.failed.length > 0) parts.push(`${listOf(closed.failed)} failed for good, because the prover was lost with it twice`);
  if (closed.finished.length > 0) parts.push(`${listOf(closed.finished)} had been finished and was kept`);
  return `${parts.join('; ')}.`;
}

/** `14:03:22`, local time: a label. */
export function clockTime(wallMs: number): string {
  return new Date(wallMs).toTimeString().slice(0, 8);
}
