-- Partitions of events and blobs: one for the runs that began in one week, made before it begins.
--
-- The upper 41 of the 63 bits of a run id are milliseconds since 2024-01-01 00:00 UTC, a Monday. Week
-- n is therefore the ids from n × 604,800,000 × 2^22 on, and its partitions end in _w and n.

CREATE FUNCTION anew.first_run_v1(p_week bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE
AS $$ SELECT p_week * 604800000 * 4194304 $$;

CREATE FUNCTION anew.week_v1() RETURNS bigint
LANGUAGE sql VOLATILE
AS $$ SELECT floor((extract(epoch FROM clock_timestamp()) - 1704067200) / 604800)::bigint $$;

-- The weeks that have partitions.
CREATE VIEW anew.ranges AS
SELECT
    substring(child.relname FROM '_w(\d+)$')::bigint AS week,
    count(*) AS tables
FROM pg_catalog.pg_inherits
JOIN pg_catalog.pg_class AS child ON child.oid = pg_inherits.inhrelid
WHERE pg_inherits.inhparent IN ('anew.events'::regclass, 'anew.blobs'::regclass)
    AND child.relname ~ '_w\d+$'
GROUP BY 1;

-- Makes the partitions of a week, unless they are there; p_hashes of them by the hash of the run.
-- False when runs of that week are in the default partition already: then they stay there.
CREATE FUNCTION anew.make_range_v1(p_week bigint, p_hashes integer) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    v_table text;
    v_name text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['events', 'blobs'] LOOP
        v_name := v_table || '_w' || p_week;
        CONTINUE WHEN to_regclass('anew.' || v_name) IS NOT NULL;
        EXECUTE format(
            'CREATE TABLE anew.%I (LIKE anew.%I INCLUDING ALL) %s', v_name, v_table,
            CASE WHEN p_hashes > 1 THEN 'PARTITION BY HASH (run)' ELSE '' END
        );
        IF p_hashes > 1 THEN
            FOR n IN 0 .. p_hashes - 1 LOOP
                EXECUTE format(
                    'CREATE TABLE anew.%I PARTITION OF anew.%I '
                    'FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                    v_name || '_h' || n, v_name, p_hashes, n
                );
            END LOOP;
        END IF;
        -- Attached, and not created as a partition: that would lock out all who read or write.
        EXECUTE format(
            'ALTER TABLE anew.%I ATTACH PARTITION anew.%I FOR VALUES FROM (%s) TO (%s)',
            v_table, v_name, anew.first_run_v1(p_week), anew.first_run_v1(p_week + 1)
        );
    END LOOP;
    RETURN true;
EXCEPTION WHEN check_violation THEN
    RETURN false;
END
$$;

-- Drops the partitions of a week, unless a run of it is left.
CREATE FUNCTION anew.drop_range_v1(p_week bigint) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    v_table text;
BEGIN
    -- In the order in which readers lock them; the other partitions are left alone.
    LOCK TABLE ONLY anew.events, ONLY anew.blobs IN ACCESS EXCLUSIVE MODE;
    PERFORM 1 FROM anew.runs
    WHERE run >= anew.first_run_v1(p_week) AND run < anew.first_run_v1(p_week + 1) LIMIT 1;
    IF FOUND THEN
        RETURN false;
    END IF;
    FOREACH v_table IN ARRAY ARRAY['events', 'blobs'] LOOP
        EXECUTE format('DROP TABLE anew.%I', v_table || '_w' || p_week);
    END LOOP;
    RETURN true;
END
$$;

-- Past weeks of which every run that is left may go. A run of last week may still be on its way in.
CREATE FUNCTION anew.old_weeks_v1(p_before bigint) RETURNS bigint[]
LANGUAGE sql
AS $$
    SELECT coalesce(array_agg(week ORDER BY week), '{}') FROM anew.ranges
    WHERE week < anew.week_v1() - 1 AND NOT EXISTS (
        SELECT 1 FROM anew.runs AS stays
        WHERE stays.run >= anew.first_run_v1(week) AND stays.run < anew.first_run_v1(week + 1)
            AND (
                stays.ended_at IS NULL OR stays.ended_at >= p_before OR EXISTS (
                    SELECT 1 FROM anew.runs AS parent
                    WHERE parent.run = stays.parent_run AND parent.ended_at IS NULL
                )
            )
    )
$$;

-- Removes the runs that ended first, up to p_limit, and says how many. Events and blobs of the weeks
-- p_weeks are left, to be dropped with their partitions.
CREATE FUNCTION anew.prune_v1(p_before bigint, p_limit bigint, p_weeks bigint[]) RETURNS bigint
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    v_run bigint;
    v_count bigint := 0;
BEGIN
    FOR v_run IN
        SELECT old.run FROM anew.runs AS old
        WHERE old.ended_at IS NOT NULL AND old.ended_at < p_before AND NOT EXISTS (
            SELECT 1 FROM anew.runs AS parent
            WHERE parent.run = old.parent_run AND parent.ended_at IS NULL
        )
        ORDER BY old.ended_at, old.run LIMIT p_limit FOR UPDATE OF old SKIP LOCKED
    LOOP
        IF v_run / anew.first_run_v1(1) <> ALL (p_weeks) THEN
            DELETE FROM anew.events WHERE run = v_run;
            DELETE FROM anew.blobs WHERE run = v_run;
        END IF;
        DELETE FROM anew.snapshots WHERE run = v_run;
        DELETE FROM anew.labels WHERE run = v_run;
        DELETE FROM anew.jobs WHERE run = v_run;
        DELETE FROM anew.runs WHERE run = v_run;
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END
$$;
