-- +goose Up

-- The first comment of a view is its description; "ceteris sql --views" prints it.

CREATE VIEW series AS
-- One row a run, service, metric and slice: how the run went. at_ms counts from the window's start.
SELECT s.run, s.service, s.metric, t.at_ms, (s.base + p.value) / s.per AS value
FROM series_points s
JOIN json_each(s.points) p
JOIN series_times t ON t.axis = s.axis AND t.position = p.key
WHERE p.value IS NOT NULL
UNION ALL
SELECT s.run, s.service, s.metric, t.at_ms, s.base / s.per
FROM series_points s
JOIN series_times t ON t.axis = s.axis AND t.position < s.slices
WHERE s.points IS NULL;

CREATE VIEW observations AS
-- One row a run, phase and metric. Only phase measure is analysed.
SELECT o.run, q.metric, q.phase, o.value, q.unit
FROM observed o
JOIN quantities q ON q.id = o.quantity;

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
       i.estimate, i.low, i.high, i.confidence, i.method, i.state
FROM intervals i
JOIN cells c ON c.id = i.cell
ORDER BY i.sweep, i.metric, c.position;

CREATE VIEW comparison_table AS
-- One row a sweep, cell and metric: the cell against the baseline of its stage and condition, with the verdict. estimate, low and high are a ratio or a difference, as scale says.
SELECT k.sweep, c.stage, c.condition, c.role, c.factor, c.level, c.label, k.metric,
       i.unit, i.estimate AS cell_value, b.baseline_value,
       k.scale, k.n, k.estimate, k.low, k.high, k.confidence, k.p_adjusted, k.method,
       k.verdict, k.material, k.reason, k.rounds_needed, k.flags, k.state
FROM compared k
JOIN cells c ON c.id = k.cell
LEFT JOIN intervals i ON i.sweep = k.sweep AND i.cell = k.cell AND i.metric = k.metric
LEFT JOIN (
    SELECT bi.sweep, bi.metric, bc.stage, bc.condition, bi.estimate AS baseline_value
    FROM intervals bi
    JOIN cells bc ON bc.id = bi.cell AND bc.role = 'baseline'
) b ON b.sweep = k.sweep AND b.metric = k.metric AND b.stage = c.stage AND b.condition = c.condition
ORDER BY k.sweep, k.secondary, k.metric, c.position;

CREATE VIEW run_metrics AS
-- One row a run and metric of its measured window, whatever the run's state.
SELECT r.sweep, r.id AS run, c.stage, c.condition, c.role, c.factor, c.level, c.label,
       r.round, r.attempt, r.seq, r.state, o.metric, o.value, o.unit
FROM observations o
JOIN runs r ON r.id = o.run
JOIN cells c ON c.id = r.cell
WHERE o.phase = 'measure';

CREATE VIEW excluded_runs AS
-- One row a run that is over and does not count, with the reason and the codes of the findings that exclude it.
SELECT r.sweep, r.id AS run, c.stage, c.condition, c.role, c.factor, c.level, c.label,
       r.round, r.attempt, r.seq, r.state, r.reason,
       (SELECT group_concat(DISTINCT f.code) FROM findings f WHERE f.run = r.id AND f.severity = 'invalid') AS codes
FROM runs r
JOIN cells c ON c.id = r.cell
WHERE r.state NOT IN ('ok', 'pending', 'running')
ORDER BY r.sweep, r.id;

CREATE VIEW ladder AS
-- One row a rung of a ladder: what was offered and what came of it, means over the counting runs. condition is that of the whole ladder. sustained: at least 97% achieved, at most 2% dropped, at most 0.1% errors. Rates in 1/s, shares from 0 to 1, latency in s.
SELECT sweep, stage, condition, role, factor, level, label, rung, n,
       offered, achieved, dropped, error_rate, latency_p50, latency_p99,
       achieved >= 0.97 * offered AND coalesce(dropped, 0) <= 0.02 AND coalesce(error_rate, 0) <= 0.001 AS sustained
FROM (
    SELECT c.sweep, c.stage, c.condition, c.role, c.factor, c.level, c.label, g.rung,
           c.position AS ladder_position, g.position AS rung_position,
           count(DISTINCT r.id) AS n,
           avg(o.value) FILTER (WHERE o.metric = 'offered')     AS offered,
           avg(o.value) FILTER (WHERE o.metric = 'throughput')  AS achieved,
           avg(o.value) FILTER (WHERE o.metric = 'dropped')     AS dropped,
           avg(o.value) FILTER (WHERE o.metric = 'error_rate')  AS error_rate,
           avg(o.value) FILTER (WHERE o.metric = 'latency_p50') AS latency_p50,
           avg(o.value) FILTER (WHERE o.metric = 'latency_p99') AS latency_p99
    FROM rungs g
    JOIN cells c ON c.id = g.ladder
    LEFT JOIN runs r ON r.cell = g.cell AND r.state = 'ok'
    LEFT JOIN observations o ON o.run = r.id AND o.phase = 'measure'
    GROUP BY g.ladder, g.position
)
ORDER BY sweep, ladder_position, rung_position;

CREATE VIEW masking AS
-- One row a cell off the baseline and metric beside the same factor and level elsewhere: spread is the largest of its ratios over stages and conditions by the smallest. Far from 1: something masks the effect in one of them.
SELECT k.sweep, k.metric, c.role, c.factor, c.level, c.label, c.stage, c.condition,
       k.n, k.estimate, k.low, k.high, k.verdict, k.material, k.state,
       count(*) OVER same AS places,
       max(k.estimate) OVER same / min(k.estimate) OVER same AS spread
FROM compared k
JOIN cells c ON c.id = k.cell AND c.factor IS NOT NULL
WHERE k.scale = 'ratio'
WINDOW same AS (PARTITION BY k.sweep, k.metric, c.role, c.factor, c.level)
ORDER BY k.sweep, k.metric, c.factor, c.level, c.position;
