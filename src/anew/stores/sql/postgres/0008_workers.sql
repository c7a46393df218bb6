-- Who works on this database, as each process last said; and the questions that wait for people.

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
    seen_at    bigint NOT NULL
) WITH (fillfactor = 50);

CREATE INDEX jobs_asking ON anew.jobs (due_at, run) WHERE reason = 'person';
