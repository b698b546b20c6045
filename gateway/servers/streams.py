"""Streams that no call belongs to: on them a server tells that its lists changed."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias

import aiohttp
import anyio

from gateway.errors import JsonError
from gateway.servers.connection import CHANGES, TASK, UPDATED, notification
from gateway.servers.reading import Read, Reader
from gateway.servers.sse import EventReader, EventTooLarge
from gateway.types.json import JsonObject

_PLAIN = Reader(())
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0

# Opens the stream after the event with the given id; an empty id means from now on.
Opening: TypeAlias = AbstractAsyncContextManager[aiohttp.ClientResponse]
Open: TypeAlias = Callable[[str], Opening]
Take: TypeAlias = Callable[[JsonObject], None]


async def follow(
    open_stream: Open,
    take: Take,
    uris: tuple[str, ...] = (),
    tasks: tuple[str, ...] = (),
    *,
    cap: int,
    opened: Callable[[], None] = lambda: None,
    read: Callable[[bytes], Read] = _PLAIN.read,
) -> None:
    """Hand on what comes, reopen what ends; returns when the server offers no such stream.

    `uris` and `tasks` are what it tells of besides lists; `opened` is called whenever the stream is
    open.
    """
    last_id, pause, first = "", _FIRST_PAUSE_S, True
    while True:
        heard = False
        try:
            async with open_stream(last_id) as response:
                if not is_stream(response):
                    return  # 405 is the usual way to say so, and no fault
                opened()
                if not first:  # a change in between would have gone unheard
                    _assume_changes(take, uris, tasks)
                first = False
                reader = EventReader(cap)
                async for piece in response.content.iter_any():
                    for event in reader.feed(piece):
                        heard, last_id = True, event.last_id
                        _hand_on(event.data, take, read)
        except (aiohttp.ClientError, OSError, EventTooLarge):
            pass  # the calls notice an outage; this stream only opens again
        except ValueError:
            last_id = ""  # no header can carry that one
        pause = _FIRST_PAUSE_S if heard else min(pause * 2, _LONGEST_PAUSE_S)
        await anyio.sleep(pause)


def _assume_changes(take: Take, uris: tuple[str, ...], tasks: tuple[str, ...]) -> None:
    for note in CHANGES:
        take(notification(note))
    for uri in uris:
        take(notification(UPDATED, {"uri": uri}))
    for task in tasks:
        take(notification(TASK, {"taskId": task}))  # without its state: that has to be asked for


def is_stream(response: aiohttp.ClientResponse) -> bool:
    """Say whether a server agreed to send events."""
    return response.status == 200 and response.content_type == "text/event-stream"


def _hand_on(data: bytes, take: Take, read: Callable[[bytes], Read]) -> None:
    try:
        message = read(data).message
    except JsonError:
        return
    if isinstance(message, dict) and "method" in message:
        take(message)
