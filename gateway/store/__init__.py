"""The durable store: events, revisions, limits and seen values, on SQLite or PostgreSQL."""
