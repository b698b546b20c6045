"""What MCP writes on the wire, for both ends, without the SDK, which takes long to import."""
