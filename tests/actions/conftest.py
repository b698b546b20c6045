"""Both engines for every test in this folder that asks for a store."""

from tests.helpers.databases import engine_name, open_store, postgres_server, store, store_url

__all__ = ["engine_name", "open_store", "postgres_server", "store", "store_url"]
