-- The tree over the event log: tiles, checkpoints, and events as it needs them.

-- name: leaves_after
-- The bytes of the events after a number, up to another, in order.
SELECT seq, body FROM events WHERE seq > :after AND seq <= :last ORDER BY seq LIMIT :limit;

-- name: rows_after
-- The events after a number, up to another, in order, with what is derived from each.
SELECT seq, id, at, kind, stage, tenant, run_id, call_id, tool, actor_user, decision, rule, status,
       trace_id, body
FROM events WHERE seq > :after AND seq <= :last ORDER BY seq;

-- name: get_tile
-- One full tile.
SELECT hashes FROM tiles WHERE level = :level AND number = :number;

-- name: tiles_between
-- The full tiles of a level from a number on, up to another and without it.
SELECT number, hashes FROM tiles
WHERE level = :level AND number >= :first AND number < :last ORDER BY number;

-- name: tiled
-- How many tiles there are of each level.
SELECT level, COUNT(*) AS many FROM tiles GROUP BY level ORDER BY level;

-- name: add_tile
-- Keep a tile that became full.
INSERT INTO tiles (level, number, hashes) VALUES (:level, :number, :hashes);

-- name: add_checkpoint
-- Keep a checkpoint.
INSERT INTO checkpoints (size, root, edge, note, at) VALUES (:size, :root, :edge, :note, :at);

-- name: last_checkpoint
-- The checkpoint that covers most.
SELECT size, root, edge, note, at FROM checkpoints ORDER BY size DESC LIMIT 1;

-- name: checkpoint_of
-- The checkpoint of a size.
SELECT size, root, edge, note, at FROM checkpoints WHERE size = :size;

-- name: checkpoints_after
-- The notes of the checkpoints above a size, up to another, smallest first.
SELECT size, note FROM checkpoints WHERE size > :after AND size <= :last ORDER BY size;

-- name: largest_checkpoints
-- The notes of the largest checkpoints above a size.
SELECT size, note FROM checkpoints WHERE size > :after AND size <= :last
ORDER BY size DESC LIMIT :limit;

-- name: place_of_event
-- The number and the bytes of one event.
SELECT seq, body FROM events WHERE id = :id;
