-- Operations. Every state that a statement asks for is a way of `gateway.operations.machine`.

-- name: newest_operation
-- The newest generation under a key.
SELECT * FROM operations
WHERE tenant = :tenant AND scope = :scope AND idem_key = :idem_key
ORDER BY generation DESC LIMIT 1;

-- name: open_operation
-- One of the same user for the same arguments that is under way, or of which nobody knows. A key
-- of the caller's own says that a call is another one. Only with its own condition, as it stands
-- there, is the partial index used; and an index in the order that is asked for would be taken in
-- its place, and have all operations of the tenant read, so the order is that of a computed value.
SELECT * FROM operations
WHERE tenant = :tenant AND actor_user = :actor_user AND args_hash = :args_hash AND tool = :tool
  AND state IN ('dispatching', 'indeterminate') AND key_source <> 'caller'
ORDER BY created_at + 0 DESC LIMIT 1;

-- name: add_operation
-- A new operation.
INSERT INTO operations (
    op_id, tenant, run_id, actor_user, server, tool, pin, revision, scope, idem_key, key_source,
    generation, intent_hash, args_hash, transport, retry, state, epoch, owner, call_id,
    lease_until, downstream_key, injection, verification, evidence, compensates, compensation,
    created_at, dispatched_at, settled_at, replay_until, check_at, shown, arguments, outcome
) VALUES (
    :op_id, :tenant, :run_id, :actor_user, :server, :tool, :pin, :revision, :scope, :idem_key,
    :key_source, :generation, :intent_hash, :args_hash, :transport, :retry, :state, :epoch, :owner,
    :call_id, :lease_until, :downstream_key, :injection, :verification, :evidence, :compensates,
    :compensation, :created_at, :dispatched_at, :settled_at, :replay_until, :check_at, :shown,
    :arguments, :outcome
);

-- name: dispatch_operation
-- Commit the intent of one more attempt, with what it sends; the server's key stays the same. It is
-- of the run that sends it now, whichever made it first.
UPDATE operations
SET run_id = CASE WHEN :run_id = '' THEN run_id ELSE :run_id END,
    state = 'dispatching', epoch = epoch + 1, owner = :owner, call_id = :call_id,
    lease_until = :lease_until, dispatched_at = :now, retry = :retry, args_hash = :args_hash,
    transport = :transport, shown = :shown,
    downstream_key = CASE WHEN downstream_key = '' THEN :downstream_key ELSE downstream_key END,
    injection = :injection,
    arguments = :arguments, outcome = '', evidence = '', settled_at = 0, check_at = 0, pin = :pin,
    revision = :revision
WHERE op_id = :op_id AND epoch = :epoch
  AND state IN ('ready', 'failed_retryable', 'indeterminate');

-- name: settle_operation
-- The outcome, by whoever holds the epoch; `before` is `indeterminate` for a late one.
UPDATE operations
SET state = :state, outcome = :outcome, evidence = :evidence, verification = :verification,
    settled_at = :now, replay_until = :replay_until, check_at = :check_at,
    lease_until = CASE WHEN :is_open = 1 THEN lease_until ELSE 0 END
WHERE op_id = :op_id AND epoch = :epoch AND state = :before
  AND (:unless_open = 0 OR lease_until <= :now);

-- name: verify_operation
-- What a check of the outcome said, after the answer had left. An answer that was let go of since
-- the check began stays gone: it may have been shredded.
UPDATE operations
SET verification = :verification, check_at = :check_at,
    outcome = CASE WHEN outcome = '' THEN '' ELSE :outcome END
WHERE op_id = :op_id AND epoch = :epoch AND state IN ('succeeded', 'compensated');

-- name: unsend_operation
-- An intent that was committed, and whose send certainly did not begin. By key and call: whoever
-- asks may not have learned which operation it took.
UPDATE operations
SET state = 'failed_retryable', evidence = 'not_sent', settled_at = :now
WHERE tenant = :tenant AND scope = :scope AND idem_key = :idem_key AND call_id = :call_id
  AND state = 'dispatching';

-- name: renew_operation
-- The call lives, and may be sent as long as this finds its row.
UPDATE operations SET lease_until = :lease_until
WHERE op_id = :op_id AND epoch = :epoch AND state = 'dispatching';

-- name: keep_operation_open
-- Nobody knows what became of it, and its request is still open at the gateway that sent it.
UPDATE operations SET lease_until = :lease_until
WHERE op_id = :op_id AND epoch = :epoch AND state = 'indeterminate';

-- name: lost_operations
-- Those whose lease ran out.
SELECT * FROM operations WHERE state = 'dispatching' AND lease_until < :now
ORDER BY lease_until LIMIT :limit;

-- name: lose_operation
-- Nobody knows what became of it; whoever renewed its lease since it was read lives after all.
UPDATE operations
SET state = 'indeterminate', evidence = :evidence, settled_at = :now, check_at = :check_at
WHERE op_id = :op_id AND epoch = :epoch AND state = 'dispatching' AND lease_until = :lease_until;

-- name: due_operations
-- Those at whose outcome somebody has to look.
SELECT * FROM operations WHERE check_at > 0 AND check_at <= :now ORDER BY check_at LIMIT :limit;

-- name: take_check
-- Look at one; whoever changes the time is the one who looks.
UPDATE operations SET check_at = :later WHERE op_id = :op_id AND check_at = :check_at;

-- name: ready_operations
-- Those that somebody asked for, and nobody has sent yet. Only with its own condition, as it stands
-- there, is the partial index used.
SELECT * FROM operations
WHERE state = 'ready' AND state NOT IN ('dispatching', 'succeeded') AND compensates <> ''
ORDER BY created_at LIMIT :limit;

-- name: mark_operation
-- A step on the way back, or a person's word.
UPDATE operations SET state = :state, evidence = :evidence, settled_at = :settled_at,
    check_at = 0
WHERE op_id = :op_id AND epoch = :epoch AND state = :before;

-- name: get_operation
-- One operation.
SELECT * FROM operations WHERE op_id = :op_id;

-- name: operation_of_call
-- The operation that a call sent.
SELECT * FROM operations WHERE call_id = :call_id;

-- name: undoing_operations
-- What undoes an operation, newest first. Only with its own condition is the partial index used.
SELECT * FROM operations WHERE compensates = :op_id AND compensates <> ''
ORDER BY created_at DESC;

-- name: list_operations
-- Operations that match all given conditions, newest first.
SELECT * FROM operations {where} ORDER BY created_at DESC, op_id LIMIT :limit;

-- name: count_operations
-- How many there are of each state. In three parts, each with the condition of its index.
SELECT state, COUNT(*) AS many FROM operations
WHERE state NOT IN ('dispatching', 'succeeded') GROUP BY state
UNION ALL
SELECT state, COUNT(*) FROM operations WHERE state = 'dispatching' GROUP BY state
UNION ALL
SELECT state, COUNT(*) FROM operations
WHERE state = 'succeeded' AND settled_at > 0 GROUP BY state;

-- name: forget_outcomes
-- Let go of what can't be replayed any more, and has no way back; key and state stay. So many at
-- once, since calls wait meanwhile; what was let go of is found no more.
UPDATE operations SET outcome = '', arguments = ''
WHERE op_id IN (
    SELECT op_id FROM operations
    WHERE replay_until > 0 AND replay_until < :now AND outcome <> '' AND check_at = 0
      AND compensation <> 'compensatable'
      AND state IN ('succeeded', 'failed_final', 'compensated') AND settled_at < :before
    LIMIT :limit
);

-- name: forget_operations
-- Remove what ended long ago; never what is unknown, nor what still answers the same call. So many
-- at once, as above.
DELETE FROM operations
WHERE op_id IN (
    SELECT op_id FROM operations
    WHERE settled_at > 0 AND settled_at < :before AND replay_until < :now
      AND state IN ('succeeded', 'failed_final', 'failed_retryable', 'compensated', 'denied',
                    'abandoned')
    LIMIT :limit
);
