-- The cells of sweep ?1, in order of declaration, those of its ladders last.
SELECT key, stage, role, coalesce(factor, ''), coalesce(level, ''), condition
FROM cells
WHERE sweep = ?1
ORDER BY position
