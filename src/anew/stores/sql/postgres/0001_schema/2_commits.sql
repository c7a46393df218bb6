-- Many transitions in one call, and therefore in one round trip: what each of them costs by itself is
-- paid once for all.
--
-- The functions answer instead of raising: what is refused shares its transaction with others. They
-- find every row by its key. The settings say so, because a plan that was made while a table was
-- nearly empty would read all of it, and is kept.

-- What the trigger durable of the other tables does. A trigger is called with every statement, and a
-- group has many.
CREATE FUNCTION anew.make_durable_v1() RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF current_setting('synchronous_commit') = 'off'
        AND current_setting('anew.synchronous_commit', true) IS DISTINCT FROM 'session'
    THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
END
$$;

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

-- Writes the commits of a group, in their order. What is refused is left out; the others are written.
-- NULL: all were written, now or before. Otherwise three numbers for each that was refused: its place
-- in the group, and the two that `refusal_v1` says of it, -1 for what is not there.
--
-- The first arrays have an element for each commit; those from p_of on one for each event, and p_of
-- tells to which commit it belongs. p_mores has what few commits have: new, park, drops, jobs, wakes.
-- p_settles tells what becomes of the job of the lease: 'finish', 'park', 'keep', or 'go on', by which
-- it becomes the job p_to_….
CREATE FUNCTION anew.commit_v2(
    p_runs bigint[], p_expected bigint[], p_versions bigint[], p_updated bigint[],
    p_statuses text[], p_errors text[], p_ended bigint[], p_clears boolean[],
    p_steps text[], p_visits bigint[], p_iterations bigint[], p_tokens bigint[], p_settles text[],
    p_to_steps text[], p_to_visits bigint[], p_to_iterations bigint[],
    p_pools text[], p_untils bigint[], p_mores json[],
    p_of bigint[], p_seqs bigint[], p_ats bigint[], p_names text[], p_datas text[],
    p_replaced text[],
    p_blob_of bigint[], p_checksums text[], p_blobs bytea[],
    p_kept_of bigint[], p_formats text[], p_snapshots bytea[]
) RETURNS bigint[]
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_more json;
    v_part json;
    v_job record;
    v_refused bigint[] := '{}';
    v_why bigint[];
    v_answer bigint[];
    n bigint;
BEGIN
    PERFORM anew.make_durable_v1();

    FOR n IN 1 .. cardinality(p_runs) LOOP
        v_more := p_mores[n];
        v_part := v_more -> 'new';
        IF v_part IS NULL THEN
            UPDATE anew.runs SET
                version = p_versions[n], status = p_statuses[n], error = p_errors[n],
                ended_at = p_ended[n], updated_at = coalesce(p_updated[n], updated_at)
            WHERE run = p_runs[n] AND version = p_expected[n] AND (
                p_tokens[n] IS NULL OR EXISTS (
                    SELECT 1 FROM anew.jobs AS held
                    WHERE held.run = p_runs[n] AND held.step = p_steps[n]
                        AND held.visit = p_visits[n] AND held.iteration = p_iterations[n]
                        AND held.token = p_tokens[n] AND held.leased_until IS NOT NULL
                )
            );
        ELSE
            INSERT INTO anew.runs (
                run, program, digest, status, version, created_at, updated_at, ended_at, error, key,
                labels, parent_run, parent_step, parent_visit, parent_iteration, depth
            )
            SELECT
                p_runs[n], program, digest, p_statuses[n], p_versions[n], at,
                coalesce(p_updated[n], at), p_ended[n], p_errors[n], key, labels,
                parent_run, parent_step, parent_visit, parent_iteration, depth
            FROM json_to_record(v_part) AS new (
                at bigint, program text, digest text, key text, labels text, parent_run bigint,
                parent_step text, parent_visit bigint, parent_iteration bigint, depth integer
            )
            -- A job belongs to a run that is there: nobody can hold one of a run that begins.
            WHERE p_expected[n] = 0 AND p_tokens[n] IS NULL
            ON CONFLICT DO NOTHING;
        END IF;
        IF NOT FOUND THEN
            v_refused := v_refused || n;
            CONTINUE;
        END IF;

        IF p_tokens[n] IS NOT NULL THEN
            IF p_settles[n] = 'go on' THEN
                UPDATE anew.jobs SET
                    step = p_to_steps[n], visit = p_to_visits[n], iteration = p_to_iterations[n],
                    pool = p_pools[n], leased_until = p_untils[n],
                    due_at = 0, reason = 'ready', attempt = 1,
                    token = 1, calls_again = false, is_woken = false
                WHERE run = p_runs[n] AND step = p_steps[n] AND visit = p_visits[n]
                    AND iteration = p_iterations[n]
                    AND token = p_tokens[n] AND leased_until IS NOT NULL;
            ELSIF p_settles[n] = 'finish' THEN
                DELETE FROM anew.jobs
                WHERE run = p_runs[n] AND step = p_steps[n] AND visit = p_visits[n]
                    AND iteration = p_iterations[n]
                    AND token = p_tokens[n] AND leased_until IS NOT NULL;
            ELSIF p_settles[n] = 'park' THEN
                v_part := v_more -> 'park';
                UPDATE anew.jobs SET
                    leased_until = NULL, is_woken = false,
                    attempt = (v_part ->> 'attempt')::bigint,
                    calls_again = (v_part ->> 'calls_again')::boolean,
                    due_at = CASE WHEN is_woken THEN 0 ELSE (v_part ->> 'due_at')::bigint END,
                    reason = CASE WHEN is_woken THEN 'ready' ELSE v_part ->> 'reason' END
                WHERE run = p_runs[n] AND step = p_steps[n] AND visit = p_visits[n]
                    AND iteration = p_iterations[n]
                    AND token = p_tokens[n] AND leased_until IS NOT NULL;
            ELSE
                PERFORM 1 FROM anew.jobs
                WHERE run = p_runs[n] AND step = p_steps[n] AND visit = p_visits[n]
                    AND iteration = p_iterations[n]
                    AND token = p_tokens[n] AND leased_until IS NOT NULL
                FOR NO KEY UPDATE;
            END IF;
            IF NOT FOUND THEN
                -- Lost since the run was written to, a moment ago. Tried again, it will be refused.
                RAISE EXCEPTION 'the lease was lost meanwhile'
                    USING ERRCODE = 'serialization_failure';
            END IF;
        END IF;
        IF p_clears[n] THEN
            DELETE FROM anew.jobs WHERE run = p_runs[n];
        END IF;
        CONTINUE WHEN v_more IS NULL;

        IF v_more -> 'new' -> 'pairs' IS NOT NULL THEN
            INSERT INTO anew.labels (name, value, run)
            SELECT pair ->> 0, pair ->> 1, p_runs[n]
            FROM json_array_elements(v_more -> 'new' -> 'pairs') AS pair;
        END IF;
        FOR v_job IN
            SELECT * FROM json_to_recordset(v_more -> 'drops') AS j (s text, v bigint, i bigint)
        LOOP
            DELETE FROM anew.jobs
            WHERE run = p_runs[n] AND step = v_job.s AND visit = v_job.v AND iteration = v_job.i;
        END LOOP;
        IF v_more -> 'jobs' IS NOT NULL THEN
            INSERT INTO anew.jobs AS old (
                run, step, visit, iteration, pool, due_at, reason, attempt, token, leased_until
            )
            SELECT
                p_runs[n], s, v, i, pool, due_at, reason, attempt, (until IS NOT NULL)::int, until
            FROM json_to_recordset(v_more -> 'jobs') AS j (
                s text, v bigint, i bigint,
                pool text, due_at bigint, reason text, attempt bigint, until bigint
            )
            ON CONFLICT (run, step, visit, iteration) DO UPDATE SET
                pool = EXCLUDED.pool, due_at = EXCLUDED.due_at, reason = EXCLUDED.reason,
                attempt = EXCLUDED.attempt, token = old.token + EXCLUDED.token,
                leased_until = EXCLUDED.leased_until, calls_again = false, is_woken = false;
        END IF;
        FOR v_job IN
            SELECT * FROM json_to_recordset(v_more -> 'wakes')
                AS j (run bigint, s text, v bigint, i bigint)
        LOOP
            UPDATE anew.jobs SET
                is_woken = leased_until IS NOT NULL,
                due_at = CASE WHEN leased_until IS NULL THEN 0 ELSE due_at END,
                reason = CASE WHEN leased_until IS NULL THEN 'ready' ELSE reason END
            WHERE run = v_job.run AND step = v_job.s AND visit = v_job.v AND iteration = v_job.i;
        END LOOP;
    END LOOP;

    IF cardinality(p_of) > 0 THEN
        INSERT INTO anew.events (run, seq, at, name, data, replaced)
        SELECT p_runs[of], seq, at, name, data, replaced
        FROM unnest(p_of, p_seqs, p_ats, p_names, p_datas, p_replaced)
            AS given (of, seq, at, name, data, replaced)
        WHERE of <> ALL (v_refused);
    END IF;
    IF p_blob_of IS NOT NULL THEN
        INSERT INTO anew.blobs (run, checksum, data)
        SELECT p_runs[of], checksum, data
        FROM unnest(p_blob_of, p_checksums, p_blobs) AS given (of, checksum, data)
        WHERE of <> ALL (v_refused)
        ON CONFLICT DO NOTHING;
    END IF;
    IF p_kept_of IS NOT NULL THEN
        FOR v_job IN
            SELECT * FROM unnest(p_kept_of, p_formats, p_snapshots) AS given (of, format, data)
            WHERE of <> ALL (v_refused)
        LOOP
            INSERT INTO anew.snapshots (run, version, format, data)
            VALUES (p_runs[v_job.of], p_versions[v_job.of], v_job.format, v_job.data)
            ON CONFLICT (run) DO UPDATE SET
                version = EXCLUDED.version, format = EXCLUDED.format, data = EXCLUDED.data;
        END LOOP;
    END IF;

    FOREACH n IN ARRAY v_refused LOOP
        -- Only now: what it repeats may be in this very group.
        SELECT anew.refusal_v1(
            p_runs[n], p_expected[n], p_mores[n] -> 'new' ->> 'key',
            p_steps[n], p_visits[n], p_iterations[n], p_tokens[n],
            coalesce(array_agg(at ORDER BY seq), '{}'),
            coalesce(array_agg(name ORDER BY seq), '{}'),
            coalesce(array_agg(data ORDER BY seq), '{}'),
            coalesce(array_agg(replaced ORDER BY seq), '{}')
        ) INTO v_why
        FROM unnest(p_of, p_seqs, p_ats, p_names, p_datas, p_replaced)
            AS given (of, seq, at, name, data, replaced)
        WHERE of = n;
        IF v_why IS NOT NULL THEN
            v_answer := v_answer || ARRAY[n, v_why[1], coalesce(v_why[2], -1)];
        END IF;
    END LOOP;
    RETURN v_answer;
END
$$;

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
