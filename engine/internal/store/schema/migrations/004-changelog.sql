-- What tools changed in the workspace, written before each change. turn is 0
-- and chat is empty at the command line. before and after are hashes of the
-- file, '' for no file; undoes is a JSON list of ids. kept says that images has
-- what the file held before.

CREATE TABLE changes (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  call   TEXT    NOT NULL,
  turn   INTEGER NOT NULL,
  chat   TEXT    NOT NULL,
  tool   TEXT    NOT NULL,
  path   TEXT    NOT NULL,
  before TEXT    NOT NULL,
  after  TEXT    NOT NULL,
  size   INTEGER NOT NULL,
  mode   INTEGER NOT NULL,
  kept   INTEGER NOT NULL,
  undoes TEXT    NOT NULL,
  at     INTEGER NOT NULL
) STRICT;
CREATE INDEX changes_by_at ON changes (at);

-- The images have a table of their own, so that the list stays small.
CREATE TABLE images (
  change INTEGER PRIMARY KEY REFERENCES changes (id) ON DELETE CASCADE,
  body   BLOB    NOT NULL
) STRICT;
