/**
 * The schema, step by step. A step's number is the `user_version` it leads to; steps are never changed once released, only added.
 * Each runs in one transaction with its number, so a kill in the middle leaves the old schema whole.
 */
import type { Database } from 'better-sqlite3';
import { sql as processesAndRuns } from './010-processes-and-runs.ts';
import { sql as queue } from './020-queue.ts';
import { sql as events } from './030-events.ts';
import { sql as facts } from './040-facts.ts';
import { sql as imports } from './050-imports.ts';
import { sql as experiments } from './060-experiments.ts';

export interface Migration {
  version: number;
  name: string;
  sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 10, name: 'processes and runs', sql: processesAndRuns },
  { version: 20, name: 'queue', sql: queue },
  { version: 30, name: 'events', sql: events },
  { version: 40, name: 'facts', sql: facts },
  { version: 50, name: 'imports and holds', sql: imports },
  { version: 60, name: 'experiments', sql: experiments },
];

export const SCHEMA_VERSION = MIGRATIONS.at(-1)?.version ?? 0;

/** Brings the schema up to `upTo`; does nothing where it is there already. */
export function migrate(db: Database, upTo = SCHEMA_VERSION, migrations = MIGRATIONS): void {
  const current = readVersion(db);
  for (const step of migrations) {
    if (step.version <= current || step.version > upTo) continue;
    db.exec('BEGIN IMMEDIATE');
    try {
      db.exec(step.sql);
      db.pragma(`user_version = ${step.version}`);
      db.exec('COMMIT');
    } catch (error) {
      if (db.inTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }
}

export function readVersion(db: Database): number {
  return db.pragma('user_version', { simple: true }) as number;
}
