-- Statements for SQLite and PostgreSQL alike. Parameters are written `:name`; times are whole
-- microseconds since 1970 in UTC unless the name says otherwise.

-- name: append_event
-- Add one event at the end of the log; one that is already there is left alone, so this can be
-- repeated. Needs the events lock.
INSERT INTO events (seq, id, at, kind, stage, tenant, run_id, call_id, tool, actor_user, decision,
                    rule, status, trace_id, body)
SELECT COALESCE((SELECT MAX(seq) FROM events), 0) + 1, :id, :at, :kind, :stage, :tenant, :run_id,
       :call_id, :tool, :actor_user, :decision, :rule, :status, :trace_id, :body
WHERE NOT EXISTS (SELECT 1 FROM events WHERE id = :id);

-- name: append_event_at_once
-- The same for many new events, on SQLite, numbered by whoever appends; fails when one is there
-- already. It is run with many rows: each step of a statement gives the interpreter's lock away and
-- has to win it back from a busy event loop, so a step an event would starve the writer.
INSERT INTO events (seq, at, id, kind, stage, tenant, run_id, call_id, tool, actor_user, decision,
                    rule, status, trace_id, body)
VALUES (:seq, :at, :id, :kind, :stage, :tenant, :run_id, :call_id, :tool, :actor_user, :decision,
        :rule, :status, :trace_id, :body);

-- name: query_events
-- Events that match all given conditions, oldest first.
SELECT seq, body FROM events {where} ORDER BY seq ASC LIMIT :limit;

-- name: query_events_newest
-- Events that match all given conditions, newest first.
SELECT seq, body FROM events {where} ORDER BY seq DESC LIMIT :limit;

-- name: span_of_events
-- The numbers of the first and the last event of a time, in the order of the log: clocks of several
-- gateways differ, so the numbers between may have other times. Nothing but an index is read; the
-- sums keep PostgreSQL from reading the log in its order until it meets one.
SELECT COALESCE(MIN(seq + 0), 1) AS first, COALESCE(MAX(seq + 0), 0) AS last FROM events {where};

-- name: names_in_events
-- Whose events there are in a part of the log, whoever acted, and the tools that they are about.
-- That somebody asked for a name is no event of it.
SELECT DISTINCT tenant, actor_user, tool FROM events
WHERE seq >= :first AND seq <= :last AND NOT (kind = 'admin' AND body LIKE '%"log_read"%');

-- name: last_seq
-- The number of the newest event, 0 for an empty log.
SELECT COALESCE(MAX(seq), 0) AS seq FROM events;

-- name: save_revision
-- Keep a revision whole; one that is activated again only gets its new time.
INSERT INTO revisions (id, at, activated_by, texts) VALUES (:id, :at, :activated_by, :texts)
ON CONFLICT (id) DO UPDATE SET at = excluded.at, activated_by = excluded.activated_by;

-- name: keep_revision
-- Keep a revision whole that is not to be in force: one that is known stays as it is.
INSERT INTO revisions (id, at, activated_by, texts) VALUES (:id, :at, :activated_by, :texts)
ON CONFLICT (id) DO NOTHING;

-- name: newest_revision
-- The one in force: whichever was activated last.
SELECT id, at FROM revisions ORDER BY at DESC LIMIT 1;

-- name: newer_revision
-- One that was activated after another; none as well where that is not known.
SELECT id FROM revisions WHERE at > (SELECT at FROM revisions WHERE id = :id) LIMIT 1;

-- name: living_instances
-- How many gateways have shown a sign of life since a time.
SELECT COUNT(*) AS many FROM gateway_instances WHERE at >= :since;

-- name: get_revision
-- One revision by its id.
SELECT id, at, activated_by, texts FROM revisions WHERE id = :id;

-- name: list_revisions
-- The revisions that were activated last, newest first.
SELECT id, at, activated_by, texts FROM revisions ORDER BY at DESC, id LIMIT :limit;

-- name: reservations_of_call
-- How many limits a call has taken from.
SELECT COUNT(*) AS taken FROM limits_reservations WHERE call_id = :call_id;

-- name: taken
-- How much of one limit under one key was taken and still counts.
SELECT COALESCE(SUM(amount), 0.0) AS amount FROM limits_reservations
WHERE limit_id = :limit_id AND key = :key AND expires > :now;

-- name: reserved
-- What was taken from one limit under one key and still counts, oldest first.
SELECT amount, expires FROM limits_reservations
WHERE limit_id = :limit_id AND key = :key AND expires > :now ORDER BY expires;

-- name: reserve
-- Take from one limit.
INSERT INTO limits_reservations (call_id, limit_id, key, amount, at, expires, settled)
VALUES (:call_id, :limit_id, :key, :amount, :at, :expires, 0);

-- name: release
-- Give back what a call took that was never carried out.
DELETE FROM limits_reservations WHERE call_id = :call_id AND settled = 0;

-- name: settle
-- What a call took was used: it can't be given back any more.
UPDATE limits_reservations SET settled = 1 WHERE call_id = :call_id;

-- name: forget_reservations
-- Remove what no longer counts for one limit under one key.
DELETE FROM limits_reservations WHERE limit_id = :limit_id AND key = :key AND expires <= :now;

-- name: forget_reservations_of_run
-- Remove what rules have counted for one run.
DELETE FROM limits_reservations WHERE limit_id = :limit_id AND key LIKE :begins;

-- name: remember_value
-- A value was returned to a caller; seen again, it lives longer.
INSERT INTO seen_values (tenant, scope, vhash, type, record, tool, trust, at, expires)
VALUES (:tenant, :scope, :vhash, :type, :record, :tool, :trust, :at, :expires)
ON CONFLICT (tenant, scope, vhash, type, record) DO UPDATE
SET at = excluded.at, expires = excluded.expires, tool = excluded.tool, trust = excluded.trust;

-- name: find_values
-- Where values were seen within a scope. The sum keeps the index of expiry out: this is not its use.
SELECT vhash, type, record, tool, trust FROM seen_values
WHERE tenant = :tenant AND scope = :scope AND expires + 0 > :now
    AND vhash IN (SELECT value FROM json_each(:few_hashes)) {where}
ORDER BY at DESC, type, record LIMIT :limit;

-- name: find_hashes
-- Which of some values were seen within a scope, as one of some types. They are hundreds, of which
-- hardly any was: one step into the index for each, and no second list of them, nor one for each type.
SELECT seen.vhash FROM (SELECT value FROM json_each(:hashes)) AS near
CROSS JOIN seen_values AS seen
WHERE seen.tenant = :tenant AND seen.scope = :scope AND seen.vhash = near.value
    AND seen.expires + 0 > :now AND seen.type || '' IN (SELECT value FROM json_each(:types));

-- name: forget_values
-- Remove values whose time is over.
DELETE FROM seen_values WHERE expires <= :now;

-- name: save_instance
-- The latest state of one running gateway.
INSERT INTO gateway_instances (instance, at, status) VALUES (:instance, :at, :status)
ON CONFLICT (instance) DO UPDATE SET at = excluded.at, status = excluded.status;

-- name: list_instances
-- The latest state of every gateway, newest first.
SELECT instance, at, status FROM gateway_instances ORDER BY at DESC, instance;

-- name: forget_instances
-- Remove the states of gateways that stopped long ago.
DELETE FROM gateway_instances WHERE at < :before;

-- name: forget_instance
-- Remove the state of a gateway that stopped in order.
DELETE FROM gateway_instances WHERE instance = :instance;

-- name: keep_fact
-- A fact about the store itself, which is set once.
INSERT INTO meta (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING;

-- name: get_fact
-- A fact about the store itself.
SELECT value FROM meta WHERE name = :name;

-- name: applied_migrations
-- The numbers of the migrations that this database has had.
SELECT number FROM migrations ORDER BY number;

-- name: applied_migration
-- Note that this database has had a migration.
INSERT INTO migrations (number, name, at) VALUES (:number, :name, :at);
