-- The head of sweep ?1.
SELECT id, hash, serial, name, question, runner, seed, rounds, settings, placement, host, declared, stopping, coalesce(peel_parent, 0), began
FROM sweeps
WHERE id = ?1
