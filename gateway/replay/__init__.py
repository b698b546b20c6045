"""Judging again what the log tells of: under the rules of then, or under others (ADR 0015).

Nothing in here sends anything: no module imports what could.
"""
