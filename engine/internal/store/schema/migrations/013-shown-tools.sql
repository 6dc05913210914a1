-- shown holds the tools that a conversation shows its model beside the usual ones, as
-- JSON: see ShownTools.
ALTER TABLE sessions ADD COLUMN shown TEXT NOT NULL DEFAULT '';
