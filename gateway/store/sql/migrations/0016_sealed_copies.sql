-- Arguments as they were sent, encrypted, beside the events that tell of them; and the keys of
-- that, each wrapped under the key of its tenant, which no database has. What was shredded leaves
-- a row that says when, and holds nothing.
CREATE TABLE data_keys (
    key_id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    run_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    wrapped TEXT NOT NULL,
    at BIGINT NOT NULL,
    shredded_at BIGINT NOT NULL,
    shred TEXT NOT NULL
);
CREATE TABLE sealed_copies (
    event_id TEXT PRIMARY KEY,
    key_id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    run_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    content TEXT NOT NULL,
    at BIGINT NOT NULL,
    shredded_at BIGINT NOT NULL,
    shred TEXT NOT NULL
);
CREATE INDEX sealed_copies_by_key ON sealed_copies (key_id);
CREATE INDEX sealed_copies_by_call ON sealed_copies (call_id) WHERE shredded_at = 0;
CREATE INDEX sealed_copies_by_run ON sealed_copies (run_id) WHERE shredded_at = 0 AND run_id <> '';
CREATE INDEX sealed_copies_by_tenant ON sealed_copies (tenant, at) WHERE shredded_at = 0;
CREATE INDEX sealed_copies_by_shred ON sealed_copies (shred) WHERE shred <> '';
CREATE INDEX data_keys_by_shred ON data_keys (shred) WHERE shred <> '';
