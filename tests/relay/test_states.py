"""States: bound to their caller and their request."""

from dataclasses import replace

import pytest

from gateway.relay import states
from gateway.relay.seals import SealBroken
from gateway.relay.states import Awaited, Passed
from gateway.types.calls import Era, Method, ProposedCall
from gateway.types.json import JsonObject
from tests.helpers.cases import AbsentCaller, a_call, a_principal
from tests.helpers.relays import some_states


class OldCaller(AbsentCaller):
    """A caller of the handshake era."""

    era = Era.LEGACY


def again(call: ProposedCall, token: str, **more: JsonObject) -> ProposedCall:
    return replace(call, call_id="call_2", params={"requestState": token, **more})


def test_a_servers_own_state_comes_back_to_it_as_it_was() -> None:
    made, call = some_states(), a_call(arguments={"a": 1})
    token = made.pass_on(call, "opaque ✓")
    found = made.open(again(call, token, inputResponses={"q": {}}))
    assert isinstance(found, Passed)
    assert found.call.params == {"requestState": "opaque ✓", "inputResponses": {"q": {}}}


def test_a_server_without_a_state_gets_none_back() -> None:
    made, call = some_states(), a_call()
    found = made.open(again(call, made.pass_on(call, None)))
    assert isinstance(found, Passed)
    assert found.call.params == {}


def test_a_parked_call_is_found_by_its_state() -> None:
    made, call = some_states(), a_call()
    found = made.open(again(call, made.park(call, "parked_1", is_read=True)))
    assert found == Awaited(id="parked_1", is_read=True)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "crm__delete"},
        {"arguments": {"a": 2}},
        {"arguments": {"a": 1.0}},
        {"method": Method.GET_PROMPT},
        {"principal": a_principal(user="eve")},
        {"principal": a_principal(tenant="globex")},
        {"principal": a_principal(subject="other-key")},
    ],
)
def test_a_state_is_worth_nothing_for_anything_else(change: dict[str, object]) -> None:
    made, call = some_states(), a_call(arguments={"a": 1})
    other = replace(again(call, made.pass_on(call, "s")), **change)  # type: ignore[arg-type] - by parameter
    if change == {"arguments": {"a": 1.0}}:  # the same number, by RFC 8785
        assert isinstance(made.open(other), Passed)
        return
    with pytest.raises(SealBroken, match="another caller or request"):
        made.open(other)


def test_a_renewed_credential_may_go_on() -> None:
    made, call = some_states(), a_call()
    renewed = a_principal(scopes=frozenset({"crm:read", "crm:write"}))
    assert made.open(replace(again(call, made.pass_on(call, "s")), principal=renewed))


def test_only_a_stateless_caller_continues() -> None:
    call = replace(a_call(), params={"requestState": "x"})
    assert states.is_continued(call)
    assert not states.is_continued(replace(call, caller=OldCaller()))
    assert not states.is_continued(a_call())


def test_a_state_that_is_no_text_is_refused() -> None:
    with pytest.raises(SealBroken):
        some_states().open(replace(a_call(), params={"requestState": {"a": 1}}))
