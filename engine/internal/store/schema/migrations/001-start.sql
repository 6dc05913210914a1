-- The first schema. Times are Unix milliseconds in UTC, 0 for none. An address
-- is (channel, chat, thread). Rows that wait have partial indexes of their own,
-- so that finding work costs the same however much is kept.

PRAGMA application_id = 1802264951; -- "klaw"

CREATE TABLE migrations (
  name       TEXT PRIMARY KEY,
  applied_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- instance: the id that the file "instance" beside the database repeats.
-- clean: 1 after an orderly stop, 0 while a bot runs.
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE chats (
  id         INTEGER PRIMARY KEY,
  channel    TEXT    NOT NULL,
  chat       INTEGER NOT NULL,
  name       TEXT    NOT NULL,
  seen_at    INTEGER NOT NULL,
  dead_since INTEGER NOT NULL DEFAULT 0,
  note       TEXT    NOT NULL DEFAULT '',
  UNIQUE (channel, chat)
) STRICT;

CREATE TABLE sessions (
  id         INTEGER PRIMARY KEY,
  channel    TEXT    NOT NULL,
  chat       INTEGER NOT NULL,
  thread     INTEGER NOT NULL,
  model      TEXT    NOT NULL,
  started_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_by_address ON sessions (channel, chat, thread, started_at, id);

-- The keys of the outbox contain turn ids, so an id is never given twice.
CREATE TABLE turns (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  session        INTEGER NOT NULL REFERENCES sessions (id),
  channel        TEXT    NOT NULL,
  chat           INTEGER NOT NULL,
  thread         INTEGER NOT NULL,
  origin         TEXT    NOT NULL,
  state          TEXT    NOT NULL,
  placeholder    TEXT    NOT NULL,
  placeholder_id INTEGER NOT NULL,
  reply_to       INTEGER NOT NULL,
  model          TEXT    NOT NULL,
  input_tokens   INTEGER NOT NULL,
  output_tokens  INTEGER NOT NULL,
  note           TEXT    NOT NULL,
  started_at     INTEGER NOT NULL,
  ended_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX turns_running ON turns (id) WHERE state = 'running';

-- answers and calls are the journal of the turns that run.
CREATE TABLE answers (
  id            INTEGER PRIMARY KEY,
  turn          INTEGER NOT NULL REFERENCES turns (id),
  round         INTEGER NOT NULL,
  body          TEXT    NOT NULL,
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  at            INTEGER NOT NULL,
  UNIQUE (turn, round)
) STRICT;

CREATE TABLE calls (
  id          INTEGER PRIMARY KEY,
  call        TEXT    NOT NULL UNIQUE,
  turn        INTEGER NOT NULL REFERENCES turns (id),
  name        TEXT    NOT NULL,
  result      BLOB,
  started_at  INTEGER NOT NULL,
  finished_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX calls_by_turn ON calls (turn);

-- The keys of the outbox contain inbox ids too.
CREATE TABLE inbox (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  channel     TEXT    NOT NULL,
  bot         INTEGER NOT NULL,
  update_id   INTEGER NOT NULL,
  kind        TEXT    NOT NULL,
  chat        INTEGER NOT NULL,
  thread      INTEGER NOT NULL,
  message     INTEGER NOT NULL,
  sender      INTEGER NOT NULL,
  is_group    INTEGER NOT NULL,
  from_bot    INTEGER NOT NULL,
  anonymous   INTEGER NOT NULL,
  raw         BLOB    NOT NULL,
  state       TEXT    NOT NULL,
  turn        INTEGER REFERENCES turns (id),
  note        TEXT    NOT NULL,
  received_at INTEGER NOT NULL,
  UNIQUE (channel, bot, update_id)
) STRICT;
CREATE INDEX inbox_new     ON inbox (id) WHERE state = 'new';
CREATE INDEX inbox_running ON inbox (id) WHERE state = 'running';
CREATE INDEX inbox_by_turn ON inbox (turn, id) WHERE turn IS NOT NULL;
CREATE INDEX inbox_ended   ON inbox (received_at) WHERE state IN ('done', 'dead');

CREATE TABLE outbox (
  id         INTEGER PRIMARY KEY,
  key        TEXT    NOT NULL UNIQUE,
  turn       INTEGER REFERENCES turns (id),
  channel    TEXT    NOT NULL,
  chat       INTEGER NOT NULL,
  thread     INTEGER NOT NULL,
  body       BLOB    NOT NULL,
  edit       INTEGER NOT NULL,
  state      TEXT    NOT NULL,
  attempts   INTEGER NOT NULL,
  resent     INTEGER NOT NULL,
  message_id INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  note       TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  sent_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX outbox_waiting ON outbox (id) WHERE state IN ('new', 'sending');
CREATE INDEX outbox_waiting_by_address ON outbox (channel, chat, thread, id) WHERE state IN ('new', 'sending');
CREATE INDEX outbox_ended ON outbox (created_at) WHERE state IN ('sent', 'unknown', 'dead');

CREATE TABLE messages (
  id            INTEGER PRIMARY KEY,
  uid           TEXT    NOT NULL UNIQUE,
  session       INTEGER NOT NULL REFERENCES sessions (id),
  turn          INTEGER REFERENCES turns (id),
  body          TEXT    NOT NULL,
  sender        INTEGER NOT NULL,
  sender_name   TEXT    NOT NULL,
  type          TEXT    NOT NULL,
  model         TEXT    NOT NULL,
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  at            INTEGER NOT NULL,
  logged        INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX messages_by_session ON messages (session, type, id);
CREATE INDEX messages_unlogged ON messages (id) WHERE logged = 0;
