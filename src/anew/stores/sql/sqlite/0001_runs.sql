-- Runs, their logs and their jobs; programs and credentials.
-- Moments are nanoseconds since 1970 in UTC.
--
-- A durable commit costs about as much as the pages it changes. The usual one, in which a step ends
-- and the next is taken by the same worker, changes one page of events and one of jobs. Therefore a
-- run's version is that of its newest event and not kept in its row, leased jobs lie together, and
-- events have one integer for a key: only to the end of such a table does SQLite append without
-- rewriting the pages beside it.

CREATE TABLE runs (
    run              INTEGER PRIMARY KEY,
    log              INTEGER NOT NULL UNIQUE, -- the id before that of its first event
    program          TEXT NOT NULL,
    digest           TEXT NOT NULL,
    status           TEXT NOT NULL,
    created_at       INTEGER NOT NULL,
    ended_at         INTEGER,
    error            TEXT,               -- JSON
    key              TEXT,               -- what makes a start idempotent
    labels           TEXT,               -- JSON
    parent_run       INTEGER,
    parent_step      TEXT,
    parent_visit     INTEGER,
    parent_iteration INTEGER,
    depth            INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX runs_key ON runs (key) WHERE key IS NOT NULL;
CREATE INDEX runs_status ON runs (status, run);
CREATE INDEX runs_created ON runs (created_at);
CREATE INDEX runs_program ON runs (program, run);
CREATE INDEX runs_parent ON runs (parent_run, run) WHERE parent_run IS NOT NULL;
CREATE INDEX runs_ended ON runs (ended_at, run) WHERE ended_at IS NOT NULL;

CREATE TABLE labels (
    name  TEXT NOT NULL,
    value TEXT NOT NULL,
    run   INTEGER NOT NULL,
    PRIMARY KEY (name, value, run)
) STRICT, WITHOUT ROWID;

CREATE INDEX labels_run ON labels (run);

CREATE TABLE events (
    id       INTEGER PRIMARY KEY,        -- log of its run + its sequence number, below 2^32
    at       INTEGER NOT NULL,
    name     TEXT NOT NULL,
    data     TEXT NOT NULL,              -- JSON
    replaced TEXT                        -- JSON: which values of data are kept in blobs
) STRICT;

-- The log as one would ask for it.
CREATE VIEW event_rows AS
SELECT
    run,
    id - log               AS seq,
    at,
    name,
    data ->> '$.step'      AS step,
    data ->> '$.visit'     AS visit,
    data ->> '$.iteration' AS iteration,
    data ->> '$.task'      AS task,
    data ->> '$.attempt'   AS attempt,
    data
FROM runs CROSS JOIN events ON id > log AND id < log + (1 << 32);

-- Runs as lists show them.
CREATE VIEW run_rows AS
SELECT
    runs.*,
    coalesce(
        (
            SELECT id - log FROM events
            WHERE id > log AND id < log + (1 << 32) ORDER BY id DESC LIMIT 1
        ),
        0
    ) AS version,
    coalesce(
        (SELECT at FROM events WHERE id > log AND id < log + (1 << 32) ORDER BY id DESC LIMIT 1),
        created_at
    ) AS updated_at
FROM runs;

CREATE TABLE blobs (
    run      INTEGER NOT NULL,
    checksum TEXT NOT NULL,              -- SHA-256 of data, in hexadecimal
    data     BLOB NOT NULL,              -- JSON
    UNIQUE (run, checksum)
) STRICT;

CREATE TABLE snapshots (
    run     INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    format  TEXT NOT NULL,               -- which shape of the state it has
    data    BLOB NOT NULL
) STRICT;

CREATE TABLE jobs (
    is_leased    INTEGER NOT NULL CHECK (is_leased = (leased_until IS NOT NULL)),
    run          INTEGER NOT NULL,
    step         TEXT NOT NULL,
    visit        INTEGER NOT NULL,
    iteration    INTEGER NOT NULL,       -- -1 outside loops
    pool         TEXT NOT NULL,
    due_at       INTEGER,                -- NULL: until it is woken
    reason       TEXT NOT NULL,
    attempt      INTEGER NOT NULL,
    token        INTEGER NOT NULL,       -- grows with each lease
    leased_until INTEGER,
    calls_again  INTEGER NOT NULL DEFAULT 0,
    is_woken     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (is_leased, run, step, visit, iteration)
) STRICT, WITHOUT ROWID;

-- In the order jobs are handed out, so that taking one never looks at those that wait.
CREATE INDEX jobs_due ON jobs (pool, due_at, run, step, visit, iteration)
    WHERE is_leased = 0 AND due_at IS NOT NULL;
CREATE INDEX jobs_due_of_run ON jobs (run, pool, due_at, step, visit, iteration)
    WHERE is_leased = 0 AND due_at IS NOT NULL;
CREATE INDEX jobs_retrying ON jobs (run) WHERE reason = 'retry';

-- Every document that was run or registered.
CREATE TABLE programs (
    digest  TEXT PRIMARY KEY,
    name    TEXT NOT NULL,
    source  TEXT NOT NULL,
    file    TEXT NOT NULL,
    kept_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Those that were registered; one document may be several versions of a name.
CREATE TABLE versions (
    name          TEXT NOT NULL,
    version       INTEGER NOT NULL,
    digest        TEXT NOT NULL,
    registered_at INTEGER NOT NULL,
    PRIMARY KEY (name, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE credentials (
    name       TEXT PRIMARY KEY,
    kind       TEXT NOT NULL,
    sealed     BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
