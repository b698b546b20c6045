"""End to end with real clients, servers and back ends; run by scripts/e2e."""
