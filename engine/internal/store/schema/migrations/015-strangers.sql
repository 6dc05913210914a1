-- strangers are the chats that wrote and are not allowed: what they are called, how often
-- they wrote, when the owners were asked (asked_at), and what they decided (state: '',
-- 'allowed' or 'ignored'). Nothing that they said is here.
CREATE TABLE strangers (
	channel  TEXT NOT NULL,
	chat     INTEGER NOT NULL,
	name     TEXT NOT NULL,
	times    INTEGER NOT NULL,
	first_at INTEGER NOT NULL,
	last_at  INTEGER NOT NULL,
	asked_at INTEGER NOT NULL DEFAULT 0,
	state    TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (channel, chat)
) STRICT, WITHOUT ROWID;
