-- Changes of the policy that wait for people to agree.

-- name: add_proposal
-- Propose one, unless the same revision is proposed already.
INSERT INTO policy_proposals
    (id, revision, base, at, because, people, warnings, tests, change, texts, state, settled_at)
SELECT :id, :revision, :base, :at, :because, :people, :warnings, :tests, :change, :texts, :state,
    :settled_at
WHERE NOT EXISTS (
    SELECT 1 FROM policy_proposals WHERE revision = :revision AND state = 'open'
);

-- name: get_proposal
-- One by its id.
SELECT * FROM policy_proposals WHERE id = :id;

-- name: proposals_like
-- Those whose revisions begin with a text, newest first.
SELECT * FROM policy_proposals WHERE revision LIKE :pattern ORDER BY at DESC, id DESC LIMIT 100;

-- name: list_proposals
-- The newest.
SELECT * FROM policy_proposals ORDER BY at DESC, id DESC LIMIT :limit;

-- name: open_proposals
-- Those that wait, oldest first.
SELECT * FROM policy_proposals WHERE state = 'open' ORDER BY at, id;

-- name: agreed_proposal
-- The one in force: whichever was agreed on last.
SELECT * FROM policy_proposals WHERE state = 'agreed' ORDER BY settled_at DESC LIMIT 1;

-- name: settle_proposal
-- End one that waits.
UPDATE policy_proposals SET state = :state, settled_at = :settled_at
WHERE id = :id AND state = 'open';

-- name: supersede_proposals
-- End all others that wait: what they were compared with is not in force any more.
UPDATE policy_proposals SET state = 'superseded', settled_at = :settled_at
WHERE state = 'open' AND id <> :id;

-- name: add_backing
-- Note who agrees, once each: a word that did not count any more gives way to his new one.
INSERT INTO policy_backings
    (proposal, tenant, user_name, roles, assurance, channel, issuer, at, reason, is_proposer)
VALUES
    (:proposal, :tenant, :user_name, :roles, :assurance, :channel, :issuer, :at, :reason,
    :is_proposer)
ON CONFLICT (proposal, tenant, user_name) DO UPDATE SET
    roles = excluded.roles, assurance = excluded.assurance, channel = excluded.channel,
    issuer = excluded.issuer, at = excluded.at, reason = excluded.reason,
    is_proposer = excluded.is_proposer;

-- name: list_backings
-- Who agrees with one, the first that was first.
SELECT * FROM policy_backings WHERE proposal = :proposal ORDER BY at, user_name;
