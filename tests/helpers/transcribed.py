"""A workspace whose gateway has judged the calls of one run, and transcripts of the same task."""

import json
from pathlib import Path
from typing import Any

from gateway.client.calls import meta
from gateway.types.json import JsonObject
from gateway.types.outcomes import Status
from gateway.types.tools import OnFail, ProvenanceRule, Sensitivity, Source, SourceKind, Yield
from tests.helpers.cases import a_call, a_principal
from tests.helpers.fake_server import Script, text, tool
from tests.helpers.runs import begun
from tests.helpers.workspaces import Workspace, a_workspace
from tests.journeys import house

TEXT: JsonObject = {"type": "string"}
FIND = {
    **tool("find"),
    "inputSchema": {"type": "object", "properties": {"name": TEXT}, "required": ["name"]},
}
PAY = {
    **tool("pay"),
    "inputSchema": {
        "type": "object",
        "properties": {"customer": TEXT, "amount": {"type": "number"}, "iban": TEXT},
        "required": ["customer", "amount"],
    },
}
RULES = """\
rules:
  - {id: find, decision: allow, match: {tools: [alpha.find]}}
  - id: pay.small
    decision: allow
    match: {tools: [alpha.pay]}
    when: args.amount <= 100.0
  - id: pay.large
    decision: deny
    reason: too much money
    match: {tools: [alpha.pay]}
    when: args.amount > 100.0
"""
RUN = "run_01KB2Y7Q1C5D6E7F8G9H0J1K2M"
TRUE: JsonObject = {"customer": "c-1", "amount": 50, "iban": "DE02120300000000202051"}
CALLS: tuple[tuple[str, str, JsonObject], ...] = (
    ("call_1", "alpha__find", {"name": "ann"}),
    ("call_2", "alpha__find", {"name": "bob"}),
    ("call_3", "alpha__pay", TRUE),
    ("call_4", "alpha__find", {"name": "cid"}),
)


async def recorded(folder: Path) -> Workspace:
    """Make the calls of the run, by a real server and into a real log."""
    found = {**text("ann"), "structuredContent": {"id": "c-1"}}
    entry = house.stdio(Script(tools=[FIND, PAY], on_call={"find": [{"reply": found}]}), folder)
    source = Source(kind=SourceKind.RESULTS, operands=("crm.customer",))
    contracts = [
        house.contract(FIND, yields=(Yield(type="crm.customer", path="/id"),)),
        house.contract(
            PAY,
            sensitive={"/iban": Sensitivity.SECRET},
            provenance=(
                ProvenanceRule(pointer="/customer", sources=(source,), on_fail=OnFail.DENY),
            ),
        ),
    ]
    place = a_workspace(
        folder, {"alpha": entry}, contracts=contracts, policy=RULES, runs={"enabled": True}
    )
    with place.store() as store:
        await begun(store, run_id=RUN, user="sam", tenant="acme", is_of_user=True)
    async with place.opened() as gateway:
        for call, name, arguments in CALLS:
            made = a_call(name, arguments, call_id=call, principal=a_principal(), meta=meta(RUN))
            finished = await gateway.handle(made)
            assert finished.status is Status.OK, finished
    return place


def a_file(folder: Path, *calls: tuple[str, JsonObject], name: str = "new.json") -> str:
    """Write calls as a plain list."""
    said: list[Any] = [{"name": name, "arguments": arguments} for name, arguments in calls]
    path = folder / name
    path.write_text(json.dumps(said), encoding="utf-8")
    return str(path)
