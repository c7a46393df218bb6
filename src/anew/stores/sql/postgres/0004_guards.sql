-- The states of guards, by the dependency that they are of.

CREATE TABLE anew.guards (
    scope text COLLATE "C" NOT NULL PRIMARY KEY,
    token text COLLATE "C" NOT NULL,     -- the next change has to name it
    state text NOT NULL                  -- JSON
);

CREATE TRIGGER durable BEFORE INSERT OR UPDATE OR DELETE ON anew.guards
FOR EACH STATEMENT EXECUTE FUNCTION anew.durable_v1();

-- Locks the states that were read until the transaction ends, in the order in which everybody does.
-- Whether all are as they were. One without a token was only read: many may do so at once.
CREATE FUNCTION anew.guards_match_v1(p_guards json) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    v_guard record;
    v_token text;
    v_same boolean := true;
BEGIN
    FOR v_guard IN
        SELECT * FROM json_to_recordset(p_guards) AS g (scope text, expected text, token text)
        ORDER BY scope COLLATE "C"
    LOOP
        IF v_guard.token IS NULL THEN
            PERFORM pg_advisory_xact_lock_shared(hashtextextended('guard ' || v_guard.scope, 0));
        ELSE
            PERFORM pg_advisory_xact_lock(hashtextextended('guard ' || v_guard.scope, 0));
        END IF;
        SELECT token INTO v_token FROM anew.guards WHERE scope = v_guard.scope;
        IF NOT FOUND THEN
            v_token := NULL;
        END IF;
        v_same := v_same AND v_token IS NOT DISTINCT FROM v_guard.expected;
    END LOOP;
    RETURN v_same;
END
$$;

CREATE FUNCTION anew.change_guards_v1(p_guards json) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO anew.guards (scope, token, state)
    SELECT scope, token, state
    FROM json_to_recordset(p_guards) AS g (scope text, token text, state text)
    WHERE token IS NOT NULL
    ON CONFLICT (scope) DO UPDATE SET token = EXCLUDED.token, state = EXCLUDED.state
$$;

-- `commit_v3`, for one commit that changes the states of guards, or was decided from some.
-- Refused with {1, 4, -1} when one has changed meanwhile.
CREATE FUNCTION anew.commit_guarded_v1(
    p_guards json,
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
    v_why bigint[];
BEGIN
    PERFORM anew.make_durable_v1();
    IF NOT anew.guards_match_v1(p_guards) THEN
        SELECT anew.refusal_v1(
            p_runs[1], p_expected[1], p_mores[1] -> 'new' ->> 'key',
            p_steps[1], p_visits[1], p_iterations[1], p_tokens[1],
            coalesce(array_agg(at ORDER BY seq), '{}'),
            coalesce(array_agg(name ORDER BY seq), '{}'),
            coalesce(array_agg(data ORDER BY seq), '{}'),
            coalesce(array_agg(replaced ORDER BY seq), '{}')
        ) INTO v_why
        FROM unnest(p_of, p_seqs, p_ats, p_names, p_datas, p_replaced)
            AS given (of, seq, at, name, data, replaced);
        IF v_why IS NULL THEN
            RETURN NULL;  -- this very commit was made before
        END IF;
        -- A lease that is lost is told first: nobody is to decide again.
        RETURN CASE WHEN v_why[1] = 2 THEN ARRAY[1, 2, -1] ELSE ARRAY[1, 4, -1] END;
    END IF;
    v_answer := anew.commit_v3(
        p_runs, p_expected, p_versions, p_updated, p_statuses, p_errors, p_ended,
        p_clears, p_steps, p_visits, p_iterations, p_tokens, p_settles, p_to_steps,
        p_to_visits, p_to_iterations, p_pools, p_untils, p_mores, p_of, p_seqs, p_ats,
        p_names, p_datas, p_replaced, p_blob_of, p_checksums, p_blobs, p_kept_of,
        p_formats, p_snapshots, p_failed_of, p_kinds, p_messages, p_fingerprints
    );
    IF v_answer IS NULL THEN
        PERFORM anew.change_guards_v1(p_guards);
    END IF;
    RETURN v_answer;
END
$$;
