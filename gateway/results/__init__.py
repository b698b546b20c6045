"""Results: their shape, what of them may leave, and the envelope they leave in."""
