CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'events can only be added');
END;
CREATE TRIGGER events_remain BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'events can only be added');
END;
