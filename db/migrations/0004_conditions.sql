-- +goose Up

ALTER TABLE factors ADD COLUMN condition INTEGER NOT NULL DEFAULT 0 CHECK (condition IN (0, 1)); -- 1: crossed with every cell
ALTER TABLE levels ADD COLUMN unset INTEGER NOT NULL DEFAULT 0 CHECK (unset IN (0, 1)); -- 1: null in the matrix, nothing is set
ALTER TABLE cell_settings ADD COLUMN off INTEGER NOT NULL DEFAULT 0 CHECK (off IN (0, 1)); -- 1: not the level of the stage's baseline
ALTER TABLE cells ADD COLUMN summary INTEGER NOT NULL DEFAULT 0 CHECK (summary IN (0, 1)); -- 1: of a ladder as a whole: it has no runs of its own
ALTER TABLE sweeps ADD COLUMN declared TEXT NOT NULL DEFAULT '[]'; -- JSON array: metrics that the matrix itself brings

UPDATE cell_settings SET off = 1
FROM cells c WHERE c.id = cell_settings.cell AND c.factor = cell_settings.factor;

CREATE TABLE rungs (
    -- One row a rung of a ladder: a cell that a summary cell sums up.
    ladder   INTEGER NOT NULL REFERENCES cells (id), -- the summary cell
    position INTEGER NOT NULL,             -- from 0, the lowest first
    cell     INTEGER NOT NULL REFERENCES cells (id),
    rung     TEXT    NOT NULL,             -- level of the condition that rises
    PRIMARY KEY (ladder, position)
) STRICT, WITHOUT ROWID;
