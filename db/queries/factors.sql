-- The levels of sweep ?1 with their factors, in order of declaration.
SELECT f.name, f.unit, f.condition, l.position, l.level, l.baseline, l.unset
FROM factors f
JOIN levels l ON l.sweep = f.sweep AND l.factor = f.position
WHERE f.sweep = ?1
ORDER BY f.position, l.position
