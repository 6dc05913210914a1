-- voice says whether a chat gets a spoken answer beside the text when it speaks.
ALTER TABLE chats ADD COLUMN voice INTEGER NOT NULL DEFAULT 0;
