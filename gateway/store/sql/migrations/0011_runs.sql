-- Runs: governed work with a phase. `fields` is JSON; `owner` and the values of bindings are keyed
-- digests. Times in microseconds, 0 for none; `idle` in microseconds as well.
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    actor_user TEXT NOT NULL,
    is_of_user INTEGER NOT NULL,
    roles TEXT NOT NULL,
    scopes TEXT NOT NULL,
    client TEXT NOT NULL,
    task_id TEXT NOT NULL,
    objective TEXT NOT NULL,
    template TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('host', 'agent', 'auto')),
    phase TEXT NOT NULL CHECK (phase IN (
        'created', 'planning', 'retrieving', 'acting', 'awaiting_approval', 'finalizing',
        'completed', 'handoff', 'failed'
    )),
    resume_phase TEXT NOT NULL,
    is_paused INTEGER NOT NULL,
    stop_reason TEXT NOT NULL CHECK (stop_reason IN (
        '', 'completed', 'blocked', 'handoff', 'failed'
    )),
    note TEXT NOT NULL,
    parent TEXT NOT NULL,
    fields TEXT NOT NULL,
    is_tainted INTEGER NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    active_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    idle BIGINT NOT NULL,
    finished_at BIGINT NOT NULL,
    evidence BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    tokens BIGINT NOT NULL
);
CREATE INDEX runs_by_tenant ON runs (tenant, created_at);
CREATE INDEX runs_by_phase ON runs (phase, created_at);
-- What has to be stopped, by the time when that is so.
CREATE INDEX runs_idling ON runs ((active_at + idle))
WHERE finished_at = 0 AND is_paused = 0 AND idle > 0;
CREATE INDEX runs_ending ON runs (ends_at)
WHERE finished_at = 0 AND is_paused = 0 AND ends_at > 0;
CREATE INDEX runs_open ON runs (owner) WHERE finished_at = 0 AND is_paused = 0;
CREATE INDEX runs_held ON runs (active_at) WHERE finished_at = 0 AND is_paused = 1;
CREATE INDEX runs_finished ON runs (finished_at) WHERE finished_at > 0;

-- By what calls find their run; the newest binding of a value wins, by taking the row.
CREATE TABLE run_bindings (
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    vhash TEXT NOT NULL,
    run_id TEXT NOT NULL REFERENCES runs (run_id),
    bound_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, owner, kind, vhash)
);
CREATE INDEX run_bindings_of ON run_bindings (run_id);

-- References to what was read, each once in a run: by a digest, since no index takes a long text.
CREATE TABLE run_evidence (
    run_id TEXT NOT NULL REFERENCES runs (run_id),
    digest TEXT NOT NULL,
    source TEXT NOT NULL,
    version TEXT NOT NULL,
    chunk TEXT NOT NULL,
    call_id TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (run_id, digest)
);

CREATE INDEX operations_by_run ON operations (run_id) WHERE run_id <> '';
CREATE INDEX approvals_by_run ON approvals (run_id) WHERE run_id <> '';
