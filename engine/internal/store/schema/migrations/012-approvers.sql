-- home_* is the chat that a call comes from; it differs from the chat of the
-- question when an owner is asked in private. owners says that only owners may
-- decide, once that the answer holds for this call alone.
ALTER TABLE approvals ADD COLUMN home_channel TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN home_chat INTEGER NOT NULL DEFAULT 0;
ALTER TABLE approvals ADD COLUMN home_thread INTEGER NOT NULL DEFAULT 0;
ALTER TABLE approvals ADD COLUMN owners INTEGER NOT NULL DEFAULT 0;
ALTER TABLE approvals ADD COLUMN once INTEGER NOT NULL DEFAULT 0;
UPDATE approvals SET home_channel = channel, home_chat = chat, home_thread = thread;
