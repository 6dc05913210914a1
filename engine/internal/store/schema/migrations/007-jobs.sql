-- What runs by itself. kind is schedule, reminder or spawn. A job has a cron or
-- the one time at. home is the chat and the person that it belongs to, target
-- the chat that gets what it says, '' for none. next_run is when it is due, 0 for
-- never again. failures counts the failed runs since the last good one.
CREATE TABLE jobs (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  kind           TEXT    NOT NULL,
  name           TEXT    NOT NULL,
  cron           TEXT    NOT NULL,
  at             INTEGER NOT NULL,
  zone           TEXT    NOT NULL,
  misfire        TEXT    NOT NULL,
  model          TEXT    NOT NULL,
  message        TEXT    NOT NULL,
  home_channel   TEXT    NOT NULL,
  home_chat      INTEGER NOT NULL,
  home_thread    INTEGER NOT NULL,
  creator        INTEGER NOT NULL,
  channel        TEXT    NOT NULL,
  chat           INTEGER NOT NULL,
  thread         INTEGER NOT NULL,
  policy         TEXT    NOT NULL,
  budget         INTEGER NOT NULL,
  origin         TEXT    NOT NULL,
  parent         INTEGER NOT NULL,
  state          TEXT    NOT NULL,
  note           TEXT    NOT NULL,
  failures       INTEGER NOT NULL,
  next_run       INTEGER NOT NULL,
  created_at     INTEGER NOT NULL,
  changed_at     INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX jobs_by_name ON jobs (name) WHERE kind <> 'spawn' AND state IN ('on', 'paused');
CREATE INDEX jobs_on ON jobs (id) WHERE state = 'on';
CREATE INDEX jobs_waiting ON jobs (id) WHERE state IN ('on', 'paused');
CREATE INDEX jobs_named ON jobs (name, id);
CREATE INDEX jobs_ended ON jobs (changed_at) WHERE state IN ('done', 'removed');

-- The runs of jobs, one for each time at which a job was due: a run is claimed
-- here before it starts, so that no time runs twice. Times that were missed have
-- rows too; missed says how many a row stands for. turn is the turn of the last
-- attempt, 0 for none.
CREATE TABLE runs (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  job           INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  scheduled_at  INTEGER NOT NULL,
  state         TEXT    NOT NULL,
  cause         TEXT    NOT NULL,
  attempts      INTEGER NOT NULL,
  missed        INTEGER NOT NULL,
  turn          INTEGER NOT NULL,
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost          INTEGER NOT NULL,
  delivered     TEXT    NOT NULL,
  result        TEXT    NOT NULL,
  note          TEXT    NOT NULL,
  retry_at      INTEGER NOT NULL,
  started_at    INTEGER NOT NULL,
  ended_at      INTEGER NOT NULL,
  UNIQUE (job, scheduled_at)
) STRICT;
CREATE INDEX runs_open ON runs (id) WHERE state IN ('claimed', 'running', 'retry');
CREATE INDEX runs_by_time ON runs (scheduled_at);
CREATE INDEX usage_by_turn ON usage (turn);
