"""Whatever would have been decided, what a server answers reaches its caller as it came."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway import jsontext
from gateway.app.observing import observing
from gateway.app.stance import Stance
from gateway.errors import StoreUnavailable
from gateway.types.calls import Era, ProposedCall
from gateway.types.decisions import Mode
from gateway.types.events import Event
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Delivery, Rejected
from gateway.types.outcomes import Finished
from gateway.types.tools import Contract, OnFail, ProvenanceRule, Source, SourceKind
from tests.helpers.cases import (
    AbsentCaller,
    a_call,
    a_contract,
    a_revision,
    a_tool,
)
from tests.helpers.pipelines import Answering, Log, a_pipeline
from tests.helpers.shelves import Law, Shelf

ALLOW = "{id: all, decision: allow, match: {tools: ['*']}}"
SCHEMA: JsonObject = {"type": "object", "required": ["never"]}
"""Nothing that is generated here fits."""
TOOL = a_tool({"name": "find", "inputSchema": {"type": "object"}})
STRICT = a_tool({"name": "find", "inputSchema": SCHEMA})
TYPED = a_tool({"name": "find", "inputSchema": {"type": "object"}, "outputSchema": SCHEMA})
ORIGIN = ProvenanceRule(
    pointer="/a",
    sources=(Source(kind=SourceKind.ALLOWLIST, operands=("no such value",)),),
    on_fail=OnFail.DENY,
)


@dataclass(frozen=True, kw_only=True)
class World:
    """A tool, the contract for it, and the rules: `would` is what is decided by them."""

    would: str
    tool: Any = TOOL
    contract: Contract | None = None
    rule: str = ALLOW
    end: str = ""  # what would have become of the answer


WORLDS: Mapping[str, World] = MappingProxyType(
    {
        "allowed": World(would="pass", contract=a_contract(TOOL)),
        "denied": World(
            would="deny",
            contract=a_contract(TOOL),
            rule=f"{ALLOW}\n  - {{id: no, decision: deny, match: {{tools: ['*']}}}}",
        ),
        "nobody allows it": World(
            would="deny",
            contract=a_contract(TOOL),
            rule="{id: other, decision: allow, match: {tools: [crm.other]}}",
        ),
        "held": World(
            would="hold",
            contract=a_contract(TOOL),
            rule="{id: ask, decision: require_approval, match: {tools: ['*']}, "
            "approval: {approvers: {roles: [boss]}}}",
        ),
        "arguments": World(would="deny", tool=STRICT, contract=a_contract(STRICT)),
        "unreviewed": World(would="deny"),
        "changed": World(would="deny", contract=a_contract(TYPED)),
        "scopes": World(would="deny", contract=a_contract(TOOL, scopes=frozenset({"none:has"}))),
        "origin": World(would="deny", contract=a_contract(TOOL, provenance=(ORIGIN,))),
        "masked": World(
            would="pass",
            contract=a_contract(TOOL),
            rule="{id: all, decision: allow, match: {tools: ['*']}, "
            "output: {keep: [/nothing/like/that]}}",
        ),
        "answer": World(would="pass", tool=TYPED, contract=a_contract(TYPED)),
    }
)

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**25), 10**25),
        st.floats(allow_nan=False, allow_infinity=False),
        TEXTS,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)
RESULTS = st.fixed_dictionaries(
    {"content": st.one_of(st.lists(st.dictionaries(TEXTS, JSON, max_size=3), max_size=3), JSON)},
    optional={
        "structuredContent": JSON,
        "isError": st.booleans(),
        "_meta": st.dictionaries(TEXTS, JSON, max_size=2),
        "more": JSON,
    },
)
ARGUMENTS = st.dictionaries(st.sampled_from(["a", "b", "c d", "é"]), JSON, max_size=3)


class Scene:
    """A pipeline for one world, its server, and what the log gets; made once, for speed."""

    def __init__(self, world: World, log: Log | None = None) -> None:
        self.server, self.log = Answering(), log or Log()
        contracts = () if world.contract is None else (world.contract,)
        law = Law(a_revision(contracts, f"rules:\n  - {world.rule}\n"))
        pipeline = a_pipeline(Shelf((world.tool,)), law, self.server, self.log)
        self._pipeline = observing(pipeline, Stance(mode=Mode.OBSERVE))

    def call(self, answer: Delivery, arguments: JsonObject, era: Era = Era.MODERN) -> Finished:
        """Make one call where decisions are only recorded."""
        self.server.answer = answer
        self.server.asked.clear()
        self.log.events.clear()
        call = a_call("crm__find", arguments, caller=OfEra(era))
        return asyncio.run(self._handled(call))

    async def _handled(self, call: ProposedCall) -> Finished:
        return await self._pipeline.handle(call)


class OfEra(AbsentCaller):
    """A caller of one era."""

    def __init__(self, era: Era) -> None:
        self.era = era


@cache
def scene(name: str) -> Scene:
    return Scene(WORLDS[name])


@pytest.mark.parametrize("name", WORLDS)
@settings(max_examples=40)
@given(result=RESULTS, arguments=ARGUMENTS, era=st.sampled_from(Era))
def test_every_byte_of_an_answer_and_of_arguments_passes(
    name: str, result: JsonObject, arguments: JsonObject, era: Era
) -> None:
    at, answer = scene(name), Delivered(result=result, size=len(jsontext.dump(result)))
    finished = at.call(answer, arguments, era)
    left: dict[str, Json] = {**finished.result}
    meta = left.pop("_meta")
    assert isinstance(meta, dict)
    left["_meta"] = {key: each for key, each in meta.items() if key != "weighbridge/outcome"}
    came = {"_meta": {}, **result}
    assert jsontext.dump(dict(sorted(left.items()))) == jsontext.dump(dict(sorted(came.items())))
    assert at.server.asked[0].params["arguments"] is arguments
    decided = at.log.events[0].body["observed"]
    assert isinstance(decided, dict)
    # Without the argument there is nothing whose origin could be wrong.
    expected = "pass" if name == "origin" and "a" not in arguments else WORLDS[name].would
    assert decided["would"] == expected


@pytest.mark.parametrize("name", WORLDS)
def test_an_error_of_a_server_passes_as_it_came(name: str) -> None:
    data: JsonObject = {"why": ["it", 1]}
    for given_data in (None, "text", data):
        said = Rejected(code=-32050, message="no\u202e luck", data=given_data, size=9)
        finished = scene(name).call(said, {})
        assert finished.error is not None
        assert (finished.error.code, finished.error.message) == (-32050, "no\u202e luck")
        assert finished.error.data == given_data


class Full(Log):
    """A log that has room for what may wait in memory, and for nothing that has to be kept."""

    def append(self, events: Sequence[Event], *, durable: bool = False, owed: bool = False) -> None:
        if durable:
            raise StoreUnavailable("the disk is full")
        super().append(events, owed=owed)


@pytest.mark.parametrize(
    ("name", "status"),
    [("denied", "ok"), ("held", "ok"), ("changed", "audit_unavailable")],
)
def test_what_may_change_something_is_recorded_before_it_is_sent_or_not_sent(
    name: str, status: str
) -> None:
    at = Scene(WORLDS[name], Full())  # of a changed definition nobody knows what it does
    finished = at.call(Delivered(result={"content": []}, size=14), {})
    assert finished.status == status
    assert len(at.server.asked) == (status == "ok")
