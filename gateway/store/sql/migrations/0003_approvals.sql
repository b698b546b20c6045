-- Requests for a person's decision. `clause` is JSON, kept as it was when the request was made;
-- `presented` and `proposal` are sealed. Times in microseconds, 0 for none.
CREATE TABLE approvals (
    approval_id TEXT PRIMARY KEY,
    op_id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    requester TEXT NOT NULL,
    client TEXT NOT NULL,
    run_id TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    call_id TEXT NOT NULL,
    trace TEXT NOT NULL,
    binding TEXT NOT NULL,
    revision TEXT NOT NULL,
    rule TEXT NOT NULL,
    clause TEXT NOT NULL,
    risk TEXT NOT NULL,
    execute TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN (
        'pending', 'approved', 'denied', 'expired', 'cancelled', 'superseded', 'consumed'
    )),
    version BIGINT NOT NULL,
    not_before BIGINT NOT NULL,
    decide_by BIGINT NOT NULL,
    use_by BIGINT NOT NULL,
    answer_until BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    decided_at BIGINT NOT NULL,
    closed_reason TEXT NOT NULL,
    consumed_by TEXT NOT NULL,
    proposal TEXT NOT NULL,
    proposal_hash TEXT NOT NULL,
    replaces TEXT NOT NULL,
    escalated INTEGER NOT NULL,
    is_told INTEGER NOT NULL,
    presented TEXT NOT NULL,
    presented_digest TEXT NOT NULL
);
-- Nothing can be decided twice at once: an operation has one open request at most.
CREATE UNIQUE INDEX approvals_open ON approvals (op_id) WHERE state IN ('pending', 'approved');
CREATE INDEX approvals_by_operation ON approvals (op_id, created_at);
CREATE INDEX approvals_by_state ON approvals (state, created_at);
CREATE INDEX approvals_by_tenant ON approvals (tenant, created_at);
CREATE INDEX approvals_proposing ON approvals (proposal_hash) WHERE proposal_hash <> '';

CREATE TABLE approval_votes (
    approval_id TEXT NOT NULL REFERENCES approvals (approval_id),
    approver TEXT NOT NULL,
    issuer TEXT NOT NULL,
    choice TEXT NOT NULL CHECK (choice IN ('approve', 'deny')),
    binding TEXT NOT NULL,
    roles TEXT NOT NULL,
    channel TEXT NOT NULL,
    assurance TEXT NOT NULL,
    reason TEXT NOT NULL,
    voted_at BIGINT NOT NULL,
    PRIMARY KEY (approval_id, approver)
);

-- What approvers still have to be told, one row for each address; whoever moves `next_at` tells it.
CREATE TABLE notices (
    notice_id TEXT PRIMARY KEY,
    approval_id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    stage TEXT NOT NULL,
    target TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    attempts INTEGER NOT NULL,
    done_at BIGINT NOT NULL,
    problem TEXT NOT NULL
);
CREATE INDEX notices_due ON notices (next_at) WHERE done_at = 0;
CREATE INDEX notices_by_approval ON notices (approval_id);

-- Logins of people at the admin listener. Only digests of what a browser holds are kept.
CREATE TABLE admin_sessions (
    session TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    account TEXT NOT NULL,
    issuer TEXT NOT NULL,
    roles TEXT NOT NULL,
    assurance TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL
);
CREATE INDEX admin_sessions_by_end ON admin_sessions (ends_at);
CREATE TABLE login_links (
    link TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    account TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    used_at BIGINT NOT NULL
);
