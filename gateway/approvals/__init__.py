"""Approvals: who may decide, what their votes come to, and where that leaves the request."""
