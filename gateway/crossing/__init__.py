"""A call on its way across: its ticket, its operation, and what waits for the end of either."""
