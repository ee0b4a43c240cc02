/** What went wrong or was done about it: facts beside the timeline. */
export const sql = `
-- A line of a journal that is no event of ours, or an event that came twice with two meanings.
CREATE TABLE problem (
  process INTEGER NOT NULL REFERENCES process (id),
  offset INTEGER NOT NULL,
  kind TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  problem TEXT NOT NULL,
  PRIMARY KEY (process, offset, kind)
) STRICT, WITHOUT ROWID;

-- Events that are missing. kind 'ring': the prover said so (event seq_from is its 'lost'); 'hole': numbers seq_from to seq_to never came.
-- Unknown reaches from t_from to healed_t, the next snapshot; filled: how many came late after all.
CREATE TABLE loss (
  process INTEGER NOT NULL REFERENCES process (id),
  kind TEXT NOT NULL CHECK (kind IN ('ring', 'hole')),
  seq_from INTEGER NOT NULL,
  seq_to INTEGER NOT NULL,
  ring TEXT,
  count INTEGER NOT NULL,
  filled INTEGER NOT NULL DEFAULT 0,
  t_from INTEGER NOT NULL,
  t_to INTEGER NOT NULL,
  healed_t INTEGER,
  healed_state TEXT,
  PRIMARY KEY (process, kind, seq_from)
) STRICT, WITHOUT ROWID;

CREATE TABLE step (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  process TEXT,
  wall_ms INTEGER NOT NULL,
  step TEXT NOT NULL,
  detail TEXT
) STRICT;

CREATE TABLE notice (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  wall_ms INTEGER NOT NULL,
  severity TEXT NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL
) STRICT;
`;
