-- The rungs of the ladders of sweep ?1 as they were judged, the lowest first.
SELECT l.key, c.key, j.n, coalesce(j.broken, '')
FROM ladders h
JOIN judged_rungs j ON j.ladder = h.ladder
JOIN cells l ON l.id = j.ladder
JOIN cells c ON c.id = j.cell
WHERE h.sweep = ?1
ORDER BY l.position, j.position
