CREATE FUNCTION events_only_grow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events can only be added';
END
$$;
CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION events_only_grow();
CREATE TRIGGER events_remain BEFORE TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION events_only_grow();
