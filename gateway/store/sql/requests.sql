-- Requests for approval, as far as the claim of a call makes, meets and uses them up.

-- name: newest_approval
-- The last request of an operation.
SELECT * FROM approvals WHERE op_id = :op_id ORDER BY created_at DESC, approval_id DESC LIMIT 1;

-- name: count_pending
-- How many requests of one requester nobody has decided.
SELECT COUNT(*) AS many FROM approvals
WHERE state = 'pending' AND tenant = :tenant AND requester = :requester;

-- name: count_requested
-- How many requests of one requester were made since a time, however they ended.
SELECT COUNT(*) AS many, COALESCE(MIN(created_at), 0) AS oldest FROM approvals
WHERE tenant = :tenant AND requester = :requester AND created_at > :since;

-- name: denied_operation
-- The same call under any key, where people said no and that still counts.
SELECT * FROM operations
WHERE tenant = :tenant AND scope = :scope AND args_hash = :args_hash AND tool = :tool
  AND state = 'denied' AND replay_until > :now
ORDER BY settled_at DESC LIMIT 1;

-- name: proposed_approval
-- A denial of the same caller's call of the same tool whose approver would rather have had this.
SELECT approvals.* FROM approvals JOIN operations ON operations.op_id = approvals.op_id
WHERE approvals.proposal_hash = :proposal_hash AND approvals.state = 'denied'
  AND approvals.tenant = :tenant AND approvals.tool = :tool
  AND approvals.answer_until > :now AND operations.scope = :scope
ORDER BY approvals.decided_at DESC LIMIT 1;

-- name: take_proposal
-- A proposal is taken up once.
UPDATE approvals SET proposal_hash = '', version = version + 1
WHERE approval_id = :approval_id AND proposal_hash <> '';

-- name: close_approval
-- The end of a request that was not used.
UPDATE approvals
SET state = :state, closed_reason = :reason, decided_at = :now, version = version + 1
WHERE approval_id = :approval_id AND state IN ('pending', 'approved');

-- name: consume_approval
-- Used up, in the transaction that commits the intent to send.
UPDATE approvals
SET state = 'consumed', consumed_by = :call_id, version = version + 1
WHERE approval_id = :approval_id AND state = 'approved' AND use_by >= :now;

-- name: tell_expired
-- Its caller learns once that nobody decided.
UPDATE approvals SET is_told = 1, version = version + 1
WHERE approval_id = :approval_id AND is_told = 0;

-- name: hold_operation
-- An operation waits for a person: nothing of it is sent, and what it asks for is what is shown. It
-- is of the run that has people asked now, whichever made it first.
UPDATE operations
SET run_id = CASE WHEN :run_id = '' THEN run_id ELSE :run_id END,
    state = 'awaiting_approval', call_id = :call_id, args_hash = :args_hash,
    intent_hash = :intent_hash, transport = :transport, shown = :shown, arguments = :arguments,
    pin = :pin, revision = :revision, retry = :retry, outcome = '', evidence = '', settled_at = 0,
    check_at = 0, replay_until = 0
WHERE op_id = :op_id AND state IN ('ready', 'failed_retryable', 'awaiting_approval');

-- name: send_approved
-- Commit the intent of an approved call: what is sent is what was kept when people were asked.
UPDATE operations
SET run_id = CASE WHEN :run_id = '' THEN run_id ELSE :run_id END,
    state = 'dispatching', epoch = epoch + 1, owner = :owner, call_id = :call_id,
    lease_until = :lease_until, dispatched_at = :now, transport = :transport, revision = :revision,
    injection = :injection
WHERE op_id = :op_id AND state = 'awaiting_approval';

-- name: end_held
-- An operation that waited ends without having been sent.
UPDATE operations
SET state = :state, evidence = :evidence, settled_at = :now, replay_until = :replay_until
WHERE op_id = :op_id AND state = 'awaiting_approval';
