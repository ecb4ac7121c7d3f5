-- What was observed in the measured windows of sweep ?1, run by run.
SELECT o.run, o.metric, o.value, o.unit
FROM runs r
JOIN observations o ON o.run = r.id AND o.phase = 'measure'
WHERE r.sweep = ?1
ORDER BY r.round, r.id, o.metric
