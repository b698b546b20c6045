-- Revisions of the policy, as people look for them.

-- name: revisions_like
-- Revisions by the beginning of their ids, newest first.
SELECT id, at, activated_by, texts FROM revisions
WHERE id LIKE :pattern ORDER BY at DESC, id;
