"""Benchmarks: every target in one run, interleaved, every answer checked."""
