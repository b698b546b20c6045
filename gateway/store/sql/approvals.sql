-- Approvals and votes, as far as people and sweepers use them; `requests.sql` has what calls do.
-- Every state that a statement asks for is a way of `gateway.approvals.machine`.

-- name: add_approval
-- A new request.
INSERT INTO approvals (
    approval_id, op_id, tenant, requester, client, run_id, server, tool, call_id, trace, binding,
    revision, rule, clause, risk, execute, state, version, not_before, decide_by, use_by,
    answer_until, created_at, decided_at, closed_reason, consumed_by, proposal, proposal_hash,
    proposed_by, replaces, escalated, is_told, left_at, presented, presented_digest
) VALUES (
    :approval_id, :op_id, :tenant, :requester, :client, :run_id, :server, :tool, :call_id, :trace,
    :binding, :revision, :rule, :clause, :risk, :execute, :state, :version, :not_before, :decide_by,
    :use_by, :answer_until, :created_at, :decided_at, :closed_reason, :consumed_by, :proposal,
    :proposal_hash, :proposed_by, :replaces, :escalated, :is_told, :left_at,
    :presented, :presented_digest
);

-- name: get_approval
-- One request.
SELECT * FROM approvals WHERE approval_id = :approval_id;

-- name: list_approvals
-- Requests that match all given conditions, newest first.
SELECT * FROM approvals {where} ORDER BY created_at DESC, approval_id DESC LIMIT :limit;

-- name: count_approvals
-- How many there are of each state.
SELECT state, COUNT(*) AS many FROM approvals {where} GROUP BY state;

-- name: change_approval
-- Move a request from the version that it was read in.
UPDATE approvals
SET state = :state, version = version + 1, use_by = :use_by, decided_at = :decided_at,
    closed_reason = :closed_reason, proposal = :proposal, proposal_hash = :proposal_hash,
    proposed_by = :proposed_by, escalated = :escalated
WHERE approval_id = :approval_id AND version = :version;

-- name: approve_approval
-- Enough people said yes.
UPDATE approvals
SET state = 'approved', decided_at = :now, use_by = :use_by, version = version + 1
WHERE approval_id = :approval_id AND state = 'pending';

-- name: note_attendance
-- Whether a caller waits for it; no change that anybody decides about, so its version stays.
UPDATE approvals SET left_at = :left_at WHERE approval_id = :approval_id AND state = 'pending';

-- name: late_approvals
-- Those whose time to decide, or to use what was decided, is over.
SELECT * FROM approvals
WHERE (state = 'pending' AND decide_by < :now) OR (state = 'approved' AND use_by < :now)
ORDER BY decide_by LIMIT :limit;

-- name: waiting_approvals
-- Those that others may come to decide; only clauses with an escalation have such a member.
SELECT * FROM approvals
WHERE state = 'pending' AND decide_by >= :now AND clause LIKE '%"after_s"%'
ORDER BY escalated, created_at LIMIT :limit;

-- name: approvals_to_send
-- Approved requests whose call the gateway sends by itself, the longest waiting first.
SELECT * FROM approvals WHERE state = 'approved' AND execute = 'on_approval' AND use_by >= :now
ORDER BY decided_at, approval_id LIMIT :limit;

-- name: votes
-- The votes on a request, in the order of their times.
SELECT * FROM approval_votes WHERE approval_id = :approval_id ORDER BY voted_at, approver;

-- name: add_vote
-- A vote. Somebody who approved what he denies now has one all the same.
INSERT INTO approval_votes (
    approval_id, approver, issuer, choice, binding, roles, channel, assurance, reason, voted_at
) VALUES (
    :approval_id, :approver, :issuer, :choice, :binding, :roles, :channel, :assurance, :reason,
    :voted_at
)
ON CONFLICT (approval_id, approver) DO UPDATE
SET issuer = excluded.issuer, choice = excluded.choice, binding = excluded.binding,
    roles = excluded.roles, channel = excluded.channel, assurance = excluded.assurance,
    reason = excluded.reason, voted_at = excluded.voted_at;

-- name: remove_vote
-- A vote is taken back.
DELETE FROM approval_votes WHERE approval_id = :approval_id AND approver = :approver;

-- name: reopen_denied
-- A denial is no longer told again: the next such call is a new one.
UPDATE operations SET replay_until = 0
WHERE op_id = :op_id AND state = 'denied' AND replay_until > 0;

-- name: has_event
-- Whether the log has an event already.
SELECT 1 AS found FROM events WHERE id = :id;

-- name: forget_votes
-- Those on requests that go with their operations.
DELETE FROM approval_votes WHERE approval_id IN (
    SELECT approval_id FROM approvals WHERE state NOT IN ('pending', 'approved')
    AND NOT EXISTS (SELECT 1 FROM operations WHERE operations.op_id = approvals.op_id)
);

-- name: forget_approvals
-- Remove requests whose operations are no longer there; never one that can come to be used.
DELETE FROM approvals WHERE state NOT IN ('pending', 'approved')
AND NOT EXISTS (SELECT 1 FROM operations WHERE operations.op_id = approvals.op_id);

-- name: forget_notices
-- The same for what was told of them, or could not be.
DELETE FROM notices WHERE NOT EXISTS (
    SELECT 1 FROM approvals WHERE approvals.approval_id = notices.approval_id
);

-- name: add_notice
-- Somebody has to be told.
INSERT INTO notices (
    notice_id, approval_id, tenant, stage, target, created_at, next_at, attempts, done_at, problem
) VALUES (
    :notice_id, :approval_id, :tenant, :stage, :target, :created_at, :next_at, :attempts, :done_at,
    :problem
)
ON CONFLICT (notice_id) DO NOTHING;

-- name: due_notices
-- What has to be told now, so much to each address: one that is slow hides nothing of the others.
SELECT * FROM (
    SELECT notices.*, ROW_NUMBER() OVER (PARTITION BY target ORDER BY next_at) AS place
    FROM notices WHERE done_at = 0 AND next_at <= :now
) AS due WHERE place <= :limit ORDER BY next_at;

-- name: take_notice
-- Tell one; whoever changes the time is the one who tells.
UPDATE notices SET next_at = :later, attempts = attempts + 1
WHERE notice_id = :notice_id AND next_at = :next_at AND attempts = :attempts AND done_at = 0;

-- name: end_notice
-- It was told, or it is given up.
UPDATE notices SET done_at = :now, problem = :problem WHERE notice_id = :notice_id AND done_at = 0;

-- name: put_off_notice
-- It could not be told, and is tried again.
UPDATE notices SET next_at = :next_at, problem = :problem
WHERE notice_id = :notice_id AND done_at = 0;
