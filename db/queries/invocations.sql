-- The calls of run on sweep ?1, the first first.
SELECT id, sweep, began, ended, owner, command, version, share_host, coalesce(outcome, '')
FROM invocations
WHERE sweep = ?1
ORDER BY id
