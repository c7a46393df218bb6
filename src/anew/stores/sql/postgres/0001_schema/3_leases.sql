-- Hands out due jobs in one call. The settings make it read its indexes in the order jobs are wanted,
-- whatever the planner has been told about a table that changes all the time.

-- One row for each lease, and a last one without a run that tells when the next job is due.
-- Rows that others are about to change are passed over, and nobody waits. Jobs that are due, and of
-- which fewer than wanted could be had, are being taken by others: those are worth another look
-- p_pause later.
CREATE FUNCTION anew.lease_v1(
    p_now bigint, p_until bigint, p_limit bigint, p_pools text[], p_runs bigint[], p_pause bigint
) RETURNS TABLE (
    run bigint, step text, visit bigint, iteration bigint,
    token bigint, calls_again boolean, version bigint, next_due bigint
)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_incremental_sort = off
AS $$
#variable_conflict use_column
DECLARE
    v_pools text[] := p_pools;
    v_pool text := '';
    v_due record;
    v_next bigint;
    v_taken bigint := 0;
BEGIN
    IF p_runs IS NULL AND p_pools IS NULL THEN
        -- Every pool with a job that waits: from one to the next in the index, not over all jobs.
        v_pools := '{}';
        LOOP
            SELECT waiting.pool INTO v_pool FROM anew.jobs AS waiting
            WHERE waiting.leased_until IS NULL AND waiting.due_at IS NOT NULL
                AND (waiting.pool > v_pool OR cardinality(v_pools) = 0 AND waiting.pool >= '')
            ORDER BY waiting.pool LIMIT 1;
            EXIT WHEN NOT FOUND;
            v_pools := v_pools || v_pool;
        END LOOP;
    END IF;

    FOR v_due IN SELECT * FROM anew.due_v1(p_now, p_limit, v_pools, p_runs) LOOP
        UPDATE anew.jobs AS due
        SET leased_until = p_until, token = due.token + 1, is_woken = false
        WHERE due.run = v_due.run AND due.step = v_due.step AND due.visit = v_due.visit
            AND due.iteration = v_due.iteration
        RETURNING due.token, due.calls_again INTO token, calls_again;
        IF run IS DISTINCT FROM v_due.run THEN
            SELECT runs.version INTO version FROM anew.runs WHERE runs.run = v_due.run;
        END IF;
        run := v_due.run;
        step := v_due.step;
        visit := v_due.visit;
        iteration := v_due.iteration;
        v_taken := v_taken + 1;
        RETURN NEXT;
    END LOOP;

    IF p_runs IS NULL THEN
        SELECT min(first.due_at) INTO v_next FROM unnest(v_pools) AS asked (pool)
        CROSS JOIN LATERAL (
            SELECT waiting.due_at FROM anew.jobs AS waiting
            WHERE waiting.leased_until IS NULL AND waiting.due_at IS NOT NULL
                AND waiting.pool = asked.pool
            ORDER BY waiting.due_at LIMIT 1
        ) AS first;
    ELSE
        SELECT min(waiting.due_at) INTO v_next FROM anew.jobs AS waiting
        WHERE waiting.run = ANY (p_runs)
            AND waiting.leased_until IS NULL AND waiting.due_at IS NOT NULL
            AND (p_pools IS NULL OR waiting.pool = ANY (p_pools));
    END IF;
    IF v_next <= p_now AND v_taken < p_limit THEN
        v_next := p_now + p_pause;
    END IF;
    RETURN QUERY SELECT
        NULL::bigint, NULL::text, NULL::bigint, NULL::bigint,
        NULL::bigint, NULL::boolean, NULL::bigint, v_next;
END
$$;

-- The keys of due jobs, locked, those due longest first.
CREATE FUNCTION anew.due_v1(p_now bigint, p_limit bigint, p_pools text[], p_runs bigint[])
RETURNS TABLE (run bigint, step text, visit bigint, iteration bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_incremental_sort = off
AS $$
#variable_conflict use_column
BEGIN
    IF p_runs IS NOT NULL THEN
        RETURN QUERY
        SELECT due.run, due.step, due.visit, due.iteration FROM anew.jobs AS due
        WHERE due.run = ANY (p_runs) AND due.due_at <= p_now
            AND due.leased_until IS NULL AND due.due_at IS NOT NULL
            AND (p_pools IS NULL OR due.pool = ANY (p_pools))
        ORDER BY due.due_at, due.run, due.step, due.visit, due.iteration
        LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED;
    ELSIF cardinality(p_pools) = 1 THEN
        RETURN QUERY
        SELECT due.run, due.step, due.visit, due.iteration FROM anew.jobs AS due
        WHERE due.pool = p_pools[1] AND due.due_at <= p_now
            AND due.leased_until IS NULL AND due.due_at IS NOT NULL
        ORDER BY due.due_at, due.run, due.step, due.visit, due.iteration
        LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED;
    ELSE
        RETURN QUERY
        SELECT first.run, first.step, first.visit, first.iteration
        FROM unnest(p_pools) AS asked (pool)
        CROSS JOIN LATERAL (
            SELECT due.due_at, due.run, due.step, due.visit, due.iteration FROM anew.jobs AS due
            WHERE due.pool = asked.pool AND due.due_at <= p_now
                AND due.leased_until IS NULL AND due.due_at IS NOT NULL
            ORDER BY due.due_at, due.run, due.step, due.visit, due.iteration
            LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
        ) AS first
        ORDER BY first.due_at, first.run, first.step, first.visit, first.iteration
        LIMIT p_limit;
    END IF;
END
$$;

-- Those of the given leases that are still held, kept a while longer; by their place in the list.
-- A row that others have locked is held for all that is known, and extended by the next heartbeat: to
-- wait for it could cost all the others.
CREATE FUNCTION anew.extend_v1(
    p_runs bigint[], p_steps text[], p_visits bigint[], p_iterations bigint[], p_tokens bigint[],
    p_until bigint
) RETURNS bigint[]
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
    v_held bigint[] := '{}';
BEGIN
    FOR n IN 1 .. cardinality(p_runs) LOOP
        PERFORM 1 FROM anew.jobs
        WHERE run = p_runs[n] AND step = p_steps[n] AND visit = p_visits[n]
            AND iteration = p_iterations[n] AND token = p_tokens[n] AND leased_until IS NOT NULL
        FOR NO KEY UPDATE SKIP LOCKED;
        IF FOUND THEN
            UPDATE anew.jobs SET leased_until = p_until
            WHERE run = p_runs[n] AND step = p_steps[n] AND visit = p_visits[n]
                AND iteration = p_iterations[n];
        ELSE
            PERFORM 1 FROM anew.jobs
            WHERE run = p_runs[n] AND step = p_steps[n] AND visit = p_visits[n]
                AND iteration = p_iterations[n] AND token = p_tokens[n]
                AND leased_until IS NOT NULL;
            CONTINUE WHEN NOT FOUND;
        END IF;
        v_held := v_held || n::bigint;
    END LOOP;
    RETURN v_held;
END
$$;
