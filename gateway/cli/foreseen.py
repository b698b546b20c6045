"""What enforcing would do to calls like those of the log, by the files as they are now."""

from dataclasses import dataclass, field

from gateway.actions.observed import Tally
from gateway.replay.types import Compared, Judgement
from gateway.types.decisions import DecisionEffect
from gateway.types.json import JsonObject
from gateway.types.observed import PASSED, Observed, Would


@dataclass(slots=True, kw_only=True)
class Foreseen:
    """Counts recorded calls by what would become of each."""

    tally: Tally = field(default_factory=Tally)
    undecidable: int = 0  # what is known of them is not enough

    def see(self, compared: Compared) -> None:
        """Count one call that was judged again."""
        if compared.recorded.cause:
            return  # the gateway's own: nobody would miss it
        after = compared.after
        if after is None:
            self.undecidable += 1
            return
        self.tally.count(compared.recorded.tool, _word(compared, after))

    def to_json(self) -> JsonObject:
        """Render for programs."""
        return {**self.tally.to_json(), "undecidable": self.undecidable}


def _word(compared: Compared, after: Judgement) -> Observed:
    if after.exceeded:
        rule = next((each.rule for each in after.limits if each.id == after.exceeded), "")
        return Observed(would=Would.DENY, rule=rule, code=after.exceeded)
    if after.goes is DecisionEffect.DENY:
        return Observed(would=Would.DENY, rule=after.rule, code=after.code)
    if after.goes is DecisionEffect.REQUIRE_APPROVAL:
        return Observed(would=Would.HOLD, rule=after.rule, code=after.code)
    if compared.moves_nothing or compared.recorded.would == Would.REPEAT:
        return Observed(would=Would.REPEAT)
    if after.constraints:
        return Observed(would=Would.CHANGE, rule=after.constraints[0].rule)
    return PASSED
