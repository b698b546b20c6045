-- One intent, whatever its attempts: the row decides whether anything may be sent. `arguments` and
-- `outcome` are sealed; the other columns hold names, digests and times in microseconds.
CREATE TABLE operations (
    op_id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    run_id TEXT NOT NULL,
    actor_user TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    pin TEXT NOT NULL,
    revision TEXT NOT NULL,
    scope TEXT NOT NULL,
    idem_key TEXT NOT NULL,
    key_source TEXT NOT NULL,
    generation INTEGER NOT NULL,
    intent_hash TEXT NOT NULL,
    args_hash TEXT NOT NULL,
    transport TEXT NOT NULL,
    retry TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN (
        'proposed', 'denied', 'awaiting_approval', 'ready', 'dispatching', 'succeeded',
        'failed_final', 'failed_retryable', 'indeterminate', 'compensating', 'compensated',
        'abandoned'
    )),
    epoch BIGINT NOT NULL,
    owner TEXT NOT NULL,
    call_id TEXT NOT NULL,
    lease_until BIGINT NOT NULL,
    downstream_key TEXT NOT NULL,
    verification TEXT NOT NULL,
    evidence TEXT NOT NULL,
    compensates TEXT NOT NULL,
    compensation TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    dispatched_at BIGINT NOT NULL,
    settled_at BIGINT NOT NULL,
    replay_until BIGINT NOT NULL,
    check_at BIGINT NOT NULL,
    shown TEXT NOT NULL,
    arguments TEXT NOT NULL,
    outcome TEXT NOT NULL,
    UNIQUE (tenant, scope, idem_key, generation)
);
CREATE INDEX operations_by_lease ON operations (lease_until) WHERE state = 'dispatching';
CREATE INDEX operations_by_check ON operations (check_at) WHERE check_at > 0;
CREATE INDEX operations_by_state ON operations (state, created_at);
CREATE INDEX operations_undoing ON operations (compensates) WHERE compensates <> '';
