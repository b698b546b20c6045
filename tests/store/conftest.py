"""Both engines for every test in this folder."""

from tests.helpers.databases import (
    connect,
    engine_name,
    open_log,
    open_store,
    outage,
    postgres_server,
    store,
    store_url,
)

__all__ = [
    "connect",
    "engine_name",
    "open_log",
    "open_store",
    "outage",
    "postgres_server",
    "store",
    "store_url",
]
