-- +goose Up

-- What is concluded beside intervals and comparisons: changes of effects, answers to
-- the levels of a factor, ladders, and what identical cells showed on a host. Results
-- of a sweep that was stopped say so in their state.

DROP VIEW masking;
DROP VIEW ladder;
DROP VIEW comparison_table;
DROP VIEW confidence_intervals;
DROP VIEW comparisons;

ALTER TABLE sweeps ADD COLUMN stopping TEXT NOT NULL DEFAULT '{}'; -- JSON: the rule by which rounds are enough; {}: a fixed number
ALTER TABLE sweeps ADD COLUMN met INTEGER NOT NULL DEFAULT 0 CHECK (met IN (0, 1)); -- 1: its rule is met, rounds are those that were enough
ALTER TABLE sweeps ADD COLUMN peel_parent INTEGER REFERENCES sweeps (id); -- the sweep before it in a peel; NULL without
CREATE INDEX sweeps_peel ON sweeps (peel_parent) WHERE peel_parent IS NOT NULL;
CREATE INDEX cells_controls ON cells (sweep) WHERE role = 'control';
CREATE INDEX cells_baselines ON cells (sweep, stage, condition) WHERE role = 'baseline';
CREATE INDEX runs_cell ON runs (cell, round);

ALTER TABLE analyses ADD COLUMN settings TEXT NOT NULL DEFAULT '{}'; -- JSON: the settings in force
ALTER TABLE analyses ADD COLUMN stop TEXT NOT NULL DEFAULT '{}'; -- JSON: how the sweep stands by its rule
UPDATE analyses SET settings = (SELECT s.settings FROM sweeps s WHERE s.id = analyses.sweep);

ALTER TABLE intervals RENAME TO old_intervals;
CREATE TABLE intervals (
    -- One row a cell and metric: the cell alone.
    sweep      INTEGER NOT NULL REFERENCES analyses (sweep),
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
    state      TEXT    NOT NULL,           -- final, interim: 3 of 5, or stopped: 3 of 5
    flags      TEXT    NOT NULL,           -- JSON array
    run_values TEXT    NOT NULL,           -- JSON array: the value of each run
    CHECK (n >= 3 OR (low IS NULL AND high IS NULL)),
    CHECK (state = 'final' OR state LIKE 'interim: % of %' OR state LIKE 'stopped: % of %'),
    PRIMARY KEY (sweep, metric, cell)
) STRICT;
INSERT INTO intervals (sweep, metric, cell, unit, n, estimate, low, high, confidence, method, median, minimum, maximum, cv, state, flags, run_values)
SELECT sweep, metric, cell, unit, n, estimate, low, high, confidence, method, median, minimum, maximum, cv, state, flags, run_values FROM old_intervals;
DROP TABLE old_intervals;

ALTER TABLE compared RENAME TO old_compared;
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
    state         TEXT    NOT NULL,        -- final, interim: 3 of 5, or stopped: 3 of 5
    CHECK (n >= 3 OR (low IS NULL AND high IS NULL)),
    CHECK (state = 'final' OR state LIKE 'interim: % of %' OR state LIKE 'stopped: % of %'),
    PRIMARY KEY (sweep, cell, metric)
) STRICT, WITHOUT ROWID;
INSERT INTO compared (sweep, cell, metric, secondary, scale, estimate, low, high, confidence, eq_low, eq_high, p, p_adjusted, n, method, verdict, reason, material, rounds_needed, flags, state)
SELECT sweep, cell, metric, secondary, scale, estimate, low, high, confidence, eq_low, eq_high, p, p_adjusted, n, method, verdict, reason, material, rounds_needed, flags, state
FROM old_compared;
DROP TABLE old_compared;

CREATE TABLE changes (
    -- One row an effect in one place against the same effect in another: where another factor is off its baseline too, under another condition, in another stage.
    id            INTEGER PRIMARY KEY,     -- in the order of the analysis
    sweep         INTEGER NOT NULL REFERENCES analyses (sweep),
    kind          TEXT    NOT NULL CHECK (kind IN ('interaction', 'condition', 'stage')),
    metric        TEXT    NOT NULL,
    secondary     INTEGER NOT NULL CHECK (secondary IN (0, 1)), -- 1: not the primary metric
    cell          INTEGER NOT NULL REFERENCES cells (id), -- in the later place
    from_cell     INTEGER NOT NULL REFERENCES cells (id), -- in the earlier place; of a peel, in the sweep before
    factor        TEXT    NOT NULL,        -- whose effect it is
    level         TEXT    NOT NULL,        -- of that factor
    scale         TEXT    NOT NULL CHECK (scale IN ('ratio', 'difference')),
    effect_before REAL,                    -- the effect in the earlier place
    effect_after  REAL,                    -- the effect in the later place
    estimate      REAL,                    -- effect_after / effect_before, or effect_after - effect_before
    low           REAL,                    -- NULL below 3 rounds
    high          REAL,                    -- NULL below 3 rounds
    confidence    REAL    NOT NULL CHECK (confidence > 0 AND confidence < 1),
    eq_low        REAL,                    -- the interval for equivalence
    eq_high       REAL,
    p             REAL,
    p_adjusted    REAL,
    n             INTEGER NOT NULL CHECK (n >= 0), -- rounds compared; between stages the smaller number
    method        TEXT    CHECK (method IN ('own', 'welch')), -- NULL without an interval
    verdict       TEXT    NOT NULL CHECK (verdict IN ('higher', 'lower', 'equivalent', 'inconclusive', 'not-tested', 'pending')),
    reason        TEXT    NOT NULL,        -- why it is not tested
    material      TEXT    CHECK (material IN ('proven', 'likely', 'unproven')), -- of the change itself
    flags         TEXT    NOT NULL,        -- JSON array; Reversal: the two effects point in opposite directions
    state         TEXT    NOT NULL,        -- final, interim: 3 of 5, or stopped: 3 of 5
    CHECK (n >= 3 OR (low IS NULL AND high IS NULL)),
    CHECK (state = 'final' OR state LIKE 'interim: % of %' OR state LIKE 'stopped: % of %'),
    UNIQUE (sweep, kind, metric, cell, from_cell, factor, level)
) STRICT;

CREATE TABLE responded (
    -- One row a numeric factor and metric, in one stage under one condition: how the metric answers to the factor's levels. Read the view responses instead.
    id          INTEGER PRIMARY KEY,       -- in the order of the analysis
    sweep       INTEGER NOT NULL REFERENCES analyses (sweep),
    stage       TEXT    NOT NULL,
    condition   TEXT    NOT NULL,
    factor      TEXT    NOT NULL,
    metric      TEXT    NOT NULL,
    levels      TEXT    NOT NULL,          -- JSON array, the smallest level first: cell (its key), level, value, n, mean, fit
    trend       TEXT    NOT NULL CHECK (trend IN ('rising', 'falling', 'none', 'not-tested')),
    test        TEXT    CHECK (test IN ('page', 'jonckheere')), -- NULL: not tested
    p           REAL,                      -- of the trend, two-sided
    reason      TEXT    NOT NULL,          -- why there is no test
    knee        REAL,                      -- level at which a broken stick in log2(level) bends; NULL where none can be told
    knee_before REAL,                      -- slope before it, per doubling of the level
    knee_after  REAL,
    usl         TEXT,                      -- JSON: the fit of the Universal Scalability Law; NULL without
    usl_peak    REAL,                      -- level at which it peaks; NULL where none can be told
    best        INTEGER REFERENCES cells (id), -- with the best mean; NULL for a metric without a better direction
    smallest    INTEGER REFERENCES cells (id), -- with the smallest level that is equivalent to the best
    state       TEXT    NOT NULL,          -- final, interim: 3 of 5, or stopped: 3 of 5
    CHECK ((knee IS NULL) = (knee_before IS NULL) AND (knee IS NULL) = (knee_after IS NULL)),
    CHECK (state = 'final' OR state LIKE 'interim: % of %' OR state LIKE 'stopped: % of %'),
    UNIQUE (sweep, stage, condition, factor, metric)
) STRICT;

CREATE TABLE ladders (
    -- One row a ladder that was analysed: how far it was climbed.
    ladder       INTEGER PRIMARY KEY REFERENCES cells (id), -- the summary cell
    sweep        INTEGER NOT NULL REFERENCES analyses (sweep),
    status       TEXT    CHECK (status IN ('found', 'not-reached', 'below-ladder', 'client-limited', 'non-monotone')), -- NULL: nothing is known yet
    tail         TEXT    NOT NULL,         -- the metric that is the tail
    sustained    INTEGER REFERENCES cells (id), -- the last rung before the first that is broken; NULL: none
    broken       INTEGER REFERENCES cells (id), -- the first rung that is not sustained
    tail_first   INTEGER REFERENCES cells (id), -- the first whose tail has moved
    median_first INTEGER REFERENCES cells (id), -- the first whose median has moved
    above        REAL,                     -- every rung is sustained: the rate offered at the top, 1/s
    state        TEXT    NOT NULL,         -- final, interim: 3 of 5, or stopped: 3 of 5
    CHECK (state = 'final' OR state LIKE 'interim: % of %' OR state LIKE 'stopped: % of %')
) STRICT;
CREATE INDEX ladders_sweep ON ladders (sweep);

CREATE TABLE judged_rungs (
    -- One row a rung of a ladder that was analysed.
    ladder   INTEGER NOT NULL REFERENCES ladders (ladder),
    position INTEGER NOT NULL,             -- from 0, the lowest first
    cell     INTEGER NOT NULL REFERENCES cells (id),
    n        INTEGER NOT NULL CHECK (n >= 0), -- counting runs
    broken   TEXT    CHECK (broken IN ('failed', 'generator', 'dropped', 'errors', 'achieved', 'objective')), -- why it is not sustained; NULL if it is, or if nothing is known
    PRIMARY KEY (ladder, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE calibrated (
    -- One row a sweep of identical cells and metric: how often the method cries wolf on its host, and what it can show there. Read the view calibrations instead.
    sweep         INTEGER NOT NULL REFERENCES sweeps (id),
    metric        TEXT    NOT NULL,
    scale         TEXT    NOT NULL CHECK (scale IN ('ratio', 'difference')), -- on which the copies were compared
    host          TEXT    NOT NULL,        -- by what its numbers depend on, 16 hex digits
    name          TEXT    NOT NULL,        -- of the matrix
    made          INTEGER NOT NULL,        -- when, ns
    copies        INTEGER NOT NULL,        -- identical cells, the baseline among them
    rounds        INTEGER NOT NULL,        -- of the whole sweep
    block         INTEGER NOT NULL,        -- rounds of each comparison
    comparisons   INTEGER NOT NULL,        -- of two identical cells, none of which is in another
    alarms        INTEGER NOT NULL CHECK (alarms BETWEEN 0 AND comparisons), -- of them, those with an unadjusted p below 5%
    alarm_limit   INTEGER NOT NULL,        -- alarms from which on the method is not to be trusted here
    families      INTEGER NOT NULL,        -- of all cells, one a block
    family_alarms INTEGER NOT NULL CHECK (family_alarms BETWEEN 0 AND families), -- of them, those with a verdict other than equivalent and inconclusive
    sd            REAL    NOT NULL CHECK (sd >= 0), -- of a round's effect: of the logarithm of a ratio, or of a difference in the metric's base unit
    shows         TEXT    NOT NULL,        -- JSON array: rounds, and the smallest effect (a fraction, or a difference) that they show with a chance of 80%
    PRIMARY KEY (sweep, metric)
) STRICT;
CREATE INDEX calibrated_host ON calibrated (host, metric, made);

CREATE VIEW comparisons AS
-- One row a cell and metric: the cell against the baseline of its stage and condition, with what it was judged by.
SELECT k.sweep, k.cell, k.metric, k.secondary, k.scale, k.estimate, k.low, k.high, k.confidence, k.eq_low, k.eq_high,
       k.p, k.p_adjusted, k.n, k.method, k.verdict, k.reason, k.material, k.rounds_needed, k.flags, k.state,
       a.settings_hash, a.analysis_version
FROM compared k
JOIN analyses a ON a.sweep = k.sweep;

CREATE VIEW confidence_intervals AS
-- One row a sweep, cell and metric: the cell alone, with the interval of its mean. low and high are NULL below 3 runs.
SELECT i.sweep, c.stage, c.condition, c.role, c.factor, c.level, i.metric, i.unit, i.n,
       i.estimate, i.low, i.high, i.confidence, i.method, i.state, a.settings_hash, a.analysis_version
FROM intervals i
JOIN cells c ON c.id = i.cell
JOIN analyses a ON a.sweep = i.sweep
ORDER BY i.sweep, i.metric, c.position;

CREATE VIEW comparison_table AS
-- One row a sweep, cell and metric: the cell against the baseline of its stage and condition, with the verdict. estimate, low and high are a ratio or a difference, as scale says; of a service level (slo:METRIC) they are the cell's own METRIC, in its unit.
SELECT k.sweep, c.stage, c.condition, c.role, c.factor, c.level, c.label, k.metric,
       i.unit, i.estimate AS cell_value,
       (SELECT bi.estimate FROM cells bc JOIN intervals bi ON bi.sweep = bc.sweep AND bi.metric = k.metric AND bi.cell = bc.id
        WHERE bc.sweep = k.sweep AND bc.role = 'baseline' AND bc.stage = c.stage AND bc.condition = c.condition) AS baseline_value,
       k.scale, k.n, k.estimate, k.low, k.high, k.confidence, k.p_adjusted, k.method,
       k.verdict, k.material, k.reason, k.rounds_needed, k.flags, k.state, a.settings_hash, a.analysis_version
FROM compared k
JOIN cells c ON c.id = k.cell
JOIN analyses a ON a.sweep = k.sweep
LEFT JOIN intervals i ON i.sweep = k.sweep AND i.cell = k.cell AND i.metric = iif(k.metric LIKE 'slo:%', substr(k.metric, 5), k.metric)
ORDER BY k.sweep, k.secondary, k.metric, c.position;

CREATE VIEW interactions AS
-- One row an effect of of_factor that is compared between two places of one sweep and stage: kind interaction, where another factor is off its baseline too, by the effect alone; kind condition, under one condition, by the effect under the first. estimate is effect_after by effect_before, or the difference, as scale says. The flag Reversal: the two point in opposite directions.
SELECT h.sweep, h.kind, c.stage, c.condition, c.role, c.factor, c.level, c.label, h.metric, h.secondary,
       h.factor AS of_factor, h.level AS of_level, f.label AS from_label, f.condition AS from_condition,
       h.scale, h.effect_before, h.effect_after, h.estimate, h.low, h.high, h.confidence, h.eq_low, h.eq_high,
       h.p, h.p_adjusted, h.n, h.method, h.verdict, h.material, h.reason, h.flags, h.state,
       a.settings_hash, a.analysis_version
FROM changes h
JOIN cells c ON c.id = h.cell
JOIN cells f ON f.id = h.from_cell
JOIN analyses a ON a.sweep = h.sweep
WHERE h.kind IN ('interaction', 'condition')
ORDER BY h.sweep, h.id;

CREATE VIEW masking AS
-- One row a cell off the baseline and metric, the stages of a sweep and of a peel one below the other: the effect there, and change, by which it differs from the effect in the stage before, with its interval. chain is the first sweep of the peel, or the sweep. spread is the largest of the ratios to the same level over stages and conditions of the sweep by the smallest. Where the change is clear, or spread far from 1, something masks the effect in one of them.
WITH RECURSIVE chains (chain, sweep) AS (
    SELECT id, id FROM sweeps WHERE peel_parent IS NULL
    UNION ALL
    SELECT n.chain, s.id FROM chains n JOIN sweeps s ON s.peel_parent = n.sweep
)
SELECT n.chain, n.sweep, k.metric, c.role, c.factor, c.level, c.label, c.stage, c.condition,
       k.scale, k.n, k.estimate, k.low, k.high, k.verdict, k.material, k.state,
       f.stage AS from_stage, h.effect_before, h.estimate AS change, h.low AS change_low, h.high AS change_high,
       h.verdict AS change_verdict, h.material AS change_material, h.reason AS change_reason, h.flags AS change_flags,
       count(*) OVER same AS places,
       iif(k.scale = 'ratio', max(k.estimate) OVER same / min(k.estimate) OVER same, NULL) AS spread,
       a.settings_hash, a.analysis_version
FROM chains n
CROSS JOIN compared k ON k.sweep = n.sweep -- in this order, so that only the comparisons of the chain are read
JOIN cells c ON c.id = k.cell AND c.factor IS NOT NULL
JOIN analyses a ON a.sweep = k.sweep
LEFT JOIN changes h ON h.sweep = k.sweep AND h.kind = 'stage' AND h.metric = k.metric AND h.cell = k.cell
LEFT JOIN cells f ON f.id = h.from_cell
WHERE k.metric NOT LIKE 'slo:%'
WINDOW same AS (
    PARTITION BY n.chain, n.sweep, k.metric, c.role, c.factor, c.level,
        (SELECT group_concat(b.level, '+') -- off which level: a factor that is moved has another effect, and nothing masks it
         FROM cells z
         JOIN cell_settings b ON b.cell = z.id
         JOIN cell_settings o ON o.cell = c.id AND o.off = 1 AND o.factor = b.factor
         WHERE z.sweep = c.sweep AND z.role = 'baseline' AND z.stage = c.stage AND z.condition = c.condition)
)
ORDER BY n.chain, k.metric, c.factor, c.level, c.condition, n.sweep, c.position;

CREATE VIEW responses AS
-- One row a numeric factor and metric, in one stage under one condition: how the metric answers to the levels. trend with the p of its test; knee, the level at which it bends; usl_peak, that at which the Universal Scalability Law peaks; best, the level with the best mean, and smallest, the smallest that is equivalent to it.
SELECT r.sweep, r.stage, r.condition, r.factor, r.metric, r.trend, r.test, r.p, r.reason,
       r.knee, r.knee_before, r.knee_after, r.usl_peak, r.usl,
       (SELECT s.level FROM cell_settings s WHERE s.cell = r.best AND s.factor = r.factor) AS best,
       (SELECT s.level FROM cell_settings s WHERE s.cell = r.smallest AND s.factor = r.factor) AS smallest,
       r.state, a.settings_hash, a.analysis_version
FROM responded r
JOIN analyses a ON a.sweep = r.sweep
ORDER BY r.sweep, r.id;

CREATE VIEW response_levels AS
-- One row a level of a response, the smallest first: value is the level as a number, mean is geometric where the metric is compared on logs, fit follows the trend.
SELECT r.sweep, r.stage, r.condition, r.factor, r.metric, l.value ->> 'level' AS level, l.value ->> 'value' AS value,
       l.value ->> 'n' AS n, l.value ->> 'mean' AS mean, l.value ->> 'fit' AS fit, r.state, a.settings_hash, a.analysis_version
FROM responded r
JOIN analyses a ON a.sweep = r.sweep
JOIN json_each(r.levels) l
ORDER BY r.sweep, r.id, l.key;

CREATE VIEW ladder AS
-- One row a rung of a ladder: what was offered and what came of it, means over the counting runs, and whether it is sustained as it was judged, with the reason if not (broken). condition is that of the whole ladder; sustained_to, broken_from, tail_first_at and median_first_at are rungs of it. Rates in 1/s, shares from 0 to 1, latency in s.
SELECT q.sweep, q.stage, q.condition, q.role, q.factor, q.level, q.label, q.rung, q.n,
       q.offered, q.achieved, q.dropped, q.error_rate, q.latency_p50, q.latency_p99,
       CASE WHEN j.broken IS NOT NULL THEN 0 WHEN j.n > 0 THEN 1 END AS sustained, j.broken,
       l.status, l.above, l.tail,
       (SELECT g.rung FROM rungs g WHERE g.ladder = l.ladder AND g.cell = l.sustained) AS sustained_to,
       (SELECT g.rung FROM rungs g WHERE g.ladder = l.ladder AND g.cell = l.broken) AS broken_from,
       (SELECT g.rung FROM rungs g WHERE g.ladder = l.ladder AND g.cell = l.tail_first) AS tail_first_at,
       (SELECT g.rung FROM rungs g WHERE g.ladder = l.ladder AND g.cell = l.median_first) AS median_first_at,
       l.state, a.settings_hash, a.analysis_version
FROM (
    SELECT c.sweep, c.stage, c.condition, c.role, c.factor, c.level, c.label, g.rung, g.ladder, g.cell,
           c.position AS ladder_position, g.position AS rung_position,
           count(DISTINCT r.id) AS n,
           avg(o.value) FILTER (WHERE m.metric = 'offered')     AS offered,
           avg(o.value) FILTER (WHERE m.metric = 'throughput')  AS achieved,
           avg(o.value) FILTER (WHERE m.metric = 'dropped')     AS dropped,
           avg(o.value) FILTER (WHERE m.metric = 'error_rate')  AS error_rate,
           avg(o.value) FILTER (WHERE m.metric = 'latency_p50') AS latency_p50,
           avg(o.value) FILTER (WHERE m.metric = 'latency_p99') AS latency_p99
    FROM rungs g
    JOIN cells c ON c.id = g.ladder
    LEFT JOIN runs r ON r.cell = g.cell AND r.state = 'ok'
    LEFT JOIN observed o ON o.run = r.id
    LEFT JOIN quantities m ON m.id = o.quantity AND m.phase = 'measure'
    GROUP BY c.sweep, g.ladder, g.position
) q
LEFT JOIN ladders l ON l.ladder = q.ladder
LEFT JOIN judged_rungs j ON j.ladder = q.ladder AND j.cell = q.cell
LEFT JOIN analyses a ON a.sweep = l.sweep
ORDER BY q.sweep, q.ladder_position, q.rung_position;

CREATE VIEW calibrations AS
-- One row a sweep of identical cells and metric, the newest first: of comparisons of two identical cells so many were alarms (an unadjusted p below 5%); trusted is 0 from alarm_limit on. sd is that of the logarithm of a round's ratio, or of a difference, as scale says.
SELECT k.sweep, k.name, k.metric, k.scale, k.host, s.host ->> 'name' AS host_name, k.made, k.copies, k.rounds, k.block,
       k.comparisons, k.alarms, k.alarm_limit, k.alarms < k.alarm_limit AS trusted, k.families, k.family_alarms, k.sd,
       a.settings_hash, a.analysis_version
FROM calibrated k
JOIN sweeps s ON s.id = k.sweep
LEFT JOIN analyses a ON a.sweep = k.sweep
ORDER BY k.made DESC, k.sweep DESC, k.metric;

CREATE VIEW host_calibrations AS
-- One row a host, metric and number of rounds: the smallest effect (a fraction, or a difference in the base unit, as scale says) that so many rounds show there with a chance of 80%, by the newest calibration of the host.
SELECT k.host, s.host ->> 'name' AS host_name, k.metric, k.scale, w.value ->> 'rounds' AS rounds, w.value ->> 'effect' AS effect, k.sweep, k.made,
       a.settings_hash, a.analysis_version
FROM calibrated k
JOIN sweeps s ON s.id = k.sweep
LEFT JOIN analyses a ON a.sweep = k.sweep
JOIN json_each(k.shows) w
WHERE k.sweep = (SELECT o.sweep FROM calibrated o WHERE o.host = k.host AND o.metric = k.metric ORDER BY o.made DESC, o.sweep DESC LIMIT 1)
ORDER BY k.host, k.metric, w.key;
