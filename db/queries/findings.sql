-- All findings of sweep ?1: on the sweep, on cells, then on runs in their executed order.
SELECT f.code, f.severity, coalesce(f.run, 0), coalesce(c.key, ''), f.service, f.metric, f.value, f.threshold, f.message,
       coalesce(c.label, ''), coalesce(c.condition, ''), coalesce(r.round, 0), coalesce(r.state, '')
FROM findings f
LEFT JOIN runs r ON r.id = f.run
LEFT JOIN cells c ON c.id = f.cell
WHERE f.sweep = ?1
ORDER BY f.run IS NOT NULL, f.cell IS NOT NULL, r.seq, f.id
