"""A workspace whose gateway has judged calls, by a real server and into a real log."""

from collections.abc import Sequence
from pathlib import Path

from gateway.types.audit import Audit
from gateway.types.json import JsonObject
from gateway.types.tools import Sensitivity
from tests.helpers.cases import a_call, a_principal
from tests.helpers.fake_server import Script, tool
from tests.helpers.workspaces import Workspace, a_workspace
from tests.journeys import house

SCHEMA = {
    "type": "object",
    "properties": {
        "amount": {"type": "number"},
        "currency": {"enum": ["EUR", "USD"]},
        "note": {"type": "string"},
        "iban": {"type": "string"},
    },
    "required": ["amount", "iban"],
}
PAY = {**tool("pay"), "inputSchema": SCHEMA}
RULES = """\
rules:
  - id: pay
    decision: allow
    match: {tools: [alpha.pay], roles: {any: [support, lead]}}
    when: args.amount <= 100.0
  - {id: never, decision: deny, match: {tools: [alpha.pay], users: [nobody]}}
"""


def paid(call: str, amount: float, **changes: str) -> tuple[str, JsonObject]:
    """Return the id and the arguments of one call."""
    return call, {"amount": amount, "iban": "DE02120300000000202051", **changes}


CALLS: Sequence[tuple[str, JsonObject]] = (
    paid("call_1", 50, currency="EUR"),
    paid("call_2", 80.5, note="it's fine"),
    paid("call_3", 500),
)


async def recorded(folder: Path, audit: Audit | None = None) -> Workspace:
    """Judge calls of Sam's, and of Kim's after the first, who leads."""
    entry = house.stdio(Script(tools=[PAY]), folder)
    sensitive = {"/iban": Sensitivity.SECRET}
    contract = house.contract(PAY, sensitive=sensitive, audit=audit or Audit())
    place = a_workspace(folder, {"alpha": entry}, contracts=[contract], policy=RULES)
    kim = a_principal(user="kim", roles=frozenset({"lead"}))
    async with place.opened() as gateway:
        for number, (call, arguments) in enumerate(CALLS):
            who = kim if number else a_principal()
            await gateway.handle(a_call("alpha__pay", arguments, call_id=call, principal=who))
    return place
