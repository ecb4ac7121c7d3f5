-- How often the control differed from the baseline in the primary metric, by host, in all measured sweeps but ?1, where it was tested; imported ones are of no host.
SELECT s.host, count(k.p), coalesce(sum(k.p < 0.05), 0)
FROM sweeps s
JOIN cells c ON c.sweep = s.id AND c.role = 'control'
JOIN compared k ON k.sweep = s.id AND k.cell = c.id AND k.secondary = 0 AND k.low IS NOT NULL
WHERE s.id <> ?1 AND s.runner <> 'imported'
GROUP BY s.host
