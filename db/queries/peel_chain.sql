-- The sweeps of the peel of sweep ?1 from its first to its newest: of several that follow one, the newest.
WITH RECURSIVE back (id, depth) AS (
    SELECT ?1, 0
    UNION ALL
    SELECT s.peel_parent, b.depth + 1 FROM back b JOIN sweeps s ON s.id = b.id WHERE s.peel_parent IS NOT NULL
), ahead (id, depth) AS (
    SELECT ?1, 0
    UNION ALL
    SELECT (SELECT max(s.id) FROM sweeps s WHERE s.peel_parent = a.id), a.depth + 1 FROM ahead a WHERE EXISTS (SELECT 1 FROM sweeps s WHERE s.peel_parent = a.id)
)
SELECT id FROM (SELECT id, -depth AS place FROM back UNION SELECT id, depth FROM ahead)
ORDER BY place
