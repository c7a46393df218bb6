-- The Python code that a program's tasks call.

ALTER TABLE anew.programs ADD COLUMN tools text; -- JSON: where the code of each kind is, as module:name
