"""What would have become of calls that passed: counted by tool and rule, live or from the log."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from gateway.types.json import Json, JsonObject
from gateway.types.observed import Observed, Would

# What people are told of first: the more a call would have been kept from, the earlier.
_ORDER: Final = tuple(each for each in Would if each is not Would.PASS)
IN_WORDS: Final = {
    Would.PASS: "passed",
    Would.DENY: "denied",
    Would.HOLD: "held",
    Would.REPEAT: "answered from the record",
    Would.CHANGE: "changed",
    Would.WITHHOLD: "answer withheld",
    Would.MASK: "answer masked",
}
_OF_ANSWERS: Final = {
    Would.WITHHOLD: "would have had the answer withheld",
    Would.MASK: "would have had parts of the answer masked",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What would have been done to calls of one tool, and by what."""

    would: Would
    rule: str  # a rule's id, or the code of another check
    tool: str  # `server.name`

    def to_json(self, calls: int) -> JsonObject:
        """Render for programs and for events."""
        return {"would": str(self.would), "rule": self.rule, "tool": self.tool, "calls": calls}


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts calls that passed, and what would have become of them."""

    since: datetime | None = None  # UTC; None: of whatever was counted
    calls: int = 0
    causes: Counter[Cause] = field(default_factory=Counter[Cause])

    def count(self, tool: str, *words: Observed | None) -> None:
        """Count one call: what would have become of it, and then of its answer."""
        self.calls += 1
        for word in words:
            if word is not None and word.would is not Would.PASS:
                cause = Cause(would=word.would, rule=word.rule or word.code, tool=tool)
                self.causes[cause] += 1

    def see(self, body: JsonObject) -> None:
        """Count what one event tells, of a call or of its answer."""
        found = body.get("observed")
        if not isinstance(found, dict):
            return
        is_call = "decision" in body  # an `authorization`; a `tool_call` tells of an answer
        self.calls += is_call
        would = Would(str(found.get("would")))
        if would is Would.PASS:
            return
        rule = str(found.get("rule") or found.get("code") or "")
        self.causes[Cause(would=would, rule=rule, tool=str(body.get("tool") or ""))] += 1

    def ranked(self) -> Iterator[tuple[Cause, int]]:
        """Yield what was counted: by what would have been done, the most frequent first."""
        order = {would: number for number, would in enumerate(_ORDER)}
        yield from sorted(
            self.causes.items(),
            key=lambda each: (order[each[0].would], -each[1], each[0].tool, each[0].rule),
        )

    def sums(self) -> dict[Would, int]:
        """Return how many calls would have been treated in each way, zeros left out."""
        found: Counter[Would] = Counter()
        for cause, calls in self.causes.items():
            found[cause.would] += calls
        return {would: found[would] for would in _ORDER if found[would]}

    def in_words(self) -> str:
        """Write the sums as people read them: `12 calls passed; 3 would have been denied`."""
        many = f"{self.calls} call{'' if self.calls == 1 else 's'} passed"
        parts = [f"{calls} {_said(would)}" for would, calls in self.sums().items()]
        return f"{many}; {', '.join(parts)}" if parts else f"{many}, all of them in any case"

    def to_json(self) -> JsonObject:
        """Render for programs."""
        return {
            "since": self.since.isoformat(timespec="seconds") if self.since is not None else None,
            "calls": self.calls,
            "sums": {str(would): calls for would, calls in self.sums().items()},
            "would": list[Json]([cause.to_json(calls) for cause, calls in self.ranked()]),
        }

    @classmethod
    def of_json(cls, told: JsonObject) -> "Tally":
        """Read one back, as a stored state has it; what is not understood is left out."""
        tally, calls, would = cls(), told.get("calls"), told.get("would")
        tally.calls = calls if isinstance(calls, int) else 0
        for each in would if isinstance(would, list) else []:
            if not isinstance(each, dict) or each.get("would") not in {*Would}:
                continue
            many = each.get("calls")
            cause = Cause(
                would=Would(str(each["would"])),
                rule=str(each.get("rule")),
                tool=str(each.get("tool")),
            )
            tally.causes[cause] += many if isinstance(many, int) else 0
        return tally


def _said(would: Would) -> str:
    return _OF_ANSWERS.get(would) or f"would have been {IN_WORDS[would]}"
