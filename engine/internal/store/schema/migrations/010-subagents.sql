-- Subagents are found by what they are and by the turn that spawned them.
CREATE INDEX jobs_spawned ON jobs (id) WHERE kind = 'spawn';
CREATE INDEX jobs_by_parent ON jobs (parent) WHERE parent <> 0;
