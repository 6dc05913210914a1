-- Whether the row is a question of a program in the middle of a call, which asks
-- for an answer and not for a permission. Such a row is of no use after a restart.
ALTER TABLE approvals ADD COLUMN question INTEGER NOT NULL DEFAULT 0;
