"""Arguments of a generated data set, judged over a real store."""

import random
from pathlib import Path

from gateway.types.json import JsonObject
from tests.helpers.orders import INVENTED, TRUE, Counter, arguments, opened


async def refused(counter: Counter, sent: list[JsonObject]) -> int:
    return sum([await counter.refusal(each) is not None for each in sent])


async def test_no_true_argument_is_refused_and_hardly_an_invented_one_accepted(
    tmp_path: Path,
) -> None:
    counter = await opened(tmp_path)
    chance = random.Random(11)
    assert all(len(order) == 20 for order in counter.orders)
    assert await refused(counter, [*arguments(chance, counter.orders, TRUE)]) == 0
    invented = [*arguments(chance, counter.orders, INVENTED)]
    accepted = len(invented) - await refused(counter, invented)
    assert len(invented) == 1_000
    assert accepted <= 10  # 1 %: an invented number of four digits may be a customer's
    counter.keeping.store.close()
