-- What people were asked about calls of tools, and what came of it: the record
-- of who allowed what. token is what a button carries. hash is of the exact
-- call, shown what the person read. sender is who caused the call, answered_by
-- who decided, 0 for nobody. grant_id is the grant that allowed it, 0 for none.
-- turn may be gone.
CREATE TABLE approvals (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  token       TEXT    NOT NULL UNIQUE,
  turn        INTEGER NOT NULL,
  call        TEXT    NOT NULL UNIQUE,
  channel     TEXT    NOT NULL,
  chat        INTEGER NOT NULL,
  thread      INTEGER NOT NULL,
  sender      INTEGER NOT NULL,
  tool        TEXT    NOT NULL,
  hash        TEXT    NOT NULL,
  shown       TEXT    NOT NULL,
  state       TEXT    NOT NULL,
  grant_id    INTEGER NOT NULL,
  answered_by INTEGER NOT NULL,
  asked_at    INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  answered_at INTEGER NOT NULL
) STRICT;
CREATE INDEX approvals_by_time ON approvals (asked_at);
CREATE INDEX approvals_pending ON approvals (channel, chat, thread, id) WHERE state = 'pending';

-- Exact calls that somebody allowed for a while, each for one person in one chat.
CREATE TABLE grants (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  channel    TEXT    NOT NULL,
  chat       INTEGER NOT NULL,
  sender     INTEGER NOT NULL,
  tool       TEXT    NOT NULL,
  hash       TEXT    NOT NULL,
  shown      TEXT    NOT NULL,
  added_by   INTEGER NOT NULL,
  added_at   INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  last_used  INTEGER NOT NULL
) STRICT;
CREATE INDEX grants_by_call ON grants (hash);
