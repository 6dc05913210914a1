-- What stands in the index of other places than rows of its own: kind file, a
-- file of the workspace by its path and hash; kind doc, the manual by the hash of
-- its pages; kind message, the last message of those that are all in the index.
CREATE TABLE indexed (
  kind   TEXT NOT NULL,
  source TEXT NOT NULL,
  state  TEXT NOT NULL,
  PRIMARY KEY (kind, source)
) STRICT;

-- What was saved and forgotten, so that it can be undone. saved is the memory
-- that was stored, 0 for none; before is the one that went, as JSON, empty for
-- none. undone is 1 when it was taken back.
CREATE TABLE memory_changes (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  at     INTEGER NOT NULL,
  saved  INTEGER NOT NULL,
  before TEXT    NOT NULL,
  undone INTEGER NOT NULL
) STRICT;
