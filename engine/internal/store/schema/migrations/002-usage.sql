-- What model calls took, one row for each that reached a model. day is the day
-- in the owner's time zone. Tokens are -1 when the provider did not say; then
-- the estimates, which are 0 otherwise, stand in. cost is in billionths of a
-- dollar, -1 when the model has no prices. turn may be gone.
CREATE TABLE usage (
  id               INTEGER PRIMARY KEY,
  day              TEXT    NOT NULL,
  turn             INTEGER NOT NULL,
  entry            TEXT    NOT NULL,
  provider         TEXT    NOT NULL,
  model            TEXT    NOT NULL,
  input_tokens     INTEGER NOT NULL,
  output_tokens    INTEGER NOT NULL,
  cached_tokens    INTEGER NOT NULL,
  estimated_input  INTEGER NOT NULL,
  estimated_output INTEGER NOT NULL,
  cost             INTEGER NOT NULL,
  error            TEXT    NOT NULL,
  at               INTEGER NOT NULL
) STRICT;
CREATE INDEX usage_by_day ON usage (day);
CREATE INDEX usage_by_at ON usage (at);
