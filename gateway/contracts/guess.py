"""One guess of a drafted contract: which line of it, what it says, and why."""

from dataclasses import dataclass

from gateway.types.json import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """What was guessed about one key of a contract file.

    `field` is the path of the key as the file spells it, with dots: `effect`, `risk`, `sensitive`,
    `results.trust`, `idempotency.intent`, `scopes`. `why` is one line without a full stop.
    """

    field: str
    value: Json  # as the file would have it; of `sensitive` a map of one pointer
    why: str
    offered: bool = False  # not in the draft: what a person might take over
