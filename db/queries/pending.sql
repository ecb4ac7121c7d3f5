-- The runs of sweep ?1 that have not begun: stage by stage, round by round, as they were added.
SELECT r.id, r.sweep, coalesce(r.invocation, 0), c.key, r.round, r.attempt, coalesce(r.seq, 0),
       r.state, r.reason, r.config_hash, r.began, r.ended
FROM runs r
JOIN cells c ON c.id = r.cell
JOIN (SELECT stage, min(position) AS first FROM cells WHERE sweep = ?1 GROUP BY stage) s ON s.stage = c.stage
WHERE r.sweep = ?1 AND r.state = 'pending'
ORDER BY s.first, r.round, r.id
