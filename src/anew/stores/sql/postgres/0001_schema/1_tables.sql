-- Runs, their logs and their jobs; programs, credentials and workers.
-- Moments are nanoseconds since 1970 in UTC. Text is compared byte by byte, as Python compares it.
-- PostgreSQL text cannot hold the character 0: in names, 0 is written as 1 1, and 1 as 1 2.
--
-- A run's row has its version, so that one update of it is the lock, the check and the write of a
-- transition. It changes no indexed column while the run goes on, and the free part of each page
-- keeps the new row beside the old: such an update touches no index.
--
-- Takes the place of scripts that were never released; a database that has all of them fits:
-- replaces 22de019aef8cee06090f7d44ee8033f67206f05f50253d488ee00920501f50f1
-- replaces a4d6ad3b152decbd71182f818fed53dcc58b28acdc3222a5dabf221d34152d40
-- replaces 2a611f25c624d6fbf2186ec88244a50355ec6b50635c0785572561f34fe184ec
-- replaces e78419f964c2a530c0fef5e970ed494c895f4c1bdea7d61c2bdf011bff224af2
-- replaces a3642b3ccfa8eef36405738a2bb28f3292752717cf15a0abcfaf9a07d5782995
-- replaces 380457e418537210c9901320fb48b720e159344ff33fa8f5eddf9c442afb16d9
-- replaces cc8e301fe660e2e8f261e1486606e6f6d1d73788eeb94a0c41677154aa2a23ca
-- replaces f7edb8cacc087252374f298b8328bfe7b95ae0899d58a11100ca36bd68fa449c
-- replaces 247fc8b83177ec5bee8ae75dd1dc0f8b54180659ffa3b04e7bee10c1450801d7
-- replaces 2fad4754c42cb813955e42ca8fcb51f414a5784a1fc774111ffc052c74dd7108

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
    depth            integer NOT NULL,
    -- Written when the run fails: what lists are searched and failures grouped by.
    error_kind       text COLLATE "C",
    error_message    text COLLATE "C",
    fingerprint      text COLLATE "C",
    retry_of         bigint              -- the run that this one takes up
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE UNIQUE INDEX runs_key ON anew.runs (key) WHERE key IS NOT NULL;
CREATE INDEX runs_status ON anew.runs (status, run);
CREATE INDEX runs_created ON anew.runs (created_at);
CREATE INDEX runs_program ON anew.runs (program, run);
CREATE INDEX runs_parent ON anew.runs (parent_run, run) WHERE parent_run IS NOT NULL;
CREATE INDEX runs_ended ON anew.runs (ended_at, run) WHERE ended_at IS NOT NULL;
CREATE INDEX runs_error_kind ON anew.runs (error_kind, run) WHERE error_kind IS NOT NULL;
-- With all that groups of failures are made of.
CREATE INDEX runs_fingerprint ON anew.runs (fingerprint, run)
    INCLUDE (ended_at, program, error_kind) WHERE fingerprint IS NOT NULL;
CREATE INDEX runs_retry_of ON anew.runs (retry_of, run) WHERE retry_of IS NOT NULL;

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
CREATE INDEX jobs_retry_due ON anew.jobs (due_at, run)
    WHERE reason = 'retry' AND leased_until IS NULL;
CREATE INDEX jobs_attempts ON anew.jobs (attempt, run) WHERE attempt > 1;
CREATE INDEX jobs_asking ON anew.jobs (due_at, run) WHERE reason = 'person';

-- How much a job says about its run, as `engine.standing` has it: 1 says most.
CREATE VIEW anew.job_ranks AS
SELECT
    *,
    CASE
        WHEN leased_until IS NOT NULL THEN 4
        WHEN reason = 'person' THEN 1
        WHEN reason = 'signal' THEN 2
        WHEN reason = 'retry' THEN 3
        WHEN reason = 'ready' THEN 5
        ELSE 6
    END AS rank
FROM anew.jobs;

-- How a run stands, as `engine.standing` has it.
CREATE VIEW anew.run_states AS
SELECT
    *,
    CASE
        WHEN status = 'failed' AND error_kind = 'worker_lost' THEN 'dead'
        WHEN status = 'new' THEN 'queued'
        WHEN status NOT IN ('running', 'waiting') THEN status
        ELSE coalesce(
            (
                SELECT CASE min(rank)
                    WHEN 1 THEN 'person'
                    WHEN 2 THEN 'signal'
                    WHEN 3 THEN 'retrying'
                    WHEN 5 THEN 'queued'
                    WHEN 6 THEN 'parked'
                END
                FROM anew.job_ranks WHERE job_ranks.run = runs.run
            ),
            status
        )
    END AS state
FROM anew.runs;

-- Every document that was run or registered.
CREATE TABLE anew.programs (
    digest  text COLLATE "C" PRIMARY KEY,
    name    text COLLATE "C" NOT NULL,
    source  text NOT NULL,
    file    text NOT NULL,
    kept_at bigint NOT NULL,
    dialect text,                        -- the one somebody chose
    files   text,                        -- JSON: the texts of the files it names, by name
    path    text COLLATE "C"             -- that a playbook names in its metadata
);

CREATE INDEX programs_by_path ON anew.programs (path) WHERE path IS NOT NULL;

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

-- Who works on this database, as each process last said.
-- Every process writes its row every few seconds: room in each page keeps the new one beside the old.
CREATE TABLE anew.workers (
    worker     text COLLATE "C" PRIMARY KEY,
    host       text NOT NULL,
    process    bigint NOT NULL,
    kind       text NOT NULL,
    pools      text NOT NULL,            -- JSON; an empty list is all of them
    slots      bigint NOT NULL,
    busy       bigint NOT NULL,
    leases     bigint NOT NULL,
    version    text NOT NULL,
    started_at bigint NOT NULL,
    seen_at    bigint NOT NULL,
    jobs       text NOT NULL DEFAULT '[]'  -- JSON: those that it has leased
) WITH (fillfactor = 50);

-- What is written is on disk when the commit returns, also where synchronous_commit is off by default:
-- a power cut must not take back what others were told. Sessions of ours choose it themselves and say
-- so (anew.synchronous_commit = session). Behind a pooler that gives each transaction any session
-- nobody can, so every transaction is told here. To leave it to the server there as well:
-- ALTER DATABASE … SET anew.synchronous_commit = session.
CREATE FUNCTION anew.durable_v1() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF current_setting('synchronous_commit') = 'off'
        AND current_setting('anew.synchronous_commit', true) IS DISTINCT FROM 'session'
    THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    RETURN NULL;
END
$$;

-- Commits see to it themselves (`make_durable_v1`). The tables that go with a run need none.
CREATE TRIGGER durable BEFORE INSERT OR UPDATE OR DELETE ON anew.jobs
FOR EACH STATEMENT EXECUTE FUNCTION anew.durable_v1();
CREATE TRIGGER durable BEFORE INSERT OR UPDATE OR DELETE ON anew.programs
FOR EACH STATEMENT EXECUTE FUNCTION anew.durable_v1();
CREATE TRIGGER durable BEFORE INSERT OR UPDATE OR DELETE ON anew.versions
FOR EACH STATEMENT EXECUTE FUNCTION anew.durable_v1();
CREATE TRIGGER durable BEFORE INSERT OR UPDATE OR DELETE ON anew.credentials
FOR EACH STATEMENT EXECUTE FUNCTION anew.durable_v1();
