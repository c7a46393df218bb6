-- A transition in one call, and therefore in one round trip.
--
-- Both functions answer instead of raising: what is refused shares its transaction with others. They
-- find every row by its key. The settings say so, because a plan that was made while a table was
-- nearly empty would read all of it, and is kept.

-- Why a commit was refused: {1, run} a run has its key, {2} its lease is lost, {3, version} the run
-- is at another version (NULL: it is not there). NULL: this very commit was made before.
CREATE FUNCTION anew.refusal_v1(
    p_run bigint, p_expected bigint, p_key text,
    p_step text, p_visit bigint, p_iteration bigint, p_token bigint,
    p_ats bigint[], p_names text[], p_datas text[], p_replaced text[]
) RETURNS bigint[]
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    v_version bigint;
    v_owner bigint;
    v_same bigint;
BEGIN
    SELECT version INTO v_version FROM anew.runs WHERE run = p_run;
    IF v_version >= p_expected + cardinality(p_names) AND cardinality(p_names) > 0 THEN
        SELECT count(*) INTO v_same
        FROM unnest(p_ats, p_names, p_datas, p_replaced) WITH ORDINALITY
            AS given (at, name, data, replaced, number)
        JOIN anew.events AS kept ON kept.run = p_run AND kept.seq = p_expected + given.number
        WHERE kept.at = given.at AND kept.name = given.name AND kept.data = given.data
            AND kept.replaced IS NOT DISTINCT FROM given.replaced;
        IF v_same = cardinality(p_names) THEN
            RETURN NULL;
        END IF;
    END IF;
    IF p_key IS NOT NULL THEN
        SELECT run INTO v_owner FROM anew.runs WHERE key = p_key;
        IF FOUND THEN
            RETURN ARRAY[1, v_owner];
        END IF;
    END IF;
    IF p_token IS NOT NULL THEN
        PERFORM 1 FROM anew.jobs
        WHERE run = p_run AND step = p_step AND visit = p_visit AND iteration = p_iteration
            AND token = p_token AND leased_until IS NOT NULL;
        IF NOT FOUND THEN
            RETURN ARRAY[2];
        END IF;
    END IF;
    RETURN ARRAY[3, v_version];
END
$$;

-- NULL: it is written. Otherwise what `refusal_v1` says, and nothing is.
-- p_settle tells what becomes of the job of the lease: 'finish', 'park', 'keep', or 'go on', by
-- which it becomes the job p_to_….
CREATE FUNCTION anew.commit_v1(
    p_run bigint, p_expected bigint, p_at bigint,
    p_status text, p_error text, p_ended_at bigint,
    p_ats bigint[], p_names text[], p_datas text[], p_replaced text[],
    p_step text, p_visit bigint, p_iteration bigint, p_token bigint, p_settle text,
    p_to_step text, p_to_visit bigint, p_to_iteration bigint, p_pool text, p_until bigint,
    p_due_at bigint, p_reason text, p_attempt bigint, p_calls_again boolean,
    p_drop_all boolean, p_drops json, p_jobs json, p_wakes json,
    p_new json, p_checksums text[], p_blobs bytea[], p_format text, p_snapshot bytea
) RETURNS bigint[]
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    v_count bigint := cardinality(p_names);
    v_key text;
    v_job record;
BEGIN
    IF p_new IS NULL THEN
        UPDATE anew.runs SET
            version = p_expected + v_count, status = p_status, error = p_error,
            ended_at = p_ended_at, updated_at = coalesce(p_ats[v_count], updated_at)
        WHERE run = p_run AND version = p_expected AND (
            p_token IS NULL OR EXISTS (
                SELECT 1 FROM anew.jobs AS held
                WHERE held.run = p_run AND held.step = p_step AND held.visit = p_visit
                    AND held.iteration = p_iteration AND held.token = p_token
                    AND held.leased_until IS NOT NULL
            )
        );
    ELSE
        v_key := p_new ->> 'key';
        INSERT INTO anew.runs (
            run, program, digest, status, version, created_at, updated_at, ended_at, error, key,
            labels, parent_run, parent_step, parent_visit, parent_iteration, depth
        )
        SELECT
            p_run, program, digest, p_status, v_count, p_at, coalesce(p_ats[v_count], p_at),
            p_ended_at, p_error, key, labels,
            parent_run, parent_step, parent_visit, parent_iteration, depth
        FROM json_to_record(p_new) AS new (
            program text, digest text, key text, labels text, parent_run bigint, parent_step text,
            parent_visit bigint, parent_iteration bigint, depth integer
        )
        -- A job belongs to a run that is there: nobody can hold one of a run that begins.
        WHERE p_expected = 0 AND p_token IS NULL
        ON CONFLICT DO NOTHING;
    END IF;
    IF NOT FOUND THEN
        RETURN anew.refusal_v1(
            p_run, p_expected, v_key, p_step, p_visit, p_iteration, p_token,
            p_ats, p_names, p_datas, p_replaced
        );
    END IF;

    IF p_new IS NOT NULL THEN
        INSERT INTO anew.labels (name, value, run)
        SELECT pair ->> 0, pair ->> 1, p_run FROM json_array_elements(p_new -> 'pairs') AS pair;
    END IF;
    IF v_count > 0 THEN
        INSERT INTO anew.events (run, seq, at, name, data, replaced)
        SELECT p_run, p_expected + number, at, name, data, replaced
        FROM unnest(p_ats, p_names, p_datas, p_replaced) WITH ORDINALITY
            AS given (at, name, data, replaced, number);
    END IF;
    IF p_checksums IS NOT NULL THEN
        INSERT INTO anew.blobs (run, checksum, data)
        SELECT p_run, checksum, data FROM unnest(p_checksums, p_blobs) AS given (checksum, data)
        ON CONFLICT DO NOTHING;
    END IF;
    IF p_snapshot IS NOT NULL THEN
        INSERT INTO anew.snapshots (run, version, format, data)
        VALUES (p_run, p_expected + v_count, p_format, p_snapshot)
        ON CONFLICT (run) DO UPDATE SET
            version = EXCLUDED.version, format = EXCLUDED.format, data = EXCLUDED.data;
    END IF;

    IF p_token IS NOT NULL THEN
        IF p_settle = 'go on' THEN
            UPDATE anew.jobs SET
                step = p_to_step, visit = p_to_visit, iteration = p_to_iteration, pool = p_pool,
                due_at = p_due_at, reason = p_reason, attempt = p_attempt, leased_until = p_until,
                token = 1, calls_again = false, is_woken = false
            WHERE run = p_run AND step = p_step AND visit = p_visit AND iteration = p_iteration
                AND token = p_token AND leased_until IS NOT NULL;
        ELSIF p_settle = 'finish' THEN
            DELETE FROM anew.jobs
            WHERE run = p_run AND step = p_step AND visit = p_visit AND iteration = p_iteration
                AND token = p_token AND leased_until IS NOT NULL;
        ELSIF p_settle = 'park' THEN
            UPDATE anew.jobs SET
                leased_until = NULL, is_woken = false,
                attempt = p_attempt, calls_again = p_calls_again,
                due_at = CASE WHEN is_woken THEN 0 ELSE p_due_at END,
                reason = CASE WHEN is_woken THEN 'ready' ELSE p_reason END
            WHERE run = p_run AND step = p_step AND visit = p_visit AND iteration = p_iteration
                AND token = p_token AND leased_until IS NOT NULL;
        ELSE
            PERFORM 1 FROM anew.jobs
            WHERE run = p_run AND step = p_step AND visit = p_visit AND iteration = p_iteration
                AND token = p_token AND leased_until IS NOT NULL
            FOR NO KEY UPDATE;
        END IF;
        IF NOT FOUND THEN
            -- Lost since the run was written to, a moment ago. Tried again, it will be refused.
            RAISE EXCEPTION 'the lease was lost meanwhile' USING ERRCODE = 'serialization_failure';
        END IF;
    END IF;

    IF p_drop_all THEN
        DELETE FROM anew.jobs WHERE run = p_run;
    ELSIF p_drops IS NOT NULL THEN
        FOR v_job IN
            SELECT * FROM json_to_recordset(p_drops) AS j (s text, v bigint, i bigint)
        LOOP
            DELETE FROM anew.jobs
            WHERE run = p_run AND step = v_job.s AND visit = v_job.v AND iteration = v_job.i;
        END LOOP;
    END IF;
    IF p_jobs IS NOT NULL THEN
        INSERT INTO anew.jobs AS old (
            run, step, visit, iteration, pool, due_at, reason, attempt, token, leased_until
        )
        SELECT p_run, s, v, i, pool, due_at, reason, attempt, (until IS NOT NULL)::int, until
        FROM json_to_recordset(p_jobs) AS j (
            s text, v bigint, i bigint,
            pool text, due_at bigint, reason text, attempt bigint, until bigint
        )
        ON CONFLICT (run, step, visit, iteration) DO UPDATE SET
            pool = EXCLUDED.pool, due_at = EXCLUDED.due_at, reason = EXCLUDED.reason,
            attempt = EXCLUDED.attempt, token = old.token + EXCLUDED.token,
            leased_until = EXCLUDED.leased_until, calls_again = false, is_woken = false;
    END IF;
    IF p_wakes IS NOT NULL THEN
        FOR v_job IN
            SELECT * FROM json_to_recordset(p_wakes) AS j (run bigint, s text, v bigint, i bigint)
        LOOP
            UPDATE anew.jobs SET
                is_woken = leased_until IS NOT NULL,
                due_at = CASE WHEN leased_until IS NULL THEN 0 ELSE due_at END,
                reason = CASE WHEN leased_until IS NULL THEN 'ready' ELSE reason END
            WHERE run = v_job.run AND step = v_job.s AND visit = v_job.v AND iteration = v_job.i;
        END LOOP;
    END IF;
    RETURN NULL;
END
$$;
