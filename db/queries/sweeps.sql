-- All sweeps with their progress, the newest first.
-- Of a cell and round the latest attempt stands; what it replaced is counted apart.
WITH standing AS (
    SELECT sweep, cell, state, began, ended, max(attempt), count(*) AS attempts
    FROM runs
    GROUP BY cell, round
), settled AS (
    SELECT cell, count(*) AS rounds
    FROM standing
    WHERE state IN ('ok', 'invalid', 'failed:subject', 'skipped')
    GROUP BY cell
)
SELECT s.id, s.hash, s.serial, s.name, s.question, s.runner, s.rounds,
       (SELECT count(*) FROM cells c WHERE c.sweep = s.id AND c.summary = 0),
       (SELECT coalesce(min(coalesce(d.rounds, 0)), 0) FROM cells c LEFT JOIN settled d ON d.cell = c.id WHERE c.sweep = s.id AND c.summary = 0),
       s.began, coalesce(r.run_time, 0),
       coalesce(r.ok, 0), coalesce(r.invalid, 0), coalesce(r.failed, 0), coalesce(r.skipped, 0),
       coalesce(r.running, 0), coalesce(r.pending, 0), coalesce(r.replaced, 0),
       (SELECT count(*) FROM findings f WHERE f.sweep = s.id AND f.severity = 'note'),
       (SELECT count(*) FROM findings f WHERE f.sweep = s.id AND f.severity = 'warn'),
       (SELECT count(*) FROM compared k JOIN cells c ON c.id = k.cell
        WHERE k.sweep = s.id AND k.secondary = 0 AND k.verdict IN ('worse', 'fails') AND c.role <> 'control'),
       (SELECT count(*) FROM invocations i WHERE i.sweep = s.id),
       coalesce(i.owner, ''), coalesce(i.outcome, '')
FROM sweeps s
LEFT JOIN (
    SELECT sweep,
           CAST(avg(ended - began) FILTER (WHERE state IN ('ok', 'invalid', 'failed:subject')) AS INTEGER) AS run_time,
           count(*) FILTER (WHERE state = 'ok') AS ok,
           count(*) FILTER (WHERE state = 'invalid') AS invalid,
           count(*) FILTER (WHERE state = 'failed:subject') AS failed,
           count(*) FILTER (WHERE state = 'skipped') AS skipped,
           count(*) FILTER (WHERE state = 'running') AS running,
           count(*) FILTER (WHERE state = 'pending') AS pending,
           sum(attempts - 1) + count(*) FILTER (WHERE state IN ('superseded', 'interrupted', 'failed:infrastructure')) AS replaced
    FROM standing
    GROUP BY sweep
) r ON r.sweep = s.id
LEFT JOIN invocations i ON i.id = (SELECT max(id) FROM invocations WHERE sweep = s.id)
ORDER BY s.id DESC
