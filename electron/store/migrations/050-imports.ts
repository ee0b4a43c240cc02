/** Runs that were not made here, and the stretches in which the host kept proofs back. */
export const sql = `
-- found: settings of another engine as its log has them. imported_from: the name of the file, null for a run of this host.
-- origin_run: the run's id where it was made.
ALTER TABLE run ADD COLUMN found TEXT NOT NULL DEFAULT '{}';
ALTER TABLE run ADD COLUMN imported_from TEXT;
ALTER TABLE run ADD COLUMN origin_run TEXT;

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
`;
