-- What stands for the oldest messages of a session: each summary holds the one
-- before it, too. first and through are messages.id; outside is 1 when it sums
-- up text that a tool brought from outside.
CREATE TABLE summaries (
  id         INTEGER PRIMARY KEY,
  session    INTEGER NOT NULL REFERENCES sessions (id),
  first      INTEGER NOT NULL,
  through    INTEGER NOT NULL,
  text       TEXT    NOT NULL,
  outside    INTEGER NOT NULL,
  model      TEXT    NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX summaries_by_session ON summaries (session, through);
