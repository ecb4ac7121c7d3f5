-- The newest calibration of the host ?1 for the metric ?2, those of sweep ?3 aside.
SELECT sweep, host, name, metric, scale, made, copies, rounds, block, comparisons, alarms, alarm_limit, families, family_alarms, sd, shows
FROM calibrated
WHERE host = ?1 AND metric = ?2 AND sweep <> ?3
ORDER BY made DESC, sweep DESC
LIMIT 1
