-- Changes of the policy that wait for people to agree, and who has.
CREATE TABLE policy_proposals (
    id TEXT PRIMARY KEY,
    revision TEXT NOT NULL,
    base TEXT NOT NULL,
    at BIGINT NOT NULL,
    because TEXT NOT NULL,
    people BIGINT NOT NULL,
    warnings BIGINT NOT NULL,
    tests BIGINT NOT NULL,
    change TEXT NOT NULL,
    texts TEXT NOT NULL,
    state TEXT NOT NULL,
    settled_at BIGINT NOT NULL
);
CREATE INDEX policy_proposals_by_state ON policy_proposals (state, settled_at);
CREATE INDEX policy_proposals_by_revision ON policy_proposals (revision);

CREATE TABLE policy_backings (
    proposal TEXT NOT NULL,
    tenant TEXT NOT NULL,
    user_name TEXT NOT NULL,
    roles TEXT NOT NULL,
    assurance TEXT NOT NULL,
    channel TEXT NOT NULL,
    issuer TEXT NOT NULL,
    at BIGINT NOT NULL,
    reason TEXT NOT NULL,
    is_proposer BIGINT NOT NULL,
    PRIMARY KEY (proposal, tenant, user_name)
);
