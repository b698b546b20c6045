"""Runs: governed work, and what each phase of it allows."""
