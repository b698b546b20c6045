-- What left the event log, and what has to stay.

-- name: last_archive
-- The archive that the log goes on from.
SELECT size, edge, note, digest, at FROM archives ORDER BY size DESC LIMIT 1;

-- name: list_archives
-- All archives, the smallest first.
SELECT size, edge, note, digest, at FROM archives ORDER BY size;

-- name: add_archive
-- Note that a sealed file holds the events up to a size; only then can they be deleted.
INSERT INTO archives (size, edge, note, digest, at) VALUES (:size, :edge, :note, :digest, :at);

-- name: remove_archived
-- Let go of the events that a sealed file holds.
DELETE FROM events WHERE seq <= :size;

-- name: first_event_since
-- The first event that is not older than a time.
SELECT COALESCE(MIN(seq), 0) AS seq FROM events WHERE at >= :since;

-- name: first_event_of_tenant
-- The first event of a tenant.
SELECT COALESCE(MIN(seq), 0) AS seq FROM events WHERE tenant = :tenant;

-- name: first_event_of_run
-- The first event of a run.
SELECT COALESCE(MIN(seq), 0) AS seq FROM events WHERE run_id = :run_id AND run_id <> '';

-- name: list_holds
-- Whose events have to stay.
SELECT tenant, run_id, reason, held_by, at FROM holds ORDER BY at, tenant, run_id;

-- name: hold_events
-- What the log says of holds, in its order. With the condition of its index, as it stands there.
SELECT body FROM events WHERE kind IN ('admin', 'approval') AND kind = 'admin'
  AND (body LIKE '%"log_hold_set"%' OR body LIKE '%"log_hold_lifted"%') ORDER BY seq;

-- name: set_hold
-- Have the events of a tenant or a run stay; one that is set already keeps its first reason.
INSERT INTO holds (tenant, run_id, reason, held_by, at)
VALUES (:tenant, :run_id, :reason, :held_by, :at)
ON CONFLICT (tenant, run_id) DO NOTHING;

-- name: lift_hold
-- Let them go again.
DELETE FROM holds WHERE tenant = :tenant AND run_id = :run_id;
