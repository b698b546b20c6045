"""The configuration file: its model and its loader."""
