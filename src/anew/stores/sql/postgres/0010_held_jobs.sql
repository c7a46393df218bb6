-- Which jobs each process has, as it last said: for people who ask whose work waits for a lease to end.

ALTER TABLE anew.workers ADD COLUMN jobs text NOT NULL DEFAULT '[]';  -- JSON
