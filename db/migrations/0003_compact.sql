-- +goose Up

-- Tables whose rows may be long are kept by row number: in a table WITHOUT ROWID
-- a row over a quarter of a page takes pages of its own. The views come back in a
-- later migration.

DROP VIEW masking;
DROP VIEW ladder;
DROP VIEW excluded_runs;
DROP VIEW run_metrics;
DROP VIEW comparison_table;
DROP VIEW confidence_intervals;
DROP VIEW series;

CREATE TABLE series_times (
    -- One row a slice of an axis. Runs whose slices begin at the same times share an axis; one that was shorter uses its first slices.
    axis     INTEGER NOT NULL,
    position INTEGER NOT NULL,             -- from 0
    at_ms    INTEGER NOT NULL,             -- start of the slice from the window's start, ms; negative before
    PRIMARY KEY (axis, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX series_times_first ON series_times (at_ms) WHERE position = 0;

CREATE TABLE series_points (
    -- One row a run, service and metric; the view series gives one row a value.
    run     INTEGER NOT NULL REFERENCES runs (id),
    service TEXT    NOT NULL,              -- '' for request metrics
    metric  TEXT    NOT NULL,
    axis    INTEGER NOT NULL,              -- of series_times
    slices  INTEGER NOT NULL,              -- of the axis, from its first on
    base    REAL    NOT NULL,              -- is added to each point
    per     REAL    NOT NULL,              -- then divides it: values in base units
    points  TEXT,                          -- JSON array along the axis, null where a slice has no value; NULL if all are 0
    PRIMARY KEY (run, service, metric)
) STRICT;

INSERT INTO series_times (axis, position, at_ms)
SELECT dense_rank() OVER (ORDER BY run, service),
       row_number() OVER (PARTITION BY run, service ORDER BY at_ms) - 1,
       at_ms
FROM series_slices;

INSERT INTO series_points (run, service, metric, axis, slices, base, per, points)
SELECT run, service, metric, axis, count(*), 0, 1, json_group_array(value)
FROM (
    SELECT s.run, s.service, w.metric, s.axis, json_extract(s.points, '$[' || c.position || ']') AS value
    FROM (SELECT *, dense_rank() OVER (ORDER BY run, service) AS axis FROM series_slices) s
    JOIN (SELECT DISTINCT i.run, i.service, n.metric FROM series_slices i JOIN series_columns n ON n.layout = i.layout) w
        ON w.run = s.run AND w.service = s.service
    LEFT JOIN series_columns c ON c.layout = s.layout AND c.metric = w.metric
    ORDER BY s.run, s.service, w.metric, s.at_ms
)
GROUP BY run, service, metric;

DROP TABLE series_slices;
DROP TABLE series_columns;

CREATE TABLE quantities (
    -- One row a metric in a phase and a unit that was ever observed.
    id     INTEGER PRIMARY KEY,
    metric TEXT    NOT NULL,
    phase  TEXT    NOT NULL CHECK (phase IN ('ready', 'ramp', 'warmup', 'measure', 'drain')),
    unit   TEXT    NOT NULL,
    UNIQUE (metric, phase, unit)
) STRICT;

CREATE TABLE observed (
    -- One row a run and quantity. Read the view observations instead.
    run      INTEGER NOT NULL REFERENCES runs (id),
    quantity INTEGER NOT NULL REFERENCES quantities (id),
    value    REAL    NOT NULL,             -- in the base unit
    PRIMARY KEY (run, quantity)
) STRICT, WITHOUT ROWID;

INSERT INTO quantities (metric, phase, unit) SELECT DISTINCT metric, phase, unit FROM observations;
INSERT INTO observed (run, quantity, value)
SELECT o.run, q.id, o.value
FROM observations o
JOIN quantities q ON q.metric = o.metric AND q.phase = o.phase AND q.unit = o.unit;
DROP TABLE observations;

ALTER TABLE histograms RENAME TO old_histograms;
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
) STRICT;
INSERT INTO histograms (run, phase, request, kind, count, overflow, blob)
SELECT run, phase, request, kind, count, overflow, blob FROM old_histograms;
DROP TABLE old_histograms;

ALTER TABLE intervals RENAME TO old_intervals;
CREATE TABLE intervals (
    -- One row a cell and metric: the cell alone.
    sweep      INTEGER NOT NULL REFERENCES sweeps (id),
    metric     TEXT    NOT NULL,
    cell       INTEGER NOT NULL REFERENCES cells (id),
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
    state      TEXT    NOT NULL,           -- final, or interim: 3 of 5
    flags      TEXT    NOT NULL,           -- JSON array
    run_values TEXT    NOT NULL,           -- JSON array: the value of each run
    CHECK (n >= 3 OR (low IS NULL AND high IS NULL)),
    CHECK (state = 'final' OR state LIKE 'interim: % of %'),
    PRIMARY KEY (sweep, metric, cell)
) STRICT;
INSERT INTO intervals (sweep, metric, cell, unit, n, estimate, low, high, confidence, method, median, minimum, maximum, cv, state, flags, run_values)
SELECT sweep, metric, cell, unit, n, estimate, low, high, confidence, method, median, minimum, maximum, cv, state, flags, run_values FROM old_intervals;
DROP TABLE old_intervals;

-- What all comparisons of a sweep have in common stands in analyses; the view
-- comparisons adds it.
CREATE TABLE compared (
    -- One row a cell and metric: the cell against the baseline of its stage and condition. Read the view comparisons instead.
    sweep         INTEGER NOT NULL REFERENCES analyses (sweep),
    cell          INTEGER NOT NULL REFERENCES cells (id),
    metric        TEXT    NOT NULL,
    secondary     INTEGER NOT NULL CHECK (secondary IN (0, 1)), -- 1: not the primary metric
    scale         TEXT    NOT NULL CHECK (scale IN ('ratio', 'difference')),
    estimate      REAL,                    -- cell / baseline, or cell - baseline in the metric's base unit
    low           REAL,                    -- NULL below 3 rounds
    high          REAL,                    -- NULL below 3 rounds
    confidence    REAL    NOT NULL CHECK (confidence > 0 AND confidence < 1),
    eq_low        REAL,                    -- the interval for equivalence
    eq_high       REAL,
    p             REAL,
    p_adjusted    REAL,                    -- over the family
    n             INTEGER NOT NULL CHECK (n >= 0), -- rounds compared
    method        TEXT    CHECK (method IN ('pooled+own', 'own', 'welch')), -- NULL without an interval
    verdict       TEXT    NOT NULL CHECK (verdict IN ('better', 'worse', 'higher', 'lower', 'equivalent', 'inconclusive', 'not-tested', 'fails', 'meets', 'misses', 'pending', 'invalid')),
    reason        TEXT    NOT NULL,
    material      TEXT    CHECK (material IN ('proven', 'likely', 'unproven')),
    rounds_needed INTEGER NOT NULL,        -- still needed, an estimate; 0: not estimated
    flags         TEXT    NOT NULL,        -- JSON array
    state         TEXT    NOT NULL,        -- final, or interim: 3 of 5
    CHECK (n >= 3 OR (low IS NULL AND high IS NULL)),
    CHECK (state = 'final' OR state LIKE 'interim: % of %'),
    PRIMARY KEY (sweep, cell, metric)
) STRICT, WITHOUT ROWID;
INSERT INTO compared (sweep, cell, metric, secondary, scale, estimate, low, high, confidence, eq_low, eq_high, p, p_adjusted, n, method, verdict, reason, material, rounds_needed, flags, state)
SELECT sweep, cell, metric, secondary, scale, estimate, low, high, confidence, eq_low, eq_high, p, p_adjusted, n, method, verdict, reason, material, rounds_needed, flags, state
FROM comparisons;
DROP TABLE comparisons;

-- What is asked once a run must not take longer the more runs there are.
CREATE INDEX runs_pending ON runs (sweep, round) WHERE state = 'pending';
DROP INDEX findings_sweep;
CREATE INDEX findings_sweep ON findings (sweep, judged, severity);
