"""One POST to an address of the configuration: no redirects, no waiting, nothing of its answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import aiohttp

TIMEOUT_S: Final = 5.0
_GONE: Final = 410
_LONGEST_PAUSE_S: Final = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """What became of one attempt; `problem` is one line without the address, empty for success."""

    problem: str = ""
    is_final: bool = False  # the receiver wants no more of it
    pause_s: float = 0.0  # that the receiver asks for, an hour at most


async def post(url: str, headers: Mapping[str, str], body: bytes) -> Posted:
    """Send once, within five seconds; never raises for what the other end does.

    Not a byte of the answer's body is read: its status says all, and what a receiver writes
    belongs neither into the log nor into memory.
    """
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    try:
        # A redirect could lead the gateway, and what it tells, anywhere.
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(url, headers=headers, data=body, allow_redirects=False) as response,
        ):
            return _judged(response.status, response.headers.get("Retry-After", ""))
    except TimeoutError:
        return Posted(problem=f"no answer within {TIMEOUT_S:g} s")
    except (aiohttp.ClientError, OSError) as error:
        return Posted(problem=f"{type(error).__name__} while sending")


def _judged(status: int, retry_after: str) -> Posted:
    if 200 <= status < 300:
        return Posted()
    if 300 <= status < 400:
        return Posted(problem=f"the answer was HTTP {status}; redirects are not followed")
    pause = float(retry_after) if retry_after.isascii() and retry_after.isdigit() else 0.0
    return Posted(
        problem=f"the answer was HTTP {status}",
        is_final=status == _GONE,
        pause_s=min(pause, _LONGEST_PAUSE_S),
    )
