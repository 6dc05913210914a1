-- What the web page shows of its chat. id is the message's id in the channel. key is that of
-- the row of the outbox, or what the browser gave the message: a second one with the same
-- key is the same message. dir is 'in' for what a person wrote. buttons and file are JSON, ''
-- for none. state is '' or 'gone' for a message that was deleted. rev grows with each
-- change of a row, so that a browser can ask for what it has not seen.
CREATE TABLE web_messages (
  id       INTEGER PRIMARY KEY,
  key      TEXT    NOT NULL UNIQUE,
  dir      TEXT    NOT NULL,
  text     TEXT    NOT NULL,
  reply_to INTEGER NOT NULL,
  buttons  TEXT    NOT NULL,
  file     TEXT    NOT NULL,
  state    TEXT    NOT NULL,
  rev      INTEGER NOT NULL,
  at       INTEGER NOT NULL
) STRICT;
CREATE INDEX web_messages_by_rev ON web_messages (rev);

-- The browsers that are signed in: hash is the SHA-256 of the cookie, in hex.
CREATE TABLE web_browsers (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  hash     TEXT    NOT NULL UNIQUE,
  agent    TEXT    NOT NULL,
  language TEXT    NOT NULL,
  at       INTEGER NOT NULL,
  seen_at  INTEGER NOT NULL
) STRICT;
