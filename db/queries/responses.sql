-- How metrics of sweep ?1 answer to the levels of numeric factors, in the order of the analysis.
SELECT r.stage, r.condition, r.factor, r.metric, r.levels, coalesce(r.test, ''), r.trend, r.p, r.reason, r.knee, r.knee_before, r.knee_after, r.usl,
       coalesce(b.key, ''), coalesce(s.key, ''), r.state
FROM responded r
LEFT JOIN cells b ON b.id = r.best
LEFT JOIN cells s ON s.id = r.smallest
WHERE r.sweep = ?1
ORDER BY r.id
