-- Which jobs each process has, as it last said: for people who ask whose work waits for a lease to end.

ALTER TABLE workers ADD COLUMN jobs TEXT NOT NULL DEFAULT '[]';  -- JSON
