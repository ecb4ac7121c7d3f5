-- By what a command line names sweeps, the newest first.
SELECT id, name, hash
FROM sweeps
ORDER BY id DESC
