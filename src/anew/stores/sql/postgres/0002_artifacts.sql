-- Values that tasks keep by name.

CREATE TABLE anew.artifacts (
    owner    text COLLATE "C" NOT NULL,  -- run:… or program:…
    name     text COLLATE "C" NOT NULL,
    version  bigint NOT NULL,
    run      bigint NOT NULL,            -- the one that kept it
    key      text COLLATE "C" NOT NULL,  -- the visit of the task that did
    attempt  bigint NOT NULL,
    checksum text COLLATE "C" NOT NULL,  -- SHA-256 of data, in hexadecimal
    data     bytea NOT NULL,             -- JSON
    PRIMARY KEY (owner, name, version)
);

CREATE UNIQUE INDEX artifacts_key ON anew.artifacts (owner, name, key);
CREATE INDEX artifacts_run ON anew.artifacts (run);

CREATE TRIGGER durable BEFORE INSERT OR UPDATE OR DELETE ON anew.artifacts
FOR EACH STATEMENT EXECUTE FUNCTION anew.durable_v1();

-- They go with their run, but the newest version of a program's name stays.
CREATE FUNCTION anew.drop_artifacts_v1() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM anew.artifacts AS kept
    WHERE kept.run = OLD.run AND (
        kept.owner = 'run:' || OLD.run OR EXISTS (
            SELECT 1 FROM anew.artifacts AS newer
            WHERE newer.owner = kept.owner AND newer.name = kept.name
                AND newer.version > kept.version
        )
    );
    RETURN NULL;
END
$$;

CREATE TRIGGER artifacts_of_run AFTER DELETE ON anew.runs
FOR EACH ROW EXECUTE FUNCTION anew.drop_artifacts_v1();
