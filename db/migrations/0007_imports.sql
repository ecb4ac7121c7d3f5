-- +goose Up

CREATE TABLE imports (
    -- One row a run that was measured elsewhere: the file that it was made of.
    run       INTEGER PRIMARY KEY REFERENCES runs (id),
    imported  INTEGER NOT NULL,            -- when, ns
    reader    TEXT    NOT NULL,            -- that understood it: k6, jmeter
    tool      TEXT    NOT NULL,            -- the load generator, with its version if it tells one
    format    TEXT    NOT NULL,            -- of its output
    file      TEXT    NOT NULL,            -- as given on the command line; - is standard input
    sha256    TEXT    NOT NULL,            -- of its bytes, hex
    size      INTEGER NOT NULL CHECK (size >= 0), -- B
    skip_ns   INTEGER NOT NULL CHECK (skip_ns >= 0), -- requests that began in the first so many ns are left out, but for responses that came later
    window_ns INTEGER NOT NULL CHECK (window_ns >= 0) -- and those that began so many ns later; 0: none
) STRICT;
CREATE INDEX imports_file ON imports (sha256);

CREATE VIEW imported_runs AS
-- One row a run that was measured elsewhere, whatever its state, with the file that it was made of.
SELECT r.sweep, r.id AS run, c.role, c.factor, c.level, c.label, r.round, r.attempt, r.state, r.reason,
       i.imported, i.reader, i.tool, i.format, i.file, i.sha256, i.size, i.skip_ns, i.window_ns
FROM imports i
JOIN runs r ON r.id = i.run
JOIN cells c ON c.id = r.cell
ORDER BY r.sweep, c.position, r.round, r.id;
