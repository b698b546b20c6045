-- Statements about people's logins at the admin listener. Only digests of what a browser or a link
-- holds are kept. Times are whole microseconds since 1970 in UTC, 0 for none.

-- name: new_link
-- A one-time link for one account.
INSERT INTO login_links (link, tenant, account, made_by, created_at, ends_at, used_at)
VALUES (:link, :tenant, :account, :made_by, :created_at, :ends_at, 0);

-- name: open_link
-- A link that can still be used.
SELECT tenant, account, made_by, ends_at FROM login_links
WHERE link = :link AND used_at = 0 AND ends_at > :now;

-- name: use_link
-- Use a link up; one that is used or over is left alone.
UPDATE login_links SET used_at = :now WHERE link = :link AND used_at = 0 AND ends_at > :now;

-- name: forget_links
-- Remove links that ended long ago.
DELETE FROM login_links WHERE ends_at <= :before;

-- name: new_session
-- A login.
INSERT INTO admin_sessions (session, tenant, account, issuer, roles, assurance, created_at,
                            seen_at, ends_at)
VALUES (:session, :tenant, :account, :issuer, :roles, :assurance, :now, :now, :ends_at);

-- name: get_session
-- A login that has not ended, and was used not too long ago.
SELECT tenant, account, issuer, roles, assurance, created_at, seen_at, ends_at FROM admin_sessions
WHERE session = :session AND ends_at > :now AND seen_at > :idle_since;

-- name: saw_session
-- A login was used.
UPDATE admin_sessions SET seen_at = :now WHERE session = :session AND seen_at < :now;

-- name: end_session
-- A login ended.
DELETE FROM admin_sessions WHERE session = :session;

-- name: forget_sessions
-- Remove logins that ended.
DELETE FROM admin_sessions WHERE ends_at <= :now;
