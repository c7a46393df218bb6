-- The Python code that a program's tasks call.

ALTER TABLE programs ADD COLUMN tools TEXT; -- JSON: where the code of each kind is, as module:name
