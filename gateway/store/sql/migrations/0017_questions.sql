-- Questions to the event log: by time without reading events, and to what is rare among them, so
-- that the writes of most calls cost what they did.
DROP INDEX events_by_time;
CREATE INDEX events_by_time ON events (at, seq);
CREATE INDEX events_refused ON events (seq) WHERE decision IN ('deny', 'require_approval');
CREATE INDEX events_of_people ON events (seq) WHERE kind IN ('admin', 'approval');
