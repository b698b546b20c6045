"""What it costs to judge where arguments come from: sixty orders of twenty fields in one run.

python -m bench.provenance [--rounds 3]: milliseconds a call, of a thousand right and a thousand
invented arguments in turns, and what it costs to remember what one read has returned.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from pathlib import Path

from tests.helpers.orders import INVENTED, TRUE, Counter, arguments, opened


async def timed(counter: Counter, sent: list) -> tuple[list[float], int, float]:
    """Return the milliseconds of each call, how many were refused, and the CPU time of a call."""
    took, refused, cpu = [], 0, time.process_time()
    for each in sent:
        began = time.perf_counter()
        refusal = await counter.refusal(each)
        took.append((time.perf_counter() - began) * 1_000)
        refused += refusal is not None
    return took, refused, (time.process_time() - cpu) * 1_000 / len(sent)


def told(name: str, took: list[float], refused: int, cpu: float) -> None:
    """Print one line."""
    ninety = statistics.quantiles(took, n=100)[94]
    middle, most = statistics.median(took), max(took)
    figures = "".join(f"{each:>10.3f}" for each in (middle, ninety, most, cpu))
    print(f"{name:<9} {len(took):>6} {refused:>8}{figures}")


async def main(rounds: int) -> None:
    """Measure and print."""
    print("arguments  calls  refused    median       p95       max       CPU  (ms a call)")
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            store = Path(folder) / str(number)
            store.mkdir()
            began = time.perf_counter()
            counter = await opened(store, seed=number)
            opening = (time.perf_counter() - began) * 1_000
            chance = random.Random(number)
            for name, draws in (("true", TRUE), ("invented", INVENTED)):
                sent = [*arguments(chance, counter.orders, draws)]
                told(name, *await timed(counter, sent))
            counter.keeping.store.close()
            print(f"a store was opened and one read remembered in {opening:.0f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    asyncio.run(main(parser.parse_args().rounds))
