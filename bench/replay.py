"""How fast a log is judged again, and whether all of it comes out the same.

Made-up callers over a made-up company: every call is judged, recorded and redacted by the gateway's
own code, then judged again under its own revision, and under one with a planted change.
"""

import argparse
import asyncio
import sys
import time
from collections import Counter

from gateway.replay import history
from gateway.replay.history import Span
from gateway.replay.replaying import Replay
from gateway.replay.types import Grade
from gateway.revision import Revision
from tests.helpers.histories import History
from tests.helpers.planted import NARROWER, WIDER

_AT_ONCE = 500  # runs: a whole log of ten thousand would not be kept in memory


async def measure(runs: int, seed: int, change: str) -> int:
    """Print the figures; return how many calls were not the same under their own revision."""
    made = History(seed=seed)
    edit = {**WIDER, **NARROWER}[change]
    other = edit(made.world).revision()

    async def past(id: str) -> Revision | None:
        return made.revision if id == made.revision.id else None

    own = Replay(candidate=made.revision, past=past, definitions=made.definitions)
    candidate = Replay(candidate=other, past=past, definitions=made.definitions)
    grades, kinds = Counter[str](), Counter[Grade]()
    calls = unfaithful = unknown = size = events = 0
    judging = reading = comparing = 0.0
    for first in range(0, runs, _AT_ONCE):
        await made.runs(first, min(_AT_ONCE, runs - first))
        size, events = size + made.log.size, events + len(made.log.kept)
        start = time.process_time()
        read = [each async for each in history.calls(made.log, Span())]
        reading += time.process_time() - start
        start = time.process_time()
        for call in read:
            again = await own.compared(call)
            calls, unknown = calls + 1, unknown + bool(call.unknown)
            unfaithful += again.grade is not Grade.SAME or again.is_faithful is not True
        judging += time.process_time() - start
        start = time.process_time()
        for call in read:
            compared = await candidate.compared(call)
            kinds[compared.grade] += 1
            if compared.grade is Grade.CHANGED:
                grades[f"{compared.grants} {compared.cause}"] += 1
        comparing += time.process_time() - start
        made.forget()
    print(f"{runs} runs, {calls} calls, {events} events of {size / events:.0f} bytes")
    print(f"of {unknown} calls the log does not hold all arguments")
    same = calls - unfaithful
    print(f"self-check: {same} of {calls} the same ({same / calls:.4%})")
    print(f"reading: {calls / reading:.0f} calls/s of processor time")
    print(f"judging again: {calls / judging:.0f} calls/s, {judging / calls * 1e6:.0f} us a call")
    print(
        f"two revisions: {calls / comparing:.0f} calls/s, {comparing / calls * 1e6:.0f} us a call"
    )
    told = ", ".join(f"{kind} {kinds[kind]}" for kind in Grade)
    print(f"planted `{change}`: {told}; {dict(grades)}")
    return unfaithful


def main() -> int:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--change", default="a larger bound", choices=[*WIDER, *NARROWER])
    said = parser.parse_args()
    return 1 if asyncio.run(measure(said.runs, said.seed, said.change)) else 0


if __name__ == "__main__":
    sys.exit(main())
