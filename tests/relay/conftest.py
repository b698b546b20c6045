"""Both engines for every test in this folder that takes a store."""

from tests.helpers.databases import (
    engine_name,
    open_store,
    outage,
    postgres_server,
    store,
    store_url,
)

__all__ = ["engine_name", "open_store", "outage", "postgres_server", "store", "store_url"]
