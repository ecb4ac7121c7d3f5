-- The intervals of sweep ?1, by metric, cells in order of declaration.
SELECT c.key, i.metric, i.unit, i.n, i.estimate, i.low, i.high, i.confidence, coalesce(i.method, ''),
       i.median, i.minimum, i.maximum, i.cv, i.run_values, i.flags, i.state
FROM intervals i
JOIN cells c ON c.id = i.cell
WHERE i.sweep = ?1
ORDER BY i.metric, c.position
