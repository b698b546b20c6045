-- What people and sweepers look for, found without reading the whole table.
CREATE INDEX operations_by_call ON operations (call_id);
CREATE INDEX operations_by_time ON operations (created_at);
CREATE INDEX operations_of_tenant ON operations (tenant, created_at);
-- What is let go of: ended rows by their end, and answers that are no longer told again.
CREATE INDEX operations_ended ON operations (state, settled_at) WHERE settled_at > 0;
CREATE INDEX operations_told ON operations (state, replay_until)
    WHERE replay_until > 0 AND outcome <> '' AND compensation <> 'compensatable';
