from gateway.replay.oracle import Answer
from gateway.replay.replaying import Replay
from gateway.replay.supposing import Named, Supposing, leaves
from gateway.replay.transcripts import Proposed
from gateway.replay.types import Recorded
from gateway.revision import Revision
from gateway.types.json import JsonObject
from gateway.types.outcomes import Status
from gateway.types.runs import Phase
from gateway.types.tools import (
    OnFail,
    ProvenanceRule,
    Sensitivity,
    Source,
    SourceKind,
    WhenTainted,
)
from tests.helpers.cases import a_contract
from tests.helpers.replays import (
    TOOL,
    a_known_case,
    a_law,
    decided,
    places,
    policy,
    recorded,
    rule,
)
from tests.helpers.runs import a_run

NAMED = Named(key=TOOL.key, server=TOOL.server, exposed=TOOL.exposed_name)
SEEN = Source(kind=SourceKind.RESULTS, operands=("crm.id",))
TRACED = a_contract(
    TOOL,
    sensitive={"/note": Sensitivity.SECRET},
    provenance=(ProvenanceRule(pointer="/id", sources=(SEEN,), on_fail=OnFail.DENY),),
)
FEW = policy(rule(when="args.amount <= 100.0"))


async def judged(
    law: Revision, state: Recorded, arguments: JsonObject, like: Recorded | None = None
) -> Answer:
    async def past(id: str) -> Revision | None:
        return law if id == law.id else None

    supposing = Supposing(replay=Replay(candidate=law, past=past, definitions={}))
    return await supposing.judged(
        Proposed(name=NAMED.exposed, arguments=arguments), NAMED, state, like
    )


async def test_other_arguments_are_judged_by_the_same_rules() -> None:
    law = a_law(FEW, a_contract(TOOL))
    state = recorded(a_known_case(law, {"amount": 5}))
    assert decided(await judged(law, state, {"amount": 50})).effect == "allow"
    assert decided(await judged(law, state, {"amount": 500})).effect == "deny"
    assert decided(await judged(law, state, {"amount": "x"})).status is Status.INVALID_ARGUMENTS


async def test_the_phase_is_that_of_the_run_at_that_place() -> None:
    not_then = rule("not", "deny", match={"tools": ["*"], "phases": ["retrieving"]})
    law = a_law(policy(rule(), not_then), a_contract(TOOL))
    for phase, effect in ((Phase.RETRIEVING, "deny"), (Phase.ACTING, "allow")):
        run = a_run(phase=phase)
        state = recorded(a_known_case(law, {}, run=run, run_id=run.run_id, phase=phase))
        assert decided(await judged(law, state, {"amount": 1})).effect == effect


async def test_the_origin_of_an_argument_is_known_where_it_is_the_very_same() -> None:
    law = a_law(policy(rule()), TRACED)
    state = recorded(a_known_case(law, {"id": "x-1", "amount": 1}))
    assert state.judged.status is Status.PROVENANCE_FAILED
    same = await judged(law, state, {"id": "x-1", "amount": 2}, like=state)
    assert decided(same).status is Status.PROVENANCE_FAILED
    assert places(await judged(law, state, {"id": "x-2"}, like=state)) == ["origin of /id"]
    assert places(await judged(law, state, {"id": "x-1"})) == ["origin of /id"]
    assert decided(await judged(law, state, {"amount": 1})).effect == "allow"


async def test_taint_that_nobody_looked_up_is_not_known() -> None:
    minding = a_contract(TOOL, when_tainted=WhenTainted.DENY)
    law, careless = a_law(policy(rule()), minding), a_law(policy(rule()), a_contract(TOOL))
    state = recorded(a_known_case(law, {}))
    assert decided(await judged(law, state, {"amount": 1})).effect == "allow"
    state = recorded(a_known_case(careless, {}))

    async def past(id: str) -> Revision | None:
        return careless if id == careless.id else None

    other = a_law(policy(rule()), minding, id="sha256:other")
    supposing = Supposing(replay=Replay(candidate=other, past=past, definitions={}))
    proposed = Proposed(name=NAMED.exposed, arguments={"amount": 1})
    assert places(await supposing.judged(proposed, NAMED, state, None)) == ["run.tainted"]


async def test_what_no_tool_is_called_and_what_is_no_object_is_refused() -> None:
    law = a_law(FEW, a_contract(TOOL))
    state = recorded(a_known_case(law, {"amount": 5}))

    async def past(id: str) -> Revision | None:
        del id

    supposing = Supposing(replay=Replay(candidate=law, past=past, definitions={}))
    nobody = await supposing.judged(Proposed(name="x", arguments={}), None, state, None)
    assert decided(nobody).status is Status.UNKNOWN_TOOL
    none = await supposing.judged(Proposed(name="x", arguments=None), NAMED, state, None)
    assert decided(none).code == "not_json"
    kept = await supposing.judged(Proposed(name="x", arguments={"amount": 5}), NAMED, state, None)
    assert decided(kept).effect == "allow"  # though its own revision is not kept


def test_every_value_has_its_place() -> None:
    assert leaves({"a": [1, {"b/c": None}], "d": {}}) == [
        ("/a/0", 1),
        ("/a/1/b~1c", None),
        ("/d", {}),
    ]
