/** Experiments: two schedulers in turns, block by block. */
export const sql = `
-- a, b: resolved schedulers. before: the set-up to go back to at the end.
CREATE TABLE experiment (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  experiment TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('running', 'done', 'stopped', 'failed')),
  a TEXT NOT NULL,
  b TEXT NOT NULL,
  before TEXT NOT NULL,
  rounds INTEGER NOT NULL,
  proofs_per_block INTEGER NOT NULL,
  warm_up_proofs INTEGER NOT NULL,
  message TEXT,
  started_wall_ms INTEGER NOT NULL,
  ended_wall_ms INTEGER
) STRICT;

-- In the order in which they ran. Its proofs are those with an id (of table proof) from first_proof to last_proof; proofs counts those in
-- s_per_proof, both are empty until the block has ended.
CREATE TABLE experiment_block (
  experiment INTEGER NOT NULL REFERENCES experiment (id),
  position INTEGER NOT NULL,
  round INTEGER NOT NULL,
  side TEXT NOT NULL CHECK (side IN ('a', 'b')),
  warm_up INTEGER NOT NULL,
  first_proof INTEGER NOT NULL,
  last_proof INTEGER NOT NULL,
  run TEXT,
  s_per_proof REAL,
  proofs INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (experiment, position)
) STRICT, WITHOUT ROWID;
`;
