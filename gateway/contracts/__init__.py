"""Contracts: what people reviewed about a tool, and the schemas it enforces."""
