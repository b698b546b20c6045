-- An event is only ever deleted once a sealed file holds it.
DROP TRIGGER events_remain;
CREATE TRIGGER events_remain BEFORE DELETE ON events
WHEN OLD.seq > COALESCE((SELECT MAX(size) FROM archives), 0)
BEGIN
    SELECT RAISE(ABORT, 'events can only be added');
END;
CREATE TRIGGER tiles_stay BEFORE UPDATE ON tiles
BEGIN
    SELECT RAISE(ABORT, 'tiles can only be added');
END;
CREATE TRIGGER tiles_remain BEFORE DELETE ON tiles
BEGIN
    SELECT RAISE(ABORT, 'tiles can only be added');
END;
CREATE TRIGGER checkpoints_stay BEFORE UPDATE ON checkpoints
BEGIN
    SELECT RAISE(ABORT, 'checkpoints can only be added');
END;
CREATE TRIGGER checkpoints_remain BEFORE DELETE ON checkpoints
BEGIN
    SELECT RAISE(ABORT, 'checkpoints can only be added');
END;
CREATE TRIGGER archives_stay BEFORE UPDATE ON archives
BEGIN
    SELECT RAISE(ABORT, 'archives can only be added');
END;
CREATE TRIGGER archives_remain BEFORE DELETE ON archives
BEGIN
    SELECT RAISE(ABORT, 'archives can only be added');
END;
