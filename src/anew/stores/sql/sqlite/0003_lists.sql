-- What lists of runs are searched and counted by; paths of programs; who works on this file.
--
-- Takes the place of scripts that were never released; a file that has all of them fits:
-- replaces fa2fe13e660b97be64c3e4bf91a7d109351feb5a8d1aed2277e078e12c853370
-- replaces 1ededc31ce092278505a81ab06b67d7ac4cc9b1430ef2910055b3feff9212b93
-- replaces ee628dd11907433fda8f8554ed01461d2c535dc8f8f9712028b37667ffe77958
-- replaces 59dec7e4bd48ace1348173191e5ff3ddf3c1e1ababc66312dfebb8400d382a11

-- Written by the commit that fails the run. Those of runs that failed before are written after a
-- database is opened, a few at a time.
ALTER TABLE runs ADD COLUMN error_kind TEXT;
ALTER TABLE runs ADD COLUMN error_message TEXT;
ALTER TABLE runs ADD COLUMN fingerprint TEXT;

CREATE INDEX runs_error_kind ON runs (error_kind, run) WHERE error_kind IS NOT NULL;
-- With all that groups of failures are made of.
CREATE INDEX runs_fingerprint ON runs (fingerprint, run, ended_at, program, error_kind)
    WHERE fingerprint IS NOT NULL;
CREATE INDEX runs_unmarked ON runs (run) WHERE status = 'failed' AND fingerprint IS NULL;

-- The run that this one takes up.
ALTER TABLE runs ADD COLUMN retry_of INTEGER;
UPDATE runs SET retry_of = (
    SELECT CAST(value AS INTEGER) FROM labels WHERE labels.run = runs.run AND name = 'retry_of'
)
WHERE run IN (
    SELECT run FROM labels
    WHERE name = 'retry_of' AND length(value) BETWEEN 1 AND 19 AND value NOT GLOB '*[^0-9]*'
);
CREATE INDEX runs_retry_of ON runs (retry_of, run) WHERE retry_of IS NOT NULL;

CREATE INDEX jobs_retry_due ON jobs (due_at, run) WHERE reason = 'retry' AND is_leased = 0;
CREATE INDEX jobs_attempts ON jobs (attempt, run) WHERE attempt > 1;

-- How much a job says about its run, as `engine.standing` has it: 1 says most.
CREATE VIEW job_ranks AS
SELECT
    *,
    CASE
        WHEN is_leased THEN 4
        WHEN reason = 'person' THEN 1
        WHEN reason = 'signal' THEN 2
        WHEN reason = 'retry' THEN 3
        WHEN reason = 'ready' THEN 5
        ELSE 6
    END AS rank
FROM jobs WHERE is_leased IN (0, 1);

-- How a run stands, as `engine.standing` has it.
CREATE VIEW run_states AS
SELECT
    *,
    CASE status
        WHEN 'failed' THEN iif(error_kind IS 'worker_lost', 'dead', 'failed')
        WHEN 'new' THEN 'queued'
        WHEN 'queued' THEN status
        WHEN 'paused' THEN status
        WHEN 'done' THEN status
        WHEN 'cancelled' THEN status
        ELSE coalesce(
            (
                SELECT CASE min(rank)
                    WHEN 1 THEN 'person'
                    WHEN 2 THEN 'signal'
                    WHEN 3 THEN 'retrying'
                    WHEN 5 THEN 'queued'
                    WHEN 6 THEN 'parked'
                END
                FROM job_ranks WHERE job_ranks.run = runs.run
            ),
            status
        )
    END AS state
FROM runs;

-- Runs as lists show them; `open` is the job that says most, as JSON.
DROP VIEW run_rows;
CREATE VIEW run_rows AS
SELECT
    *,
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
    ) AS updated_at,
    (
        SELECT json_array(
            step, visit, iteration, reason, due_at, attempt, pool, leased_until, token
        )
        FROM job_ranks WHERE job_ranks.run = run_states.run
        ORDER BY rank, due_at IS NULL, due_at, step, visit, iteration LIMIT 1
    ) AS open,
    (SELECT max(later.run) FROM runs AS later WHERE later.retry_of = run_states.run) AS retried_as
FROM run_states;

-- The path that a playbook names in its metadata, so that nobody reads a document to list it.
-- A document that was kept before gets its path when it is registered or run again.
ALTER TABLE programs ADD COLUMN path TEXT;
CREATE INDEX programs_by_path ON programs (path) WHERE path IS NOT NULL;

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
    seen_at    INTEGER NOT NULL,
    jobs       TEXT NOT NULL DEFAULT '[]'  -- JSON: those that it has leased
) STRICT, WITHOUT ROWID;

CREATE INDEX jobs_asking ON jobs (due_at, run) WHERE reason = 'person';
-- With jobs_due, so that the jobs of each pool are counted in the order of an index.
CREATE INDEX jobs_aside ON jobs (pool, due_at) WHERE is_leased = 0 AND due_at IS NULL;
