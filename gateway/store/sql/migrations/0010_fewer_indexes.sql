-- Every index is written to at each call; so what nearly all rows are is not looked up by.
-- Most operations are under way, and then succeeded: both are found by when they began.
DROP INDEX operations_by_state;
CREATE INDEX operations_unusual ON operations (state, created_at)
    WHERE state NOT IN ('dispatching', 'succeeded');
-- Whose check has not held, or not yet.
CREATE INDEX operations_unverified ON operations (verification, created_at)
    WHERE verification NOT IN ('not_declared', 'verified');
-- Most calls belong to no run.
DROP INDEX events_by_run;
CREATE INDEX events_of_run ON events (run_id, seq) WHERE run_id <> '';
