-- Runs, what calls find them by, and the references that were collected in them.

-- name: add_run
-- A new run.
INSERT INTO runs (
    run_id, tenant, owner, actor_user, is_of_user, roles, scopes, client, task_id, objective,
    template, mode, phase, resume_phase, is_paused, stop_reason, note, parent, fields, is_tainted,
    version, created_at, active_at, ends_at, idle, finished_at, evidence, calls, tokens
) VALUES (
    :run_id, :tenant, :owner, :actor_user, :is_of_user, :roles, :scopes, :client, :task_id,
    :objective, :template, :mode, :phase, :resume_phase, :is_paused, :stop_reason, :note, :parent,
    :fields, :is_tainted, :version, :created_at, :active_at, :ends_at, :idle, :finished_at,
    :evidence, :calls, :tokens
);

-- name: get_run
-- One run.
SELECT * FROM runs WHERE run_id = :run_id;

-- name: list_runs
-- Runs that match all given conditions, newest first.
SELECT * FROM runs {where} ORDER BY created_at DESC, run_id DESC LIMIT :limit;

-- name: count_open_runs
-- How many of one owner go on.
SELECT COUNT(*) AS many FROM runs WHERE owner = :owner AND finished_at = 0 AND is_paused = 0;

-- name: count_runs
-- How many there are of each phase.
SELECT phase, COUNT(*) AS many FROM runs {where} GROUP BY phase;

-- name: change_run
-- Move a run from the version that it was read in; counters are not part of it.
UPDATE runs
SET version = version + 1, task_id = :task_id, template = :template,
    mode = :mode, phase = :phase, resume_phase = :resume_phase, is_paused = :is_paused,
    stop_reason = :stop_reason, note = :note, active_at = :active_at,
    ends_at = :ends_at, idle = :idle, finished_at = :finished_at
WHERE run_id = :run_id AND version = :version;

-- name: set_run_fields
-- What a run has collected, sealed; with a change of its own or together with another one.
UPDATE runs SET fields = :fields WHERE run_id = :run_id;

-- name: taint_run
-- A result that others can write was returned in it; what was judged before is judged anew.
UPDATE runs SET is_tainted = 1, version = version + 1 WHERE run_id = :run_id AND is_tainted = 0;

-- name: touch_run
-- Calls were made in it, or tokens used for it; no change that anybody decides about.
UPDATE runs
SET calls = calls + :calls, tokens = tokens + :tokens,
    active_at = CASE WHEN active_at < :active_at THEN :active_at ELSE active_at END
WHERE run_id = :run_id;

-- name: run_operations
-- How far the operations of a run have come, tool by tool.
SELECT tool, state, verification, COUNT(*) AS many FROM operations
WHERE run_id = :run_id AND run_id <> '' GROUP BY tool, state, verification;

-- name: run_pending
-- How many requests of a run nobody has decided.
SELECT COUNT(*) AS many FROM approvals
WHERE run_id = :run_id AND run_id <> '' AND state = 'pending';

-- name: idle_runs
-- Those without a call for too long, unless people have to decide, and those whose time is over.
SELECT * FROM (
    SELECT * FROM runs
    WHERE finished_at = 0 AND is_paused = 0 AND idle > 0 AND active_at + idle < :now
      AND phase <> 'awaiting_approval'
    UNION
    SELECT * FROM runs
    WHERE finished_at = 0 AND is_paused = 0 AND ends_at > 0 AND ends_at < :now
) AS due ORDER BY active_at LIMIT :limit;

-- name: approvals_of_stopped_runs
-- Requests that can still come to be used, of runs that do not go on.
SELECT approvals.* FROM approvals JOIN runs ON runs.run_id = approvals.run_id
WHERE approvals.state IN ('pending', 'approved') AND runs.stop_reason <> ''
ORDER BY approvals.created_at LIMIT :limit;

-- name: ended_runs
-- Those that ended before a time, the longest ago first.
SELECT * FROM runs WHERE finished_at > 0 AND finished_at < :before
ORDER BY finished_at LIMIT :limit;

-- name: lapsed_runs
-- Those that were paused or blocked, and that nothing was done in since before a time.
SELECT * FROM runs WHERE finished_at = 0 AND is_paused = 1 AND active_at < :before
ORDER BY active_at LIMIT :limit;

-- name: bound_run
-- The run that a value leads to, of a principal or of the user that it acts for.
SELECT runs.* FROM run_bindings JOIN runs ON runs.run_id = run_bindings.run_id
WHERE run_bindings.tenant = :tenant AND run_bindings.owner IN (:owner, :of_user)
  AND run_bindings.kind = :kind AND run_bindings.vhash = :vhash
ORDER BY run_bindings.bound_at DESC LIMIT 1;

-- name: bind_run
-- From now on a value leads to this run.
INSERT INTO run_bindings (tenant, owner, kind, vhash, run_id, bound_at)
VALUES (:tenant, :owner, :kind, :vhash, :run_id, :bound_at)
ON CONFLICT (tenant, owner, kind, vhash) DO UPDATE
SET run_id = excluded.run_id, bound_at = excluded.bound_at;

-- name: add_evidence
-- A reference, each once.
INSERT INTO run_evidence (run_id, digest, source, version, chunk, call_id, at, tool)
VALUES (:run_id, :digest, :source, :version, :chunk, :call_id, :at, :tool)
ON CONFLICT (run_id, digest) DO NOTHING;

-- name: count_evidence
-- So many references were added.
UPDATE runs SET evidence = evidence + :added WHERE run_id = :run_id;

-- name: evidence_of
-- The references that were collected in a run, in their order.
SELECT * FROM run_evidence WHERE run_id = :run_id ORDER BY at, source, version, chunk LIMIT :limit;

-- name: forget_seen_of_run
-- The values that were returned in a run.
DELETE FROM seen_values WHERE tenant = :tenant AND scope = :scope;

-- name: forget_evidence
-- The references of a run.
DELETE FROM run_evidence WHERE run_id = :run_id;

-- name: forget_bindings
-- What led to a run.
DELETE FROM run_bindings WHERE run_id = :run_id;

-- name: forget_run
-- The run itself.
DELETE FROM runs WHERE run_id = :run_id;
