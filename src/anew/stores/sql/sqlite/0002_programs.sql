-- What a program was compiled with besides its document.

ALTER TABLE programs ADD COLUMN dialect TEXT; -- the one somebody chose
ALTER TABLE programs ADD COLUMN files TEXT;   -- JSON: the texts of the files it names, by name
