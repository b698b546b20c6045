"""The stdio front before the test house, as a program that hosts can start."""

import sys

import anyio

from gateway.clock import SystemClock
from gateway.listen.serve import stop_on_signals
from gateway.listen.stdio import serve_stdio
from gateway.types.calls import ProposedCall
from gateway.types.json import JsonObject
from gateway.types.outcomes import Finished, Status
from tests.listen.house import House, a_principal


class TalkativeHouse(House):
    """A house that also changes its tools on request, and prints where it must not."""

    async def handle(self, call: ProposedCall) -> Finished:
        """Handle the tools that only this program has, else the house's."""
        print("a stray print")  # has to miss the wire
        match call.name:
            case "change":
                self.change()
            case "was_slow_cancelled":
                with anyio.move_on_after(5):
                    await self.cancelled.wait()
            case _:
                return await super().handle(call)
        structured: JsonObject = {"cancelled": self.cancelled.is_set()}
        return Finished(result={"content": [], "structuredContent": structured}, status=Status.OK)


async def main() -> None:
    """Serve until the client leaves or a signal comes."""
    async with stop_on_signals() as stop:
        await serve_stdio(
            TalkativeHouse(),
            a_principal("local"),
            clock=SystemClock(),
            stop=stop,
            max_line_bytes=int(sys.argv[1]) if len(sys.argv) > 1 else 1024 * 1024,
        )


if __name__ == "__main__":
    anyio.run(main)
