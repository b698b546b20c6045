"""Who is calling: API keys, JWTs and the local actor."""
