/** A migration that takes long, for a test that kills it: `node slow-migration.ts DATABASE`. Says `begun` once the first step is there. */
import { writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { migrate, MIGRATIONS } from '../../electron/store/migrations/index.ts';

const db = new Database(process.argv[2]);
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
migrate(db, 10);
writeSync(1, 'begun\n');
const fill = `WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3000000) INSERT INTO half SELECT x, hex(x) FROM n`;
migrate(db, 20, [...MIGRATIONS.slice(0, 1), { version: 20, name: 'slow', sql: `CREATE TABLE half (a, b); ${fill}` }]);
