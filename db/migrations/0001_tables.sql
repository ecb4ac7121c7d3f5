-- +goose Up

-- Times are UTC integers in nanoseconds since 1970. Values are in base units
-- (s, B, 1/s, cores, shares from 0 to 1). JSON columns hold what plain SQL
-- rarely asks for; json_extract and json_each read them.

PRAGMA application_id = 1129599571;

CREATE TABLE identity (
    -- One row: this file. Owners of containers and processes name it.
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    id       TEXT    NOT NULL,             -- random, kept when the file moves
    created  INTEGER NOT NULL              -- ns
) STRICT;

CREATE TABLE sweeps (
    -- One row a sweep: a matrix that is executed in rounds.
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    hash           TEXT    NOT NULL,       -- of the normalised matrix: its identity
    serial         INTEGER NOT NULL CHECK (serial >= 1), -- among sweeps of one hash
    name           TEXT    NOT NULL,
    question       TEXT    NOT NULL,
    runner         TEXT    NOT NULL,
    seed           TEXT    NOT NULL,       -- decimal; may exceed a signed integer
    rounds         INTEGER NOT NULL CHECK (rounds >= 1), -- planned
    matrix         TEXT    NOT NULL,       -- JSON, normalised
    source         TEXT    NOT NULL,       -- text of the matrix file
    file           TEXT    NOT NULL,       -- as given on the command line
    sha256         TEXT    NOT NULL,       -- of the matrix file, hex
    settings       TEXT    NOT NULL,       -- JSON: the judge section of the last invocation
    placement      TEXT    NOT NULL,       -- JSON: core sets when the sweep began
    host           TEXT    NOT NULL,       -- JSON: the machine on which the sweep began
    began          INTEGER NOT NULL,       -- ns
    UNIQUE (hash, serial)
) STRICT;

CREATE TABLE invocations (
    -- One row a call of "ceteris run" on a sweep.
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    sweep      INTEGER NOT NULL REFERENCES sweeps (id),
    began      INTEGER NOT NULL,           -- ns
    ended      INTEGER,                    -- ns; NULL while it runs, or when it died
    owner      TEXT    NOT NULL,           -- boot/namespace/pid/start/database
    command    TEXT    NOT NULL,           -- JSON array
    version    TEXT    NOT NULL,           -- of ceteris
    share_host INTEGER NOT NULL CHECK (share_host IN (0, 1)),
    placement  TEXT    NOT NULL,           -- JSON
    host       TEXT    NOT NULL,           -- JSON
    images     TEXT    NOT NULL,           -- JSON: what is run, to the identity of what really ran
    outcome    TEXT                        -- NULL while it runs; done, drained, aborted, failed: REASON
) STRICT;
CREATE INDEX invocations_sweep ON invocations (sweep);

CREATE TABLE factors (
    -- One row a factor of a sweep, in order of declaration.
    sweep    INTEGER NOT NULL REFERENCES sweeps (id),
    position INTEGER NOT NULL,             -- from 0
    name     TEXT    NOT NULL,
    unit     TEXT    NOT NULL,             -- for people; '' without one
    PRIMARY KEY (sweep, position),
    UNIQUE (sweep, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE levels (
    -- One row a level of a factor, in order of declaration.
    sweep    INTEGER NOT NULL,
    factor   INTEGER NOT NULL,             -- position of the factor
    position INTEGER NOT NULL,             -- from 0
    level    TEXT    NOT NULL,             -- verbatim: 1.10 stays 1.10
    baseline INTEGER NOT NULL CHECK (baseline IN (0, 1)),
    PRIMARY KEY (sweep, factor, position),
    FOREIGN KEY (sweep, factor) REFERENCES factors (sweep, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE cells (
    -- One row a cell of a sweep: one setting of all factors under one condition.
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    sweep     INTEGER NOT NULL REFERENCES sweeps (id),
    position  INTEGER NOT NULL,            -- in order of declaration, from 0
    key       TEXT    NOT NULL,            -- stage, role, settings, condition
    stage     TEXT    NOT NULL,
    role      TEXT    NOT NULL CHECK (role IN ('baseline', 'control', 'varied', 'corner')),
    factor    TEXT,                        -- what is off the baseline; a+b for a corner
    level     TEXT,
    condition TEXT    NOT NULL,            -- '' without conditions
    label     TEXT    NOT NULL,            -- baseline, control, or factor=level
    CHECK ((role IN ('baseline', 'control')) = (factor IS NULL)),
    CHECK ((factor IS NULL) = (level IS NULL)),
    UNIQUE (sweep, key),
    UNIQUE (sweep, position)
) STRICT;

CREATE TABLE cell_settings (
    -- One row a cell and factor: the level that the factor has in the cell.
    cell     INTEGER NOT NULL REFERENCES cells (id),
    position INTEGER NOT NULL,             -- of the factor
    factor   TEXT    NOT NULL,
    level    TEXT    NOT NULL,
    PRIMARY KEY (cell, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    -- One row an attempt to run a cell in a round. Only state ok counts.
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    sweep       INTEGER NOT NULL REFERENCES sweeps (id),
    invocation  INTEGER REFERENCES invocations (id), -- NULL before it began
    cell        INTEGER NOT NULL REFERENCES cells (id),
    round       INTEGER NOT NULL CHECK (round >= 1),
    attempt     INTEGER NOT NULL CHECK (attempt >= 1),
    seq         INTEGER CHECK (seq >= 1),  -- executed order inside the sweep; NULL before it began
    state       TEXT    NOT NULL CHECK (state IN ('pending', 'running', 'ok', 'invalid', 'failed:subject', 'failed:infrastructure', 'interrupted', 'superseded', 'skipped')),
    reason      TEXT    NOT NULL,          -- free text or the code that decided
    config_hash TEXT    NOT NULL,          -- of everything effective; '' before the end
    began       INTEGER,                   -- ns
    ended       INTEGER,                   -- ns
    window_ns   INTEGER,                   -- length of the measured window, ns
    details     TEXT                       -- JSON: statuses, errors, exits, confirmations
) STRICT;
CREATE INDEX runs_sweep ON runs (sweep, round);
CREATE UNIQUE INDEX runs_order ON runs (sweep, seq) WHERE seq IS NOT NULL;
CREATE UNIQUE INDEX runs_counting ON runs (cell, round) WHERE state IN ('ok', 'failed:subject', 'skipped');

CREATE TABLE observations (
    -- One row a run, phase and metric. Only phase measure is analysed.
    run    INTEGER NOT NULL REFERENCES runs (id),
    phase  TEXT    NOT NULL CHECK (phase IN ('ready', 'ramp', 'warmup', 'measure', 'drain')),
    metric TEXT    NOT NULL,
    value  REAL    NOT NULL,               -- in the base unit
    unit   TEXT    NOT NULL,
    PRIMARY KEY (run, phase, metric)
) STRICT, WITHOUT ROWID;

CREATE TABLE series_columns (
    -- One row a metric of a layout: which metric stands at which place of series_slices.points.
    layout   INTEGER NOT NULL,
    position INTEGER NOT NULL,             -- from 0
    metric   TEXT    NOT NULL,
    PRIMARY KEY (layout, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE series_slices (
    -- One row a run, service and slice; the view series gives one row a value.
    run     INTEGER NOT NULL REFERENCES runs (id),
    service TEXT    NOT NULL,              -- '' for request metrics
    at_ms   INTEGER NOT NULL,              -- start of the slice from the window's start, ms; negative before
    layout  INTEGER NOT NULL,              -- of series_columns
    points  TEXT    NOT NULL,              -- JSON array: values in base units
    PRIMARY KEY (run, service, at_ms)
) STRICT, WITHOUT ROWID;

CREATE TABLE histograms (
    -- One row a run, phase, request and kind: a distribution of durations.
    run      INTEGER NOT NULL REFERENCES runs (id),
    phase    TEXT    NOT NULL,
    request  TEXT    NOT NULL,             -- '' if there is one kind of request
    kind     TEXT    NOT NULL CHECK (kind IN ('success', 'failure', 'service_time')),
    count    INTEGER NOT NULL,             -- values
    overflow INTEGER NOT NULL,             -- of them above 1 h
    blob     BLOB    NOT NULL,             -- HDR V2 compressed, whole microseconds
    PRIMARY KEY (run, phase, request, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE findings (
    -- One row a finding of a guard on a run, on a cell, or on the sweep.
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    sweep     INTEGER NOT NULL REFERENCES sweeps (id),
    run       INTEGER REFERENCES runs (id),  -- NULL for findings on a cell or the sweep
    cell      INTEGER REFERENCES cells (id), -- NULL for findings on the sweep
    judged    TEXT    NOT NULL CHECK (judged IN ('run', 'sweep')), -- with its run, or with the results of the sweep, which replace it
    code      TEXT    NOT NULL,
    severity  TEXT    NOT NULL CHECK (severity IN ('note', 'warn', 'invalid')),
    service   TEXT    NOT NULL,
    metric    TEXT    NOT NULL,
    value     REAL,                        -- measured, in the metric's base unit
    threshold REAL,                        -- in the metric's base unit
    message   TEXT    NOT NULL
) STRICT;
CREATE INDEX findings_sweep ON findings (sweep);
CREATE INDEX findings_run ON findings (run);

CREATE TABLE artifacts (
    -- One row a file kept with a run.
    run     INTEGER NOT NULL REFERENCES runs (id),
    service TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    full    INTEGER NOT NULL,              -- length before capping, B
    size    INTEGER NOT NULL,              -- length of what is kept, uncompressed, B
    gzip    BLOB    NOT NULL,
    PRIMARY KEY (run, service, name)
) STRICT;

CREATE TABLE analyses (
    -- One row an analysed sweep: what the stored intervals and comparisons are made of.
    sweep            INTEGER PRIMARY KEY REFERENCES sweeps (id),
    analysed         INTEGER NOT NULL,     -- ns
    rounds_done      INTEGER NOT NULL,
    planned          INTEGER NOT NULL,     -- rounds
    notes            TEXT    NOT NULL,     -- JSON array: remarks of the analysis for the guards
    settings_hash    TEXT    NOT NULL,
    analysis_version TEXT    NOT NULL
) STRICT;

CREATE TABLE intervals (
    -- One row a cell and metric: the cell alone.
    sweep      INTEGER NOT NULL REFERENCES sweeps (id),
    cell       INTEGER NOT NULL REFERENCES cells (id),
    metric     TEXT    NOT NULL,
    unit       TEXT    NOT NULL,
    n          INTEGER NOT NULL CHECK (n >= 0), -- counting runs
    estimate   REAL,                       -- mean, or geometric mean on logs; NULL without runs
    low        REAL,                       -- NULL below 3 runs
    high       REAL,                       -- NULL below 3 runs
    confidence REAL    NOT NULL CHECK (confidence > 0 AND confidence < 1),
    method     TEXT    CHECK (method IN ('t', 't-log')), -- NULL without an interval
    median     REAL,
    minimum    REAL,
    maximum    REAL,
    cv         REAL,                       -- standard deviation by mean
    run_values TEXT    NOT NULL,           -- JSON array: the value of each run
    flags      TEXT    NOT NULL,           -- JSON array
    state      TEXT    NOT NULL,           -- final, or interim: 3 of 5
    CHECK (n >= 3 OR (low IS NULL AND high IS NULL)),
    CHECK (state = 'final' OR state LIKE 'interim: % of %'),
    PRIMARY KEY (sweep, cell, metric)
) STRICT, WITHOUT ROWID;

CREATE TABLE comparisons (
    -- One row a cell and metric: the cell against the baseline of its stage and condition.
    sweep            INTEGER NOT NULL REFERENCES sweeps (id),
    cell             INTEGER NOT NULL REFERENCES cells (id),
    metric           TEXT    NOT NULL,
    secondary        INTEGER NOT NULL CHECK (secondary IN (0, 1)), -- 1: not the primary metric
    scale            TEXT    NOT NULL CHECK (scale IN ('ratio', 'difference')),
    estimate         REAL,                 -- cell / baseline, or cell - baseline in the metric's base unit
    low              REAL,                 -- NULL below 3 rounds
    high             REAL,                 -- NULL below 3 rounds
    confidence       REAL    NOT NULL CHECK (confidence > 0 AND confidence < 1),
    eq_low           REAL,                 -- the interval for equivalence
    eq_high          REAL,
    p                REAL,
    p_adjusted       REAL,                 -- over the family
    n                INTEGER NOT NULL CHECK (n >= 0), -- rounds compared
    method           TEXT    CHECK (method IN ('pooled+own', 'own', 'welch')), -- NULL without an interval
    verdict          TEXT    NOT NULL CHECK (verdict IN ('better', 'worse', 'higher', 'lower', 'equivalent', 'inconclusive', 'not-tested', 'fails', 'meets', 'misses', 'pending', 'invalid')),
    reason           TEXT    NOT NULL,
    material         TEXT    CHECK (material IN ('proven', 'likely', 'unproven')),
    rounds_needed    INTEGER NOT NULL,     -- still needed, an estimate; 0: not estimated
    flags            TEXT    NOT NULL,     -- JSON array
    state            TEXT    NOT NULL,     -- final, or interim: 3 of 5
    settings_hash    TEXT    NOT NULL,
    analysis_version TEXT    NOT NULL,
    CHECK (n >= 3 OR (low IS NULL AND high IS NULL)),
    CHECK (state = 'final' OR state LIKE 'interim: % of %'),
    PRIMARY KEY (sweep, cell, metric)
) STRICT, WITHOUT ROWID;
