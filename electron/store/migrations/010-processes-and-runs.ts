/** Runs, the processes that served them, and the journals that these wrote. */
export const sql = `
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run TEXT NOT NULL UNIQUE,
  uid TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'failed', 'interrupted')),
  ended_by TEXT,
  at_last_event INTEGER NOT NULL DEFAULT 0,
  engine TEXT NOT NULL,
  backend TEXT NOT NULL,
  emulate TEXT,
  scheduler TEXT NOT NULL,
  created_wall_ms INTEGER NOT NULL,
  closed_wall_ms INTEGER,
  summary TEXT
) STRICT;

CREATE TABLE process (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  process TEXT NOT NULL UNIQUE,
  pid INTEGER NOT NULL,
  start_ticks TEXT NOT NULL,
  folder TEXT NOT NULL,
  backend TEXT NOT NULL,
  run TEXT,
  started_wall_ms INTEGER NOT NULL,
  ended_wall_ms INTEGER,
  ended TEXT,
  exit INTEGER,
  signal TEXT
) STRICT;

-- Which stretch of a process's events belongs to a run: seq_from to seq_to, both inclusive; seq_to is null while it lasts.
CREATE TABLE run_process (
  run TEXT NOT NULL REFERENCES run (run),
  process INTEGER NOT NULL REFERENCES process (id),
  started_seq INTEGER NOT NULL,
  started_t INTEGER NOT NULL,
  seq_from INTEGER NOT NULL,
  seq_to INTEGER,
  ended_t INTEGER,
  reason TEXT,
  PRIMARY KEY (run, process)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
  process INTEGER PRIMARY KEY REFERENCES process (id),
  path TEXT NOT NULL,
  committed_bytes INTEGER NOT NULL DEFAULT 0,
  last_seq INTEGER NOT NULL DEFAULT -1,
  events INTEGER NOT NULL DEFAULT 0,
  unparsed INTEGER NOT NULL DEFAULT 0,
  horizon INTEGER,
  last_state TEXT,
  peak_rss_bytes INTEGER,
  finished INTEGER NOT NULL DEFAULT 0,
  deleted INTEGER NOT NULL DEFAULT 0
) STRICT;
`;
