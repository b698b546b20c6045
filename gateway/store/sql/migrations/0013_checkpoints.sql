-- The tree over the event log (ADR 0015). `tiles` are the hashes of it, 256 in each, in base64; only
-- full ones are kept. A checkpoint is the note as it was signed; `edge` are the hashes from which
-- the tree goes on.
CREATE TABLE tiles (
    level INTEGER NOT NULL,
    number BIGINT NOT NULL,
    hashes TEXT NOT NULL,
    PRIMARY KEY (level, number)
);
CREATE TABLE checkpoints (
    size BIGINT PRIMARY KEY,
    root TEXT NOT NULL,
    edge TEXT NOT NULL,
    note TEXT NOT NULL,
    at BIGINT NOT NULL
);

-- What went out of the log into sealed files: all events up to `size`.
CREATE TABLE archives (
    size BIGINT PRIMARY KEY,
    edge TEXT NOT NULL,
    note TEXT NOT NULL,
    digest TEXT NOT NULL,
    at BIGINT NOT NULL
);
-- Whose events have to stay. One of the two is empty.
CREATE TABLE holds (
    tenant TEXT NOT NULL,
    run_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    held_by TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (tenant, run_id)
);

