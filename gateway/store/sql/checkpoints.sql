-- The tree over the event log: tiles, checkpoints, and events as it needs them.

-- name: leaves_after
-- The bytes of the events after a number, up to another, in order.
SELECT seq, body FROM events WHERE seq > :after AND seq <= :last ORDER BY seq LIMIT :limit;

-- name: rows_after
-- The events after a number, up to another, in order, with what is derived from each.
SELECT seq, id, at, kind, stage, tenant, run_id, call_id, tool, actor_user, decision, rule, status,
       trace_id, body
FROM events WHERE seq > :after AND seq <= :last ORDER BY seq;

-- name: page_after
-- The bytes of the events after a number, up to another, in order.
SELECT seq, body FROM events WHERE seq > :after AND seq <= :last ORDER BY seq;

-- name: page_after_at_once
-- The same for SQLite in one row, as it sees itself of most that all columns say what the event
-- says: how many there are, their numbers, their bytes, a line each, and the numbers of those at
-- which somebody has to look. What columns are made of is taken out of the event at once, as a list
-- in JSON, and compared with the list that the columns give. Texts, numbers and objects differ in
-- such a list, and no list is the beginning of another. Events of the gateway itself are always
-- doubted, as they may name keys, and so are those that tell of a sealed copy. In place of what an
-- event does not say, columns have an empty text: a `null` inside of a text is replaced as well,
-- which gives no list at all, and so a doubt too many. A list of more than 322 characters may have a
-- text that had to be cut to 256.
SELECT count(*), group_concat(seq), CAST(group_concat(ifnull(body, ''), char(10)) AS BLOB),
    group_concat(CASE WHEN coalesce(
    kind <> 'admin' AND typeof(body) = 'text' AND typeof(at) = 'integer'
    AND CASE WHEN json_valid(body) THEN
        replace(
            json_extract(
                body, '$.id', '$.ts', '$.kind', '$.stage', '$.tenant', '$.run', '$.call',
                '$.trace_id', '$.actor.user', '$.body.tool', '$.body.decision', '$.body.rule',
                '$.body.status', '$.body.sealed'
            ),
            'null', '""'
        ) = substr(
            json_array(
                id,
                strftime('%Y-%m-%dT%H:%M:%S', at / 1000000, 'unixepoch')
                    || printf('.%06dZ', at % 1000000),
                kind, stage, tenant, run_id, call_id, trace_id, actor_user, tool, decision, rule,
                status, ''
            ),
            1, 322
        )
    END,
    0) THEN NULL ELSE seq END)
FROM events WHERE seq > :after AND seq <= :last;

-- name: get_tile
-- One full tile.
SELECT hashes FROM tiles WHERE level = :level AND number = :number;

-- name: tiles_between
-- The full tiles of a level from a number on, up to another and without it.
SELECT number, hashes FROM tiles
WHERE level = :level AND number >= :first AND number < :last ORDER BY number;

-- name: tiled
-- How many tiles there are of each level, and the first and the last of them.
SELECT level, COUNT(*) AS many, MIN(number) AS first, MAX(number) AS last
FROM tiles GROUP BY level ORDER BY level;

-- name: tile_numbers
-- Which tiles there are of a level.
SELECT number FROM tiles WHERE level = :level ORDER BY number;

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

-- name: id_of_event
-- The id of the event of a number.
SELECT id FROM events WHERE seq = :seq;

-- name: ids_begun
-- Ids between two, as many as show whether it is one.
SELECT id FROM events WHERE id BETWEEN :least AND :most ORDER BY id LIMIT 2;

-- name: index_names
-- The indexes of the events.
SELECT indexname AS name FROM pg_indexes
WHERE tablename = 'events' AND schemaname = current_schema();

-- name: index_names_of_sqlite
-- The same.
SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'events';

-- name: index_counts
-- Nothing: only SQLite can say what an index holds.
SELECT 0 AS events WHERE 1 = 0;

-- name: index_counts_of_sqlite
-- How many events there are by the table, and by each of its indexes; `count(*)` would ask the
-- smallest index, whichever is named.
SELECT count(*) AS events, coalesce(sum(run_id <> ''), 0) AS of_runs,
    coalesce(sum(decision IN ('deny', 'require_approval')), 0) AS refused,
    coalesce(sum(kind IN ('admin', 'approval')), 0) AS of_people,
    (SELECT coalesce(sum(1), 0) FROM events INDEXED BY sqlite_autoindex_events_1) AS by_number,
    (SELECT coalesce(sum(1), 0) FROM events INDEXED BY sqlite_autoindex_events_2) AS by_id,
    (SELECT coalesce(sum(1), 0) FROM events INDEXED BY events_by_call) AS events_by_call,
    (SELECT coalesce(sum(1), 0) FROM events INDEXED BY events_by_trace) AS events_by_trace,
    (SELECT coalesce(sum(1), 0) FROM events INDEXED BY events_by_time) AS events_by_time,
    (SELECT coalesce(sum(1), 0) FROM events INDEXED BY events_of_run
     WHERE run_id <> '') AS events_of_run,
    (SELECT coalesce(sum(1), 0) FROM events INDEXED BY events_refused
     WHERE decision IN ('deny', 'require_approval')) AS events_refused,
    (SELECT coalesce(sum(1), 0) FROM events INDEXED BY events_of_people
     WHERE kind IN ('admin', 'approval')) AS events_of_people
FROM events NOT INDEXED;

-- name: index_integrity
-- Nothing, for the same reason.
SELECT '' AS integrity_check WHERE 1 = 0;

-- name: index_integrity_of_sqlite
-- What is wrong with the events and with their indexes, a line each: every row is looked up by each
-- of them. `ok` where nothing is.
PRAGMA integrity_check(events);
