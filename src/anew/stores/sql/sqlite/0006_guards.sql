-- The states of guards, by the dependency that they are of.

CREATE TABLE guards (
    scope TEXT NOT NULL PRIMARY KEY,
    token TEXT NOT NULL,                 -- the next change has to name it
    state TEXT NOT NULL                  -- JSON
) STRICT;
