"""How tools stand to their contracts, and how they are counted."""

from dataclasses import replace

import pytest

from gateway.contracts.draft import draft
from gateway.contracts.standing import Standing, in_words, is_exposed, standing, tally
from gateway.types.tools import Contract, Quarantine, Tool
from tests.helpers.cases import a_definition, a_tool

TOOL = a_tool(a_definition("find"))
DRAFT = draft(TOOL).contract
REVIEWED = replace(DRAFT, reviewed=True)
OTHER = replace(REVIEWED, pin="sha256:other")
BAD = replace(TOOL, quarantine=Quarantine(reason="r"))


@pytest.mark.parametrize(
    ("tool", "contract", "expected", "exposed", "observed"),
    [
        (TOOL, REVIEWED, Standing.REVIEWED, True, True),
        (TOOL, DRAFT, Standing.UNREVIEWED, False, True),
        (TOOL, replace(OTHER, reviewed=False), Standing.UNREVIEWED, False, False),
        (TOOL, None, Standing.NO_CONTRACT, False, True),
        (TOOL, OTHER, Standing.CHANGED, False, False),
        (BAD, REVIEWED, Standing.QUARANTINED, False, False),
    ],
)
def test_one_thing_stands_between_a_tool_and_agents(
    tool: Tool, contract: Contract | None, expected: Standing, exposed: bool, observed: bool
) -> None:
    assert standing(tool, contract) is expected
    assert is_exposed(tool, contract, observe=False) is exposed
    assert is_exposed(tool, contract, observe=True) is observed


def test_tools_are_counted_by_what_there_is_to_do() -> None:
    new = a_tool(a_definition("new"))
    contracts = {TOOL.key: REVIEWED}
    counts = tally([TOOL, BAD, new], contracts, observe=False)
    assert counts == {"exposed": 1, "no_contract": 1, "quarantined": 1}
    assert in_words(counts) == "1 exposed, 1 no contract, 1 quarantined"
    assert tally([TOOL, new], contracts, observe=True) == {"exposed": 2, "no_contract": 1}
    assert tally([], {}, observe=False) == {"exposed": 0}
