-- Values that tasks keep by name.

CREATE TABLE artifacts (
    owner    TEXT NOT NULL,              -- run:… or program:…
    name     TEXT NOT NULL,
    version  INTEGER NOT NULL,
    run      INTEGER NOT NULL,           -- the one that kept it
    key      TEXT NOT NULL,              -- the visit of the task that did
    attempt  INTEGER NOT NULL,
    checksum TEXT NOT NULL,              -- SHA-256 of data, in hexadecimal
    data     BLOB NOT NULL,              -- JSON
    UNIQUE (owner, name, version)
) STRICT;

CREATE UNIQUE INDEX artifacts_key ON artifacts (owner, name, key);
CREATE INDEX artifacts_run ON artifacts (run);

-- They go with their run, but the newest version of a program's name stays.
CREATE TRIGGER artifacts_of_run AFTER DELETE ON runs
BEGIN
    DELETE FROM artifacts
    WHERE run = OLD.run AND (
        owner = 'run:' || OLD.run OR EXISTS (
            SELECT 1 FROM artifacts AS newer
            WHERE newer.owner = artifacts.owner AND newer.name = artifacts.name
                AND newer.version > artifacts.version
        )
    );
END;
