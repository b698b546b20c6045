-- Definitions of tools that nobody reviewed; they never change.

-- name: keep_definition
-- Keep one, once.
INSERT INTO definitions (pin, at, tool, body) VALUES (:pin, :at, :tool, :body)
ON CONFLICT (pin) DO NOTHING;

-- name: list_definitions
-- All of them.
SELECT pin, body FROM definitions ORDER BY at, pin;
