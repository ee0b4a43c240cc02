/** Events back into NDJSON lines: for exports, `read_events` and tests. */
import { EVENTS, MARKS, type JournalLine } from '../../contract/timeline-events.ts';

/** The line without its `\n`; fields in the order of the specification, so that equal events give equal lines. */
export function encodeLine(line: JournalLine, before: Record<string, unknown> = {}): string {
  const table: Record<string, Record<string, string>> = line.e in EVENTS ? EVENTS : MARKS;
  const values = line as unknown as Record<string, unknown>;
  const ordered: Record<string, unknown> = { ...before };
  if ('seq' in values) ordered.seq = values.seq;
  ordered.t = values.t;
  ordered.e = values.e;
  for (const field of Object.keys(table[line.e] ?? {})) ordered[field] = values[field];
  return JSON.stringify(ordered);
}
