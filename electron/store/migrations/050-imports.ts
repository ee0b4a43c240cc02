/** Runs that were not made here, and the stretches in which the host kept proofs back. */
export const sql = `
-- found: settings of another engine as its log has them. imported_from: the name of the file, null for a run of this host.
-- origin_run: the run's id where it was made. importing: the import that is bringing it in now; a start-up finds those that were cut off.
ALTER TABLE run ADD COLUMN found TEXT NOT NULL DEFAULT '{}';
ALTER TABLE run ADD COLUMN imported_from TEXT;
ALTER TABLE run ADD COLUMN origin_run TEXT;
ALTER TABLE run ADD COLUMN importing TEXT;

-- Order of a run's processes where their rows do not tell it: runs that share processes may be imported in any order.
ALTER TABLE run_process ADD COLUMN place INTEGER NOT NULL DEFAULT 0;

-- What the host of an imported run knew of its proofs. Their ids are that host's, so they are no rows of proof_attempt. file: a name.
CREATE TABLE imported_attempt (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run TEXT NOT NULL REFERENCES run (run),
  proof TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  outcome TEXT,
  sha256 TEXT,
  file TEXT,
  code TEXT,
  message TEXT,
  UNIQUE (run, proof, attempt)
) STRICT;

-- A pause, a drain or a switch kept at least one proof in the host. Stamps are the machine's CLOCK_MONOTONIC, decimal ns, of that boot;
-- to_ns is null while it lasts. Of an imported run (run is set, boot_id is not) they are ns since the run's start.
CREATE TABLE hold (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run TEXT REFERENCES run (run),
  boot_id TEXT,
  from_ns TEXT NOT NULL,
  to_ns TEXT,
  reason TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX hold_of_run ON hold (run, from_ns) WHERE run IS NOT NULL;
`;
