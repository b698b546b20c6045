"""The process behind a long piece of work: reads its order, works beside the gateway, and ends.

Only pages start it, as `python -m gateway.admin.errand_process FOLDER`. The order is one line of
JSON; when standard input ends after it, whoever gave it is gone, and so is this process.
"""

import os
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

import anyio

from gateway import jsontext
from gateway.actions import review
from gateway.actions.comparing import compare
from gateway.admin.errands import PROBLEM, PROGRESS, RESULT
from gateway.admin.replay_work import replayed
from gateway.admin.shelves import compiled
from gateway.errors import WeighbridgeError
from gateway.types.json import JsonObject

_LARGEST: Final = 64 << 20
_PIECE: Final = 1 << 16
_NICE: Final = 10  # calls go first
_REQUESTS: Final = 8_000  # made-up calls for a comparison of policies

Progress = Callable[[float, int], None]


async def _replay(order: JsonObject, progress: Progress) -> bytes:
    return await replayed(order, progress)


async def _diff(order: JsonObject, progress: Progress) -> bytes:
    progress(0.0, 0)
    before, after = compiled(order["before"]), compiled(order["after"])
    servers = order.get("servers")
    found = compare(
        before,
        after,
        servers=[str(each) for each in servers] if isinstance(servers, list) else (),
        most=_REQUESTS,
    )
    return jsontext.dump(review.to_json(found))


WORK: Final[Mapping[str, Callable[[JsonObject, Progress], Awaitable[bytes]]]] = {
    "replay": _replay,
    "diff": _diff,
}


def work(order: JsonObject, folder: Path) -> int:
    """Do what an order says and return the exit code; what went wrong is in the folder."""

    def progress(share: float, count: int) -> None:
        _write(folder / PROGRESS, f"{share:.4f} {count}".encode())

    async def done() -> bytes:
        return await WORK[str(order.get("work"))](order, progress)

    try:
        _write(folder / RESULT, anyio.run(done))
    except WeighbridgeError as error:
        _write(folder / PROBLEM, str(error).encode())
        return 1
    except Exception as error:
        told = f"it failed with {type(error).__name__}; standard error of the gateway says where"
        _write(folder / PROBLEM, told.encode())
        raise
    return 0


def main(folder: Path) -> int:
    """Read the order from standard input and carry it out."""
    os.nice(_NICE)
    order = jsontext.parse(_line(), max_bytes=_LARGEST, max_nodes=_LARGEST)
    threading.Thread(target=_end_with_giver, daemon=True).start()
    return work(order, folder) if isinstance(order, dict) else 2


def _line() -> bytes:
    """Return the first line of standard input; past its buffer, which a thread must not hold."""
    read = bytearray()
    while not read.endswith(b"\n") and len(read) < _LARGEST and (piece := os.read(0, _PIECE)):
        read += piece
    return bytes(read)


def _end_with_giver() -> None:
    while os.read(0, _PIECE):
        pass
    os._exit(3)


def _write(path: Path, data: bytes) -> None:
    """Write a file that whoever looks never sees half of."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(data)
    partial.replace(path)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
