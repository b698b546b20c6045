"""How commands open the store of a configuration, and run what waits for it."""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_thread

from gateway import __version__, ids
from gateway.cli import output
from gateway.cli.options import load
from gateway.errors import WeighbridgeError
from gateway.events.envelope import Origin
from gateway.store.store import Store

T = TypeVar("T")
_WAIT_S = 60.0  # for one answer: a busy machine ends no command that has read for minutes


@asynccontextmanager
async def opened(path: Path, *, erases: bool = False) -> AsyncGenerator[Store]:
    """Open the store of a configuration, which has to be there.

    With `erases`, nothing is left in its file of what is deleted.
    """
    url = load(path).settings.store.url
    origin = Origin(instance=ids.new("cli"), version=__version__)
    store = await anyio.to_thread.run_sync(
        lambda: Store.open(url, origin=origin, create=False, erases=erases, wait_s=_WAIT_S)
    )
    try:
        yield store
    finally:
        await anyio.to_thread.run_sync(store.close)


def run(work: Callable[[], Coroutine[None, None, T]]) -> T:
    """Run what a command does; a fault ends it with one line."""
    try:
        return anyio.run(work)
    except WeighbridgeError as error:
        output.fail(str(error))


def fine(work: Callable[[], T]) -> T:
    """Do something that waits for nothing; a fault ends the command with one line."""
    try:
        return work()
    except WeighbridgeError as error:
        output.fail(str(error))
