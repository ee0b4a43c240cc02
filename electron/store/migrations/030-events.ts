/** The timeline. What the columns of an event hold is said in event-rows.ts. */
export const sql = `
-- Words that come again and again: event names, devices, kernels.
CREATE TABLE word (
  id INTEGER PRIMARY KEY,
  word TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE event (
  process INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  t INTEGER NOT NULL,
  e INTEGER NOT NULL,
  subject INTEGER,
  partition INTEGER,
  device INTEGER,
  worker INTEGER,
  a INTEGER,
  b INTEGER,
  detail TEXT,
  PRIMARY KEY (process, seq)
) STRICT, WITHOUT ROWID;
`;
