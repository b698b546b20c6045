from gateway.replay.replaying import Replay
from gateway.replay.transcribing import Kind, Step, Transcribed, Transcribing
from gateway.replay.transcripts import Proposed
from gateway.replay.types import Judgement, Recorded
from gateway.revision import Revision
from gateway.types.decisions import DecisionEffect
from gateway.types.json import JsonObject
from gateway.types.values import replaced
from tests.helpers.cases import a_contract
from tests.helpers.replays import TOOL, a_known_case, a_law, policy, recorded, rule

LAW = a_law(policy(rule(when="args.amount <= 100.0")), a_contract(TOOL))


def a_call(number: int, amount: float) -> Recorded:
    found = recorded(a_known_case(LAW, {"amount": amount}))
    return replaced(found, call=f"call_{number}", seq=number)


async def beside(recorded: list[Recorded], *amounts: float) -> Transcribed:
    async def past(id: str) -> Revision | None:
        return LAW if id == LAW.id else None

    def digest(tenant: str, arguments: JsonObject) -> str:
        return f"{tenant} {arguments}"

    transcribing = Transcribing(
        replay=Replay(candidate=LAW, past=past, definitions={}), names={}, digest=digest
    )
    new = [Proposed(name=TOOL.exposed_name, arguments={"amount": each}) for each in amounts]
    return await transcribing("run_1", recorded, [*new, Proposed(name="run_status", arguments={})])


def kinds(found: Transcribed) -> list[str]:
    return [str(each.kind) for each in found.steps]


async def test_each_call_stands_beside_the_one_that_it_is_most_like() -> None:
    found = await beside([a_call(1, 10), a_call(2, 20)], 10, 200, 30)
    assert kinds(found) == ["same", "changed", "added"]
    assert [each.recorded for each in found.steps] == ["call_1", "call_2", ""]
    assert [each.is_refused for each in found.steps] == [False, True, False]
    assert (found.recorded, found.proposed, found.own) == (2, 3, 1)
    assert len(found.of(Kind.ADDED)) == 1


async def test_a_call_is_the_same_by_its_digest_where_the_log_has_one() -> None:
    call = replaced(a_call(1, 10), digest=f"{a_call(1, 10).tenant} {{'amount': 99}}")
    assert kinds(await beside([call], 99)) == ["same"]
    assert kinds(await beside([call], 10)) == ["changed"]


async def test_calls_that_the_gateway_made_by_itself_are_none_of_the_models() -> None:
    own = replaced(a_call(2, 20), cause="compensation")
    assert kinds(await beside([a_call(1, 10), own], 10)) == ["same"]


async def test_what_is_dropped_keeps_what_it_was_told() -> None:
    found = await beside([a_call(1, 10), a_call(2, 20)], 20)
    dropped = found.steps[0]
    assert (dropped.kind, dropped.number, dropped.is_undecidable) == (Kind.DROPPED, 0, False)
    assert dropped.before is not None
    assert dropped.before.effect is DecisionEffect.ALLOW


def test_what_nobody_knows_is_refused_only_where_that_is_certain() -> None:
    step = Step(kind=Kind.ADDED, tool="a.b", number=1)
    assert (step.is_undecidable, step.is_refused) == (True, False)
    assert replaced(step, certain=DecisionEffect.DENY).is_refused
    denied = Judgement(effect=DecisionEffect.DENY)
    assert replaced(step, after=denied).is_refused
