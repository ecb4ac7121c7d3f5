-- The newest invocation of sweep ?1.
SELECT images, version, coalesce(outcome, '')
FROM invocations
WHERE sweep = ?1
ORDER BY id DESC
LIMIT 1
