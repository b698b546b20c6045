-- What left the event log, and what has to stay.

-- name: last_archive
-- The archive that the log goes on from.
SELECT size, edge, note, digest, at FROM archives ORDER BY size DESC LIMIT 1;
