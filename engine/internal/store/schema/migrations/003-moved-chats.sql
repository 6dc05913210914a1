-- A group that becomes a supergroup has a new id. moved_to is that id, 0 for a
-- chat that is where it was; what is still addressed to the old one follows.
ALTER TABLE chats ADD COLUMN moved_to INTEGER NOT NULL DEFAULT 0;
