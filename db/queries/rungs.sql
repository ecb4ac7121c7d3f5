-- The rungs of the ladders of sweep ?1, the lowest first.
SELECT l.key, c.key
FROM cells l
JOIN rungs g ON g.ladder = l.id
JOIN cells c ON c.id = g.cell
WHERE l.sweep = ?1
ORDER BY l.position, g.position
