"""OpenTelemetry: spans, metrics and their export."""
