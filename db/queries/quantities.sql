-- All metrics by phase and unit.
SELECT id, metric, phase, unit
FROM quantities
