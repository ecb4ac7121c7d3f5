-- The sweeps that follow sweep ?1 in a peel, the oldest first.
SELECT id FROM sweeps WHERE peel_parent = ?1 ORDER BY id
