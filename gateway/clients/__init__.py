"""Agent clients' own configuration files: found, read, and edited in place; texts in, texts out."""
