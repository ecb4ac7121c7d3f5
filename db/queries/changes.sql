-- The changes of effects of sweep ?1, in the order of the analysis.
SELECT h.kind, h.metric, h.secondary, c.key, f.key, iif(f.sweep = h.sweep, 0, f.sweep), h.factor, h.level, h.scale, h.effect_before, h.effect_after,
       h.estimate, h.low, h.high, h.eq_low, h.eq_high, h.confidence, h.p, h.p_adjusted, h.n, coalesce(h.method, ''), h.verdict, h.reason,
       coalesce(h.material, ''), h.flags, h.state
FROM changes h
JOIN cells c ON c.id = h.cell
JOIN cells f ON f.id = h.from_cell
WHERE h.sweep = ?1
ORDER BY h.id
