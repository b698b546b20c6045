from typing import Any

import pytest

from gateway import ids
from gateway.runs.binding import KEY, BadRun, Chain, Conflict, asked_phase, places, within
from gateway.types.calls import ProposedCall
from gateway.types.json import Json
from gateway.types.runs import BindingKind, Phase, Place
from tests.helpers.cases import AbsentCaller, a_call

K = BindingKind
RUN, OTHER = ids.new("run"), ids.new("run")
WHOEVER = Place(kind=K.PRINCIPAL, value="")


class StdioCaller(AbsentCaller):
    transport = "stdio"
    session = "stdio"


class SessionCaller(AbsentCaller):
    session = "s-1"


def found(call: ProposedCall, **more: Any) -> tuple[Place, ...]:
    return places(call, more.pop("chain", Chain()), **more)


@pytest.mark.parametrize("said", [RUN, {"id": RUN}, {"id": RUN, "phase": "acting"}])
def test_a_run_that_is_named_is_looked_up_and_nothing_else_is(said: Any) -> None:
    call = a_call(meta={KEY: said, "threadId": "t1"})
    assert found(call) == (Place(kind=K.META, value=RUN),)


def test_every_source_that_names_a_run_is_heard() -> None:
    assert found(a_call(run_header=f" {RUN} ")) == (Place(kind=K.HEADER, value=RUN),)
    assert found(a_call(), of_tool=RUN) == (Place(kind=K.TOOL, value=RUN),)
    both = a_call(meta={KEY: RUN}, run_header=RUN)
    assert found(both, of_tool=RUN) == (Place(kind=K.META, value=RUN),)


@pytest.mark.parametrize(
    ("call", "of_tool"),
    [
        (a_call(meta={KEY: RUN}, run_header=OTHER), ""),
        (a_call(meta={KEY: RUN}), OTHER),
        (a_call(run_header=RUN), OTHER),
    ],
)
def test_two_sources_that_name_different_runs_are_a_conflict(
    call: ProposedCall, of_tool: str
) -> None:
    """Failure case 22."""
    with pytest.raises(Conflict, match="name different runs"):
        found(call, of_tool=of_tool)


@pytest.mark.parametrize(
    "said",
    ["17", "run_1", f"{RUN}x", RUN.lower(), {"id": 3}, {}, 7, True, [], "x" * 999, {"id": ""}],
)
def test_what_is_no_name_of_a_run_is_refused_and_not_guessed(said: Any) -> None:
    with pytest.raises(BadRun) as refused:
        found(a_call(meta={KEY: said}))
    assert "x" * 100 not in str(refused.value)


@pytest.mark.parametrize(
    ("meta", "kind", "value"),
    [
        ({"vscode.conversationId": "c"}, K.CONVERSATION, "vscode.conversationId=c"),
        ({"threadId": "t"}, K.CONVERSATION, "threadId=t"),
        ({"ai.opencode/sessionID": "o"}, K.CONVERSATION, "ai.opencode/sessionID=o"),
        (
            {"antigravity.google/conversation_id": "a"},
            K.CONVERSATION,
            "antigravity.google/conversation_id=a",
        ),
        ({"openai/session": "s"}, K.CONVERSATION, "openai/session=s"),
        ({"sessionId": 7}, K.SESSION, "sessionId=7"),
    ],
)
def test_hosts_are_understood_by_what_they_send_anyway(
    meta: Any, kind: BindingKind, value: str
) -> None:
    assert found(a_call(meta=meta)) == (Place(kind=kind, value=value),)


@pytest.mark.parametrize("value", ["", None, True, {"id": "c"}])
def test_a_value_that_can_be_no_name_leads_nowhere(value: Any) -> None:
    assert found(a_call(meta={"threadId": value})) == (WHOEVER,)


def test_a_conversation_comes_before_a_session_and_the_caller_counts_without_either() -> None:
    call = a_call(meta={"threadId": "t", "sessionId": "s"}, caller=SessionCaller())
    assert [place.value for place in found(call)] == [
        "threadId=t",
        "sessionId=s",
        "mcp=s-1",
    ]
    assert found(a_call()) == (WHOEVER,)


def test_equal_values_of_different_hosts_are_different_places() -> None:
    one, other = found(a_call(meta={"threadId": "1"})), found(a_call(meta={"openai/session": "1"}))
    assert one[0] != other[0]


def test_a_process_of_a_host_is_a_session_of_its_own() -> None:
    call = a_call(caller=StdioCaller())
    assert found(call) == (WHOEVER,)
    chain = Chain(environment="e-1", process="p-1")
    assert [place.value for place in found(call, chain=chain)] == ["env=e-1", "stdio=p-1"]


def test_the_table_of_keys_can_be_another_one() -> None:
    chain = Chain(conversations=("acme/chat",), sessions=())
    call = a_call(meta={"acme/chat": "c", "threadId": "t", "sessionId": "s"})
    assert [place.value for place in found(call, chain=chain)] == ["acme/chat=c"]


def test_a_host_may_name_the_phase_that_the_run_is_to_be_in() -> None:
    assert asked_phase({}) is asked_phase({KEY: RUN}) is asked_phase({KEY: {"id": RUN}}) is None
    assert asked_phase({KEY: {"id": RUN, "phase": "acting"}}) is Phase.ACTING
    odd: list[Json] = ["doing", 3, ["acting"]]
    for phase in odd:
        with pytest.raises(BadRun, match="a `phase` that there is not"):
            asked_phase({KEY: {"id": RUN, "phase": phase}})


def test_equal_calls_have_the_named_run_or_the_conversation_in_common() -> None:
    """What a conversation leads to may end or begin between two attempts, and is no part of it."""
    talk = {"threadId": "t1"}
    named = [a_call(meta={KEY: RUN, **talk}), a_call(run_header=RUN)]
    assert {within(places(call, Chain())) for call in named} == {("run", RUN)}
    assert within(places(a_call(meta=talk), Chain())) == ("conversation", "threadId=t1")
    for call in (a_call(), a_call(caller=SessionCaller()), a_call(meta={"sessionId": "s1"})):
        assert within(places(call, Chain())) == ()


def test_conversations_with_long_names_are_told_apart_by_all_of_them() -> None:
    names = ["x" * 513, "x" * 600, "x" * 512 + "y"]
    (one,), (two,), (three,) = (found(a_call(meta={"threadId": name})) for name in names)
    assert len({one, two, three}) == 3
    assert {each.kind for each in (one, two, three)} == {K.CONVERSATION}
    assert max(len(each.value) for each in (one, two, three)) < 100
