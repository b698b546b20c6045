"""Wiring: a configuration in, a running gateway out. The only place that constructs."""
