-- An event is only ever deleted once a sealed file holds it.
CREATE OR REPLACE FUNCTION events_only_grow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.seq <= (SELECT MAX(size) FROM archives) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'events can only be added';
END
$$;
CREATE FUNCTION proofs_only_grow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% can only be added', TG_TABLE_NAME;
END
$$;
CREATE TRIGGER tiles_stay BEFORE UPDATE OR DELETE ON tiles
    FOR EACH ROW EXECUTE FUNCTION proofs_only_grow();
CREATE TRIGGER tiles_remain BEFORE TRUNCATE ON tiles
    FOR EACH STATEMENT EXECUTE FUNCTION proofs_only_grow();
CREATE TRIGGER checkpoints_stay BEFORE UPDATE OR DELETE ON checkpoints
    FOR EACH ROW EXECUTE FUNCTION proofs_only_grow();
CREATE TRIGGER checkpoints_remain BEFORE TRUNCATE ON checkpoints
    FOR EACH STATEMENT EXECUTE FUNCTION proofs_only_grow();
CREATE TRIGGER archives_stay BEFORE UPDATE OR DELETE ON archives
    FOR EACH ROW EXECUTE FUNCTION proofs_only_grow();
CREATE TRIGGER archives_remain BEFORE TRUNCATE ON archives
    FOR EACH STATEMENT EXECUTE FUNCTION proofs_only_grow();
