"""A sample of a population of any size: each row as likely as any, and the same by its seed."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from random import Random

from gateway.types.json import JsonObject


@dataclass(slots=True, kw_only=True)
class Sample:
    """Some rows of an answer, for whoever tests a control by items drawn from all of them."""

    size: int
    seed: int
    population: int = 0  # rows that there were to draw from
    _drawn: list[tuple[int, JsonObject]] = field(default_factory=list[tuple[int, JsonObject]])

    async def of(self, rows: AsyncIterator[JsonObject]) -> AsyncIterator[JsonObject]:
        """Yield the rows that are drawn, in their order; no more than these are held."""
        random = Random(self.seed)  # noqa: S311 - an auditor has to be able to draw the same again
        async for row in rows:
            if len(self._drawn) < self.size:
                self._drawn.append((self.population, row))
            elif (place := random.randint(0, self.population)) < self.size:
                self._drawn[place] = self.population, row
            self.population += 1
        for _, row in sorted(self._drawn, key=lambda each: each[0]):
            yield row
