-- Sealed copies of arguments and their data keys; `shred` is the id of the event of a shredding.

-- name: keep_data_key
-- Keep a data key; one that was destroyed stays that.
INSERT INTO data_keys (key_id, tenant, run_id, call_id, wrapped, at, shredded_at, shred)
VALUES (:key_id, :tenant, :run_id, :call_id, :wrapped, :at, 0, '')
ON CONFLICT (key_id) DO NOTHING;

-- name: keep_sealed_copy
-- Keep a copy, unless its key was destroyed.
INSERT INTO sealed_copies (event_id, key_id, tenant, run_id, call_id, content, at, shredded_at,
                           shred)
SELECT :event_id, :key_id, :tenant, :run_id, :call_id, :content, :at, 0, ''
WHERE EXISTS (SELECT 1 FROM data_keys WHERE key_id = :key_id AND shredded_at = 0)
ON CONFLICT (event_id) DO NOTHING;

-- name: copies_of_events
-- The copies beside some events, with their keys.
SELECT sealed_copies.event_id, sealed_copies.content, data_keys.wrapped,
       CASE WHEN sealed_copies.shredded_at > 0 THEN sealed_copies.shredded_at
            ELSE data_keys.shredded_at END AS shredded_at
FROM sealed_copies JOIN data_keys ON data_keys.key_id = sealed_copies.key_id
WHERE sealed_copies.event_id IN (SELECT value FROM json_each(:events));

-- name: keys_shredded
-- When some data keys were destroyed, 0 for those that were not.
SELECT key_id, shredded_at FROM data_keys
WHERE key_id IN (SELECT value FROM json_each(:keys));

-- name: a_data_key
-- Whether anything was ever sealed.
SELECT key_id, wrapped FROM data_keys ORDER BY key_id DESC LIMIT 1;

-- name: sealed_within
-- One copy of those that match.
SELECT tenant FROM sealed_copies {where} LIMIT 1;

-- name: shred_copies_of_run
-- Destroy copies of a run, some at a time: whoever writes events waits meanwhile.
UPDATE sealed_copies SET content = '', shredded_at = :now, shred = :shred
WHERE event_id IN (
    SELECT event_id FROM sealed_copies
    WHERE run_id = :run_id AND run_id <> '' AND at < :before AND shredded_at = 0 LIMIT :most
);

-- name: shred_copies_of_call
-- Destroy copies of a call, some at a time: whoever writes events waits meanwhile.
UPDATE sealed_copies SET content = '', shredded_at = :now, shred = :shred
WHERE event_id IN (
    SELECT event_id FROM sealed_copies
    WHERE call_id = :call_id AND at < :before AND shredded_at = 0 LIMIT :most
);

-- name: shred_copies_of_tenant
-- Destroy copies of a tenant, some at a time: whoever writes events waits meanwhile.
UPDATE sealed_copies SET content = '', shredded_at = :now, shred = :shred
WHERE event_id IN (
    SELECT event_id FROM sealed_copies
    WHERE tenant = :tenant AND at < :before AND shredded_at = 0 LIMIT :most
);

-- name: shred_old_copies
-- Destroy old copies of a tenant that are not on hold.
UPDATE sealed_copies SET content = '', shredded_at = :now, shred = :shred
WHERE event_id IN (
    SELECT event_id FROM sealed_copies
    WHERE tenant = :tenant AND at < :before AND shredded_at = 0 AND NOT EXISTS (
        SELECT 1 FROM holds WHERE holds.tenant = sealed_copies.tenant
        OR (holds.run_id <> '' AND holds.run_id = sealed_copies.run_id)
    ) LIMIT :most
);

-- name: next_tenant_of_old_copies
-- The next tenant that has such copies.
SELECT tenant FROM sealed_copies
WHERE tenant > :last AND at < :before AND shredded_at = 0 AND NOT EXISTS (
    SELECT 1 FROM holds WHERE holds.tenant = sealed_copies.tenant
    OR (holds.run_id <> '' AND holds.run_id = sealed_copies.run_id)
) ORDER BY tenant LIMIT 1;

-- name: shred_keys
-- Destroy the data keys of copies that were just destroyed, unless another copy needs them.
UPDATE data_keys SET wrapped = '', shredded_at = :now, shred = :shred
WHERE shredded_at = 0
  AND key_id IN (SELECT key_id FROM sealed_copies WHERE shred = :shred AND shred <> '')
  AND NOT EXISTS (
      SELECT 1 FROM sealed_copies
      WHERE sealed_copies.key_id = data_keys.key_id AND sealed_copies.shredded_at = 0
  );

-- name: shredded
-- What one shredding has destroyed.
SELECT (SELECT COUNT(*) FROM sealed_copies WHERE shred = :shred AND shred <> '') AS copies,
       (SELECT COUNT(*) FROM data_keys WHERE shred = :shred AND shred <> '') AS keys;

-- name: remove_sealed_copies
-- Let go of the copies beside events that leave the log; of shredded ones nothing is left but this.
DELETE FROM sealed_copies WHERE event_id IN (SELECT id FROM events WHERE seq <= :size);

-- name: remove_data_keys
-- Let go of the keys of such copies first, as far as no event that stays needs them. A gateway that
-- still seals with one keeps it again with its next copy.
DELETE FROM data_keys
WHERE key_id IN (
    SELECT key_id FROM sealed_copies WHERE event_id IN (SELECT id FROM events WHERE seq <= :size)
) AND NOT EXISTS (
    SELECT 1 FROM sealed_copies JOIN events ON events.id = sealed_copies.event_id
    WHERE sealed_copies.key_id = data_keys.key_id AND events.seq > :size
);

-- name: calls_just_shredded
-- The calls whose copies one shredding has destroyed.
SELECT DISTINCT call_id FROM sealed_copies WHERE shred = :shred AND shred <> '' AND call_id <> '';

-- name: calls_shredded
-- The calls of which the copy is destroyed, and of whose operation something is kept.
SELECT DISTINCT sealed_copies.call_id, operations.op_id, operations.state,
       CASE WHEN operations.state IN ('succeeded', 'failed_final', 'failed_retryable',
                                      'compensated', 'denied', 'abandoned')
                 AND operations.check_at = 0 AND operations.verification <> 'pending'
                 AND operations.evidence <> :asks_first THEN 1 ELSE 0 END AS is_settled
FROM sealed_copies JOIN operations ON operations.call_id = sealed_copies.call_id
WHERE ((:call_id <> '' AND sealed_copies.call_id = :call_id)
       OR (:run_id <> '' AND sealed_copies.run_id = :run_id)
       OR (:tenant <> '' AND sealed_copies.tenant = :tenant))
  AND sealed_copies.at < :before AND sealed_copies.shredded_at > 0
  AND (operations.arguments <> '' OR operations.outcome <> '' OR operations.shown <> :gone
       OR EXISTS (
      SELECT 1 FROM approvals WHERE approvals.op_id = operations.op_id
      AND (approvals.presented <> '' OR approvals.proposal <> '')
  ))
  AND NOT EXISTS (
      SELECT 1 FROM holds WHERE holds.tenant = operations.tenant
      OR (holds.run_id <> '' AND holds.run_id = operations.run_id)
  )
ORDER BY sealed_copies.call_id, operations.op_id;

-- name: erase_operations
-- Let go of what settled operations of calls were asked for and answered, and of what undid them.
-- What may still be sent, checked or undone stays; so do keys and states, by which the same call is
-- known again and not sent.
UPDATE operations SET arguments = '', outcome = '', shown = :gone
WHERE op_id IN (
    SELECT op_id FROM operations WHERE call_id IN (SELECT value FROM json_each(:calls))
    UNION
    SELECT undoing.op_id FROM operations AS undoing JOIN operations AS undone
    ON undoing.compensates = undone.op_id AND undoing.compensates <> ''
    WHERE undone.call_id IN (SELECT value FROM json_each(:calls))
)
  AND (arguments <> '' OR outcome <> '' OR shown <> :gone)
  AND state IN ('succeeded', 'failed_final', 'failed_retryable', 'compensated', 'denied',
                'abandoned')
  AND check_at = 0 AND verification <> 'pending' AND evidence <> :asks_first
  AND NOT EXISTS (
      SELECT 1 FROM holds WHERE holds.tenant = operations.tenant
      OR (holds.run_id <> '' AND holds.run_id = operations.run_id)
  );

-- name: erase_requests
-- Let go of what people were shown of closed requests about such calls, and of what they proposed;
-- whoever read one before can't write it back.
UPDATE approvals SET presented = '', proposal = '', version = version + 1
WHERE op_id IN (
    SELECT op_id FROM operations WHERE call_id IN (SELECT value FROM json_each(:calls))
    UNION
    SELECT undoing.op_id FROM operations AS undoing JOIN operations AS undone
    ON undoing.compensates = undone.op_id AND undoing.compensates <> ''
    WHERE undone.call_id IN (SELECT value FROM json_each(:calls))
)
  AND (presented <> '' OR proposal <> '') AND state NOT IN ('pending', 'approved')
  AND NOT EXISTS (
      SELECT 1 FROM holds WHERE holds.tenant = approvals.tenant
      OR (holds.run_id <> '' AND holds.run_id = approvals.run_id)
  );

-- name: copies_with_events
-- Copies beside their events, a page at a time: what queries go by, of both.
SELECT * FROM (
    SELECT sealed_copies.event_id,
           CASE WHEN sealed_copies.tenant <> events.tenant
                     OR sealed_copies.run_id <> events.run_id
                     OR sealed_copies.call_id <> events.call_id
                     OR sealed_copies.at <> events.at
                     OR (sealed_copies.shredded_at > 0 AND sealed_copies.content <> '')
                THEN 1 ELSE 0 END AS differs
    FROM sealed_copies JOIN events ON events.id = sealed_copies.event_id
    {where} AND sealed_copies.event_id > :after
    ORDER BY sealed_copies.event_id LIMIT :limit
) AS beside;

-- name: keys_not_shredded
-- Data keys that say that they were destroyed, and are there.
SELECT key_id FROM data_keys WHERE shredded_at > 0 AND wrapped <> '' LIMIT 1;

-- name: mend_copies
-- Have copies say again whose they are, and that they are there: as their events say.
UPDATE sealed_copies
SET tenant = (SELECT events.tenant FROM events WHERE events.id = sealed_copies.event_id),
    run_id = (SELECT events.run_id FROM events WHERE events.id = sealed_copies.event_id),
    call_id = (SELECT events.call_id FROM events WHERE events.id = sealed_copies.event_id),
    at = (SELECT events.at FROM events WHERE events.id = sealed_copies.event_id),
    shredded_at = CASE WHEN content <> '' THEN 0 ELSE shredded_at END,
    shred = CASE WHEN content <> '' THEN '' ELSE shred END
WHERE event_id IN (SELECT value FROM json_each(:events))
  AND EXISTS (SELECT 1 FROM events WHERE events.id = sealed_copies.event_id);

-- name: mend_keys
-- Have data keys that are there say so.
UPDATE data_keys SET shredded_at = 0, shred = '' WHERE shredded_at > 0 AND wrapped <> '';

-- name: copies_between
-- Copies beside the events of a page, with their keys.
SELECT events.seq, events.at AS event_at, sealed_copies.event_id, sealed_copies.key_id, sealed_copies.tenant,
       sealed_copies.run_id, sealed_copies.call_id, sealed_copies.content, sealed_copies.at,
       sealed_copies.shredded_at, sealed_copies.shred,
       COALESCE(data_keys.wrapped, '') AS wrapped,
       COALESCE(data_keys.shredded_at, 0) AS key_shredded_at,
       COALESCE(data_keys.shred, '') AS key_shred
FROM events JOIN sealed_copies ON sealed_copies.event_id = events.id
LEFT JOIN data_keys ON data_keys.key_id = sealed_copies.key_id
WHERE events.seq > :after AND events.seq <= :last AND EXISTS (SELECT 1 FROM sealed_copies);

-- name: shreddings
-- Which of some ids are of events about a shredding, as the log has them.
SELECT seq, body FROM events
WHERE id IN (SELECT value FROM json_each(:events)) AND kind = 'admin';

-- name: keys_of_copies
-- Some data keys, as they are kept.
SELECT key_id, wrapped, shredded_at, shred FROM data_keys
WHERE key_id IN (SELECT value FROM json_each(:keys));

-- name: copies_without_events
-- Copies beside nothing.
SELECT event_id FROM sealed_copies
WHERE NOT EXISTS (SELECT 1 FROM events WHERE events.id = sealed_copies.event_id) LIMIT 10;
