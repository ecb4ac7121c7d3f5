-- +goose Up

-- Rows of a service level, slo:METRIC, hold the cell alone: no ratio, and nothing that
-- something could mask. Their unit is that of METRIC.

DROP VIEW masking;
DROP VIEW comparison_table;

CREATE VIEW comparison_table AS
-- One row a sweep, cell and metric: the cell against the baseline of its stage and condition, with the verdict. estimate, low and high are a ratio or a difference, as scale says; of a service level (slo:METRIC) they are the cell's own METRIC, in its unit.
SELECT k.sweep, c.stage, c.condition, c.role, c.factor, c.level, c.label, k.metric,
       i.unit, i.estimate AS cell_value, b.baseline_value,
       k.scale, k.n, k.estimate, k.low, k.high, k.confidence, k.p_adjusted, k.method,
       k.verdict, k.material, k.reason, k.rounds_needed, k.flags, k.state
FROM compared k
JOIN cells c ON c.id = k.cell
LEFT JOIN intervals i ON i.sweep = k.sweep AND i.cell = k.cell AND i.metric = iif(k.metric LIKE 'slo:%', substr(k.metric, 5), k.metric)
LEFT JOIN (
    SELECT bi.sweep, bi.metric, bc.stage, bc.condition, bi.estimate AS baseline_value
    FROM intervals bi
    JOIN cells bc ON bc.id = bi.cell AND bc.role = 'baseline'
) b ON b.sweep = k.sweep AND b.metric = k.metric AND b.stage = c.stage AND b.condition = c.condition
ORDER BY k.sweep, k.secondary, k.metric, c.position;

CREATE VIEW masking AS
-- One row a cell off the baseline and metric beside the same factor and level elsewhere: spread is the largest of its ratios over stages and conditions by the smallest. Far from 1: something masks the effect in one of them.
SELECT k.sweep, k.metric, c.role, c.factor, c.level, c.label, c.stage, c.condition,
       k.n, k.estimate, k.low, k.high, k.verdict, k.material, k.state,
       count(*) OVER same AS places,
       max(k.estimate) OVER same / min(k.estimate) OVER same AS spread
FROM compared k
JOIN cells c ON c.id = k.cell AND c.factor IS NOT NULL
WHERE k.scale = 'ratio' AND k.metric NOT LIKE 'slo:%'
WINDOW same AS (PARTITION BY k.sweep, k.metric, c.role, c.factor, c.level)
ORDER BY k.sweep, k.metric, c.factor, c.level, c.position;
