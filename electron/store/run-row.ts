/** A run as its own row has it. */
import type { RunFacts } from '../analysis/run-report.ts';
import type { RunState } from '../contract/run-report.ts';
import type { Backend, Scheduler } from '../contract/scheduler.ts';
import type { Db } from './open.ts';

/** A row of the table of runs. */
export interface RunRow {
  id: number;
  run: string;
  uid: string;
  state: RunState;
  ended_by: string | null;
  engine: string;
  backend: Backend;
  emulate: string | null;
  scheduler: string;
  found: string;
  imported_from: string | null;
  origin_run: string | null;
  created_wall_ms: number;
  summary: string | null;
}

/** `run` is there. */
export function readRunRow(db: Db, run: string): RunRow {
  return db.prepare('SELECT * FROM run WHERE run = ?').get(run) as RunRow;
}

export function factsOfRow(row: RunRow): Omit<RunFacts, 'lost' | 'unparsed' | 'peakRssBytes' | 'processes'> {
  return {
    run: row.run,
    uid: row.uid,
    state: row.state,
    endedBy: row.ended_by,
    engine: row.engine,
    backend: row.backend,
    emulate: row.emulate,
    scheduler: JSON.parse(row.scheduler) as Scheduler | null,
    found: JSON.parse(row.found) as Record<string, string>,
    importedFrom: row.imported_from,
  };
}
