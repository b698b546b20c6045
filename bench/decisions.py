"""All decide at once, at three gateways, again and again: nothing forbidden, nothing sent twice.

scripts/chaos decisions [--rounds 200] [--kills 20] [--engine sqlite|postgres|both]

In each round fifty callers come back for one held call, while two people approve it, one denies it,
and others try what they may not: who asked, a lead who saw another call, a lead of another tenant,
and the agent's own key. Then a gateway is killed at each place on the way of a held call.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.helpers.deciders import town
from tests.helpers.deciding_kills import TURNS, Toll, kills
from tests.helpers.deciding_rounds import CALLERS, Tally, rounds
from tests.helpers.postgres import own_postgres


def told(tally: Tally, seconds: float) -> None:
    """Print what happened in the rounds."""
    many = sum(tally.ends.values())
    print(f"{many} rounds of {CALLERS} callers in {seconds:.0f} s")
    for name, counter in (
        ("ends", tally.ends),
        ("sent by", tally.senders),
        ("words", tally.casts),
        ("told to call again", tally.again),
    ):
        print(
            f"  {name}: " + ", ".join(f"{count} {what}" for what, count in sorted(counter.items()))
        )
    print(f"  {tally.answers} answers; {tally.refused} forbidden attempts")
    print(f"  {len(tally.wrong)} violations")
    for each in tally.wrong[:20]:
        print(f"    {each}")


def told_of_kills(toll: Toll, seconds: float) -> None:
    """Print what was found after the kills, a line for each place and end."""
    print(f"{sum(toll.ends.values())} kills in {seconds:.0f} s")
    print("| killed | found afterwards | times | sent |")
    print("| --- | --- | --- | --- |")
    for (place, end), count in toll.ends.items():
        print(f"| {place} | {end} | {count} | {toll.sent[place, end]} |")
    print(f"  {len(toll.wrong)} violations")
    for each in toll.wrong[:20]:
        print(f"    {each}")


async def killed(url: str, folder: Path, many: int) -> bool:
    async with town(folder, url) as found:
        began = time.monotonic()
        toll = await kills(found, many)
    told_of_kills(toll, time.monotonic() - began)
    return not toll.wrong and sum(toll.ends.values()) == many * len(TURNS)


async def played(url: str, folder: Path, many: int) -> bool:
    async with town(folder, url) as found:
        began = time.monotonic()
        tally = await rounds(found, many)
    told(tally, time.monotonic() - began)
    return not tally.wrong and sum(tally.ends.values()) == many


def quiet(folder: Path) -> bool:
    """Whether no gateway wrote a stack trace."""
    logs = {path: path.read_text().count("Traceback") for path in folder.rglob("log.txt")}
    for path, traces in logs.items():
        if traces:
            print(f"  {traces} stack traces in {path}")
    return not any(logs.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--kills", type=int, default=20, help="at each place")
    parser.add_argument("--engine", choices=("sqlite", "postgres", "both"), default="both")
    chosen = parser.parse_args()
    good = True
    for engine in ("sqlite", "postgres"):
        if chosen.engine not in (engine, "both"):
            continue
        folder = Path(tempfile.mkdtemp(prefix=f"weighbridge-decisions-{engine}-"))
        with ExitStack() as stack:
            url = f"sqlite:///{folder}/store.db"
            if engine == "postgres":
                url = stack.enter_context(own_postgres()).create("decisions")
            print(f"{engine}: {folder}", flush=True)
            if chosen.rounds:
                good &= asyncio.run(played(url, folder, chosen.rounds))
            if chosen.kills:
                good &= asyncio.run(killed(url, folder, chosen.kills))
            good &= quiet(folder)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
