"""Downstream servers: connections, supervision and the catalogue of their tools."""
