-- All runs of sweep ?1, in order of their ids.
SELECT r.id, r.sweep, coalesce(r.invocation, 0), c.key, r.round, r.attempt, coalesce(r.seq, 0),
       r.state, r.reason, r.config_hash, r.began, r.ended
FROM runs r
JOIN cells c ON c.id = r.cell
WHERE r.sweep = ?1
ORDER BY r.id
