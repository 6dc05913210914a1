-- The files of the messages of the turns that run, as a journal: new, fetched (the file
-- is kept under sum), done (outcome says what was read, or why nothing was). attempts
-- counts the readings that began.
CREATE TABLE attachments (
  turn     INTEGER NOT NULL REFERENCES turns (id),
  inbox    INTEGER NOT NULL,
  position INTEGER NOT NULL,
  state    TEXT    NOT NULL,
  attempts INTEGER NOT NULL,
  sum      TEXT    NOT NULL,
  outcome  TEXT    NOT NULL,
  PRIMARY KEY (turn, inbox, position)
) STRICT, WITHOUT ROWID;

-- The files that are kept, by SHA-256. copies are the paths of their copies in the
-- workspace, as a JSON list.
CREATE TABLE media (
  sum     TEXT    PRIMARY KEY,
  mime    TEXT    NOT NULL,
  bytes   INTEGER NOT NULL,
  copies  TEXT    NOT NULL,
  used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX media_by_use ON media (used_at);
