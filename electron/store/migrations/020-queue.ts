/** The queue of proofs and every attempt at one. */
export const sql = `
CREATE TABLE proof (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  proof TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'withdrawn', 'valid', 'invalid', 'failed', 'interrupted')),
  returned INTEGER NOT NULL DEFAULT 0,
  priority INTEGER NOT NULL CHECK (priority BETWEEN 1 AND 4),
  position INTEGER NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 1,
  withdraw_asked INTEGER NOT NULL DEFAULT 0,
  circuit TEXT NOT NULL,
  partitions INTEGER NOT NULL,
  seed TEXT NOT NULL,
  submitted_wall_ns TEXT NOT NULL,
  deadline_wall_ns TEXT,
  run TEXT,
  process TEXT,
  code TEXT,
  message TEXT,
  sha256 TEXT,
  path TEXT,
  created_wall_ms INTEGER NOT NULL,
  ended_wall_ms INTEGER
) STRICT;
CREATE INDEX proof_waiting ON proof (returned DESC, priority DESC, position) WHERE state = 'waiting';
CREATE INDEX proof_running ON proof (id) WHERE state = 'running';

-- Events name one by its id. A journal may name proofs that this queue never had.
CREATE TABLE proof_attempt (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  proof TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  run TEXT,
  process TEXT,
  submitted_wall_ms INTEGER,
  ended_wall_ms INTEGER,
  outcome TEXT,
  late INTEGER NOT NULL DEFAULT 0,
  sha256 TEXT,
  path TEXT,
  code TEXT,
  message TEXT,
  UNIQUE (proof, attempt)
) STRICT;
`;
