-- What lists of runs are searched and counted by.

-- Written when the run fails. Those of runs that failed before, or that an older version of Anew saw
-- fail, are written after a database is opened, and by `maintain`.
ALTER TABLE anew.runs ADD COLUMN error_kind text COLLATE "C";
ALTER TABLE anew.runs ADD COLUMN error_message text COLLATE "C";
ALTER TABLE anew.runs ADD COLUMN fingerprint text COLLATE "C";

CREATE INDEX runs_error_kind ON anew.runs (error_kind, run) WHERE error_kind IS NOT NULL;
-- With all that groups of failures are made of.
CREATE INDEX runs_fingerprint ON anew.runs (fingerprint, run)
    INCLUDE (ended_at, program, error_kind) WHERE fingerprint IS NOT NULL;
CREATE INDEX runs_unmarked ON anew.runs (run) WHERE status = 'failed' AND fingerprint IS NULL;

-- The run that this one takes up.
ALTER TABLE anew.runs ADD COLUMN retry_of bigint;
CREATE INDEX runs_retry_of ON anew.runs (retry_of, run) WHERE retry_of IS NOT NULL;

-- Older versions of Anew tell it in a label only.
CREATE FUNCTION anew.mark_retries_v1() RETURNS void
LANGUAGE sql
AS $$
    UPDATE anew.runs SET retry_of = value::numeric
    FROM anew.labels
    WHERE labels.name = 'retry_of' AND labels.run = runs.run AND runs.retry_of IS NULL
        AND CASE WHEN value ~ '^[0-9]{1,19}$' THEN value::numeric < 2 ^ 63::numeric END
$$;
SELECT anew.mark_retries_v1();

CREATE INDEX jobs_retry_due ON anew.jobs (due_at, run)
    WHERE reason = 'retry' AND leased_until IS NULL;
CREATE INDEX jobs_attempts ON anew.jobs (attempt, run) WHERE attempt > 1;

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

-- `commit_v2`, for a group in which a run fails (p_failed_of tells by which commit) or takes up
-- another (`retry_of` in its `new`).
CREATE FUNCTION anew.commit_v3(
    p_runs bigint[], p_expected bigint[], p_versions bigint[], p_updated bigint[],
    p_statuses text[], p_errors text[], p_ended bigint[], p_clears boolean[],
    p_steps text[], p_visits bigint[], p_iterations bigint[], p_tokens bigint[], p_settles text[],
    p_to_steps text[], p_to_visits bigint[], p_to_iterations bigint[],
    p_pools text[], p_untils bigint[], p_mores json[],
    p_of bigint[], p_seqs bigint[], p_ats bigint[], p_names text[], p_datas text[],
    p_replaced text[],
    p_blob_of bigint[], p_checksums text[], p_blobs bytea[],
    p_kept_of bigint[], p_formats text[], p_snapshots bytea[],
    p_failed_of bigint[], p_kinds text[], p_messages text[], p_fingerprints text[]
) RETURNS bigint[]
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_answer bigint[];
    v_retry_of bigint;
BEGIN
    v_answer := anew.commit_v2(
        p_runs, p_expected, p_versions, p_updated, p_statuses, p_errors, p_ended, p_clears,
        p_steps, p_visits, p_iterations, p_tokens, p_settles,
        p_to_steps, p_to_visits, p_to_iterations, p_pools, p_untils, p_mores,
        p_of, p_seqs, p_ats, p_names, p_datas, p_replaced,
        p_blob_of, p_checksums, p_blobs, p_kept_of, p_formats, p_snapshots
    );
    -- One that was refused finds its run at another version, or marked the same by another.
    FOR n IN 1 .. cardinality(p_failed_of) LOOP
        UPDATE anew.runs SET
            error_kind = p_kinds[n], error_message = p_messages[n],
            fingerprint = p_fingerprints[n]
        WHERE run = p_runs[p_failed_of[n]] AND version = p_versions[p_failed_of[n]]
            AND status = 'failed' AND fingerprint IS NULL;
    END LOOP;
    FOR n IN 1 .. cardinality(p_runs) LOOP
        v_retry_of := (p_mores[n] -> 'new' ->> 'retry_of')::bigint;
        CONTINUE WHEN v_retry_of IS NULL;
        -- One that was refused, because another run has its id, says nothing about that one.
        CONTINUE WHEN EXISTS (
            SELECT 1 FROM generate_subscripts(v_answer, 1) AS i WHERE i % 3 = 1 AND v_answer[i] = n
        );
        UPDATE anew.runs SET retry_of = v_retry_of WHERE run = p_runs[n] AND retry_of IS NULL;
    END LOOP;
    RETURN v_answer;
END
$$;
