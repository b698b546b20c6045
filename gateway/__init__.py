"""Weighbridge: an MCP tool gateway that weighs every tool call before it crosses."""

__version__ = "0.1.0"
