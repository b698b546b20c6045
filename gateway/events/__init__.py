"""Events: built, redacted and described; no I/O."""
