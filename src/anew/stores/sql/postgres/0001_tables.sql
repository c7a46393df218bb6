-- Runs, their logs and their jobs; programs and credentials.
-- Moments are nanoseconds since 1970 in UTC. Text is compared byte by byte, as Python compares it.
-- PostgreSQL text cannot hold the character 0: in names, 0 is written as 1 1, and 1 as 1 2.
--
-- A run's row has its version, so that one update of it is the lock, the check and the write of a
-- transition. It changes no indexed column while the run goes on, and the free part of each page
-- keeps the new row beside the old: such an update touches no index.

CREATE TABLE anew.runs (
    run              bigint PRIMARY KEY,
    program          text COLLATE "C" NOT NULL,
    digest           text COLLATE "C" NOT NULL,
    status           text COLLATE "C" NOT NULL,
    version          bigint NOT NULL,    -- the sequence number of its newest event
    created_at       bigint NOT NULL,
    updated_at       bigint NOT NULL,
    ended_at         bigint,
    error            text,               -- JSON
    key              text COLLATE "C",   -- what makes a start idempotent
    labels           text,               -- JSON
    parent_run       bigint,
    parent_step      text COLLATE "C",
    parent_visit     bigint,
    parent_iteration bigint,
    depth            integer NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE UNIQUE INDEX runs_key ON anew.runs (key) WHERE key IS NOT NULL;
CREATE INDEX runs_status ON anew.runs (status, run);
CREATE INDEX runs_created ON anew.runs (created_at);
CREATE INDEX runs_program ON anew.runs (program, run);
CREATE INDEX runs_parent ON anew.runs (parent_run, run) WHERE parent_run IS NOT NULL;
CREATE INDEX runs_ended ON anew.runs (ended_at, run) WHERE ended_at IS NOT NULL;

CREATE TABLE anew.labels (
    name  text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    run   bigint NOT NULL,
    PRIMARY KEY (name, value, run)
);

CREATE INDEX labels_run ON anew.labels (run);

-- Cut by ranges of run ids, each of the runs that began in one week; old ranges are dropped whole.
-- What no range holds is in the default partition.
CREATE TABLE anew.events (
    run      bigint NOT NULL,
    seq      bigint NOT NULL,
    at       bigint NOT NULL,
    name     text COLLATE "C" NOT NULL,
    data     text COLLATE "C" NOT NULL,  -- JSON
    replaced text COLLATE "C",           -- JSON: which values of data are kept in blobs
    PRIMARY KEY (run, seq)
) PARTITION BY RANGE (run);

CREATE TABLE anew.events_rest PARTITION OF anew.events DEFAULT;

CREATE TABLE anew.blobs (
    run      bigint NOT NULL,
    checksum text COLLATE "C" NOT NULL,  -- SHA-256 of data, in hexadecimal
    data     bytea NOT NULL,             -- JSON
    PRIMARY KEY (run, checksum)
) PARTITION BY RANGE (run);

CREATE TABLE anew.blobs_rest PARTITION OF anew.blobs DEFAULT;

-- The log as one would ask for it.
CREATE VIEW anew.event_rows AS
SELECT
    run, seq, at, name,
    data::json ->> 'step'                 AS step,
    (data::json ->> 'visit')::bigint      AS visit,
    (data::json ->> 'iteration')::bigint  AS iteration,
    data::json ->> 'task'                 AS task,
    (data::json ->> 'attempt')::bigint    AS attempt,
    data::json                            AS data
FROM anew.events;

CREATE TABLE anew.snapshots (
    run     bigint PRIMARY KEY,
    version bigint NOT NULL,
    format  text COLLATE "C" NOT NULL,   -- which shape of the state it has
    data    bytea NOT NULL
);

CREATE TABLE anew.jobs (
    run          bigint NOT NULL,
    step         text COLLATE "C" NOT NULL,
    visit        bigint NOT NULL,
    iteration    bigint NOT NULL,        -- -1 outside loops
    pool         text COLLATE "C" NOT NULL,
    due_at       bigint,                 -- NULL: until it is woken
    reason       text COLLATE "C" NOT NULL,
    attempt      bigint NOT NULL,
    token        bigint NOT NULL,        -- grows with each lease
    leased_until bigint,
    calls_again  boolean NOT NULL DEFAULT false,
    is_woken     boolean NOT NULL DEFAULT false,
    PRIMARY KEY (run, step, visit, iteration)
) WITH (
    fillfactor = 70,
    -- Jobs come and go quickly: the dead ones are to be gone before a lease has to step over them.
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 0
);

-- In the order jobs are handed out, so that taking one never looks at those that wait.
CREATE INDEX jobs_due ON anew.jobs (pool, due_at, run, step, visit, iteration)
    WHERE leased_until IS NULL AND due_at IS NOT NULL;
CREATE INDEX jobs_due_of_run ON anew.jobs (run, due_at)
    WHERE leased_until IS NULL AND due_at IS NOT NULL;
CREATE INDEX jobs_leased ON anew.jobs (leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX jobs_retrying ON anew.jobs (run) WHERE reason = 'retry';

-- Every document that was run or registered.
CREATE TABLE anew.programs (
    digest  text COLLATE "C" PRIMARY KEY,
    name    text COLLATE "C" NOT NULL,
    source  text NOT NULL,
    file    text NOT NULL,
    kept_at bigint NOT NULL,
    dialect text,                        -- the one somebody chose
    files   text                         -- JSON: the texts of the files it names, by name
);

-- Those that were registered; one document may be several versions of a name.
CREATE TABLE anew.versions (
    name          text COLLATE "C" NOT NULL,
    version       bigint NOT NULL,
    digest        text COLLATE "C" NOT NULL,
    registered_at bigint NOT NULL,
    PRIMARY KEY (name, version)
);

CREATE TABLE anew.credentials (
    name       text COLLATE "C" PRIMARY KEY,
    kind       text NOT NULL,
    sealed     bytea NOT NULL,
    created_at bigint NOT NULL
);
