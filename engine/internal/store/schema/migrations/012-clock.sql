-- settled is 0, or the time up to which a job had been looked after when the clock
-- was set back: what it missed before then was known already.
ALTER TABLE jobs ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;
