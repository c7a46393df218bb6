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

-- Every commit writes to its run. The tables that go with it need none of their own.
CREATE TRIGGER durable BEFORE INSERT OR UPDATE OR DELETE ON anew.runs
FOR EACH STATEMENT EXECUTE FUNCTION anew.durable_v1();
CREATE TRIGGER durable BEFORE INSERT OR UPDATE OR DELETE ON anew.jobs
FOR EACH STATEMENT EXECUTE FUNCTION anew.durable_v1();
CREATE TRIGGER durable BEFORE INSERT OR UPDATE OR DELETE ON anew.programs
FOR EACH STATEMENT EXECUTE FUNCTION anew.durable_v1();
CREATE TRIGGER durable BEFORE INSERT OR UPDATE OR DELETE ON anew.versions
FOR EACH STATEMENT EXECUTE FUNCTION anew.durable_v1();
CREATE TRIGGER durable BEFORE INSERT OR UPDATE OR DELETE ON anew.credentials
FOR EACH STATEMENT EXECUTE FUNCTION anew.durable_v1();
