-- The comparisons of sweep ?1: the primary metric, then the others by name, cells in order of declaration.
SELECT c.key, k.metric, k.secondary, k.scale, k.estimate, k.low, k.high, k.eq_low, k.eq_high, k.confidence,
       k.p, k.p_adjusted, k.n, coalesce(k.method, ''), k.verdict, k.reason, coalesce(k.material, ''), k.rounds_needed, k.flags, k.state
FROM compared k
JOIN cells c ON c.id = k.cell
WHERE k.sweep = ?1
ORDER BY k.secondary, k.metric, c.position
