"""Frozen values that the whole product speaks in; no I/O, no rules beyond "this can't exist"."""
