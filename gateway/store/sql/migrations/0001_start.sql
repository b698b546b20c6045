-- The event log: `body` is the event, byte for byte; every other column is derived from it, and
-- there for queries only.
CREATE TABLE events (
    seq BIGINT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    stage TEXT NOT NULL,
    tenant TEXT NOT NULL,
    run_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    actor_user TEXT NOT NULL,
    decision TEXT NOT NULL,
    rule TEXT NOT NULL,
    status TEXT NOT NULL,
    trace_id TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX events_by_call ON events (call_id);
CREATE INDEX events_by_run ON events (run_id, seq);
CREATE INDEX events_by_trace ON events (trace_id);
CREATE INDEX events_by_time ON events (at);

CREATE TABLE revisions (
    id TEXT PRIMARY KEY,
    at BIGINT NOT NULL,
    activated_by TEXT NOT NULL,
    texts TEXT NOT NULL
);

CREATE TABLE limits_reservations (
    call_id TEXT NOT NULL,
    limit_id TEXT NOT NULL,
    key TEXT NOT NULL,
    amount DOUBLE PRECISION NOT NULL,
    at BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    settled INTEGER NOT NULL,
    PRIMARY KEY (call_id, limit_id, key)
);
CREATE INDEX limits_by_key ON limits_reservations (limit_id, key, expires);

CREATE TABLE seen_values (
    tenant TEXT NOT NULL,
    scope TEXT NOT NULL,
    vhash TEXT NOT NULL,
    type TEXT NOT NULL,
    record TEXT NOT NULL,
    tool TEXT NOT NULL,
    at BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    PRIMARY KEY (tenant, scope, vhash, type, record)
);
CREATE INDEX seen_by_expiry ON seen_values (expires);

CREATE TABLE gateway_instances (
    instance TEXT PRIMARY KEY,
    at BIGINT NOT NULL,
    status TEXT NOT NULL
);

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
