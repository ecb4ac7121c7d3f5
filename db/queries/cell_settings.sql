-- The settings of the cells of sweep ?1, factors in order of declaration.
SELECT c.key, s.factor, s.level, s.off
FROM cells c
JOIN cell_settings s ON s.cell = c.id
WHERE c.sweep = ?1
ORDER BY c.position, s.position
