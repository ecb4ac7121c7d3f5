-- What the ladders of sweep ?1 showed, in order of declaration.
SELECT c.key, coalesce(l.status, ''), l.tail, coalesce(s.key, ''), coalesce(b.key, ''), coalesce(t.key, ''), coalesce(m.key, ''), l.above, l.state
FROM ladders l
JOIN cells c ON c.id = l.ladder
LEFT JOIN cells s ON s.id = l.sustained
LEFT JOIN cells b ON b.id = l.broken
LEFT JOIN cells t ON t.id = l.tail_first
LEFT JOIN cells m ON m.id = l.median_first
WHERE l.sweep = ?1
ORDER BY c.position
