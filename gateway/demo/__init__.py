"""The demo: a small help desk, its servers and a scripted agent."""
