-- The tools of MCP servers that the owner has accepted, as they were then: name
-- is what models know a tool by, tool the server's name for it, hash is of tool,
-- description and schema. accepted_by is who, 0 for the owner at the command
-- line.
CREATE TABLE mcp_tools (
  id          INTEGER PRIMARY KEY,
  server      TEXT    NOT NULL,
  tool        TEXT    NOT NULL,
  name        TEXT    NOT NULL UNIQUE,
  description TEXT    NOT NULL,
  schema      TEXT    NOT NULL,
  hash        TEXT    NOT NULL,
  accepted_by INTEGER NOT NULL,
  accepted_at INTEGER NOT NULL,
  UNIQUE (server, tool)
) STRICT;

-- What lets us in at MCP servers where somebody has signed in, as JSON.
CREATE TABLE mcp_tokens (
  server TEXT PRIMARY KEY,
  token  TEXT NOT NULL
) STRICT;
