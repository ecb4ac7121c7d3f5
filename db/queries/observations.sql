-- What was observed in the measured windows of sweep ?1, run by run.
SELECT o.run, o.quantity, o.value
FROM runs r
JOIN observed o ON o.run = r.id
JOIN quantities q ON q.id = o.quantity AND q.phase = 'measure'
WHERE r.sweep = ?1
ORDER BY r.round, r.id, o.quantity
