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
