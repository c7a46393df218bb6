-- Who works on this file, as each process last said; and the questions that wait for people.

CREATE TABLE workers (
    worker     TEXT PRIMARY KEY,
    host       TEXT NOT NULL,
    process    INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    pools      TEXT NOT NULL,            -- JSON; an empty list is all of them
    slots      INTEGER NOT NULL,
    busy       INTEGER NOT NULL,
    leases     INTEGER NOT NULL,
    version    TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX jobs_asking ON jobs (due_at, run) WHERE reason = 'person';
-- With jobs_due, so that the jobs of each pool are counted in the order of an index.
CREATE INDEX jobs_aside ON jobs (pool, due_at) WHERE is_leased = 0 AND due_at IS NULL;
