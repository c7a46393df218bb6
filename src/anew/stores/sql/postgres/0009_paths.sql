-- The path that a playbook names in its metadata, so that nobody reads a document to list it.
-- A document that was kept before gets its path when it is registered or run again.

ALTER TABLE anew.programs ADD COLUMN path text COLLATE "C";
CREATE INDEX programs_by_path ON anew.programs (path) WHERE path IS NOT NULL;
