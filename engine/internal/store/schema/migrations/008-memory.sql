-- What is remembered. channel is '' for what every chat may know. key is '' for
-- what has no name; a new text under the same key replaces the old one.
-- provenance says who had it stored: person, model, tool, import or file. turn
-- is the turn that stored it, 0 for none.
CREATE TABLE memories (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  channel    TEXT    NOT NULL,
  chat       INTEGER NOT NULL,
  key        TEXT    NOT NULL,
  category   TEXT    NOT NULL,
  source     TEXT    NOT NULL,
  provenance TEXT    NOT NULL,
  turn       INTEGER NOT NULL,
  content    TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX memories_by_key ON memories (channel, chat, key) WHERE key <> '';

-- What can be found: pieces of memories, messages, pages of the manual and files
-- of the workspace. owner is the row that a chunk is a piece of (memories.id,
-- messages.id; 0 for pages and files). Chunks with the same place (kind, channel,
-- chat, source) that were added within the hour are neighbours, in the order of
-- their ids.
CREATE TABLE chunks (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  kind       TEXT    NOT NULL,
  owner      INTEGER NOT NULL,
  channel    TEXT    NOT NULL,
  chat       INTEGER NOT NULL,
  source     TEXT    NOT NULL,
  content    TEXT    NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX chunks_by_place ON chunks (kind, channel, chat, source, id);
CREATE INDEX chunks_by_owner ON chunks (kind, owner);

-- The words of a chunk and its neighbours, as their stems.
CREATE VIRTUAL TABLE chunks_fts USING fts5(
  terms, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 0'
);

-- The sets of vectors: one is in use, a second one may be on its way when the
-- model changed. A set has a vec0 table vec_KIND_ID for each kind of chunk, which
-- is made with it, because its width depends on the model.
CREATE TABLE vector_sets (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  model      TEXT    NOT NULL,
  dimensions INTEGER NOT NULL,
  state      TEXT    NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- Which chunks have a vector in a set, and the signs of its numbers, a bit each.
-- The ids grow, so that a reader can ask for what is new.
CREATE TABLE vector_bits (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  vectors INTEGER NOT NULL REFERENCES vector_sets (id) ON DELETE CASCADE,
  kind    TEXT    NOT NULL,
  chunk   INTEGER NOT NULL,
  bits    BLOB    NOT NULL,
  UNIQUE (vectors, kind, chunk)
) STRICT;
CREATE INDEX vector_bits_by_kind ON vector_bits (vectors, kind, id);
