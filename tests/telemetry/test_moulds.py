import pytest

from gateway.telemetry.facts import facts_of
from gateway.telemetry.moulds import Values, alike, mould_of, put_address
from gateway.types.calls import Method
from gateway.types.tools import Kind
from tests.telemetry.builders import a_call, a_record, a_tool, an_actor


def test_calls_that_differ_in_what_is_theirs_alone_are_alike() -> None:
    one = a_record(arguments_digest="sha256:1", run_id="run_1", result_size=1)
    other = a_record(
        arguments_digest="sha256:2",
        run_id="run_2",
        result_size=2,
        call=a_call(call_id="call_2", request_id="9", peer="198.51.100.7:1"),
    )
    assert alike(facts_of(one)) == alike(facts_of(other))


def test_users_are_never_alike() -> None:
    """case: OBS-01"""
    one, other = (
        a_record(actor=an_actor(user=user)) for user in ("sam@example.com", "lee@example.com")
    )
    assert alike(facts_of(one)) != alike(facts_of(other))


def test_resources_are_named_by_the_method_and_share_no_uri() -> None:
    tool = a_tool(name="crm://notes/1", exposed_name="crm://notes/1", kind=Kind.RESOURCE)
    call = a_call("crm://notes/1", method=Method.READ_RESOURCE)
    mould = mould_of(
        alike(facts_of(a_record(tool=tool, call=call, resource="crm://notes/1"))), None
    )
    assert (mould.name, mould.authorize_name) == ("resources/read", "authorize resources/read")
    for shared in (mould.server, mould.authorize, mould.client):
        assert "crm://" not in str(shared.values)


def test_a_user_is_named_by_what_stands_for_them_or_not_at_all() -> None:
    """case: OBS-01"""
    key = alike(facts_of(a_record()))
    assert mould_of(key, lambda tenant, user: f"h:{tenant}").server.values["user.id"] == "h:acme"
    assert "user.id" not in mould_of(key, None).server.values
    assert "sam@" not in str(mould_of(key, lambda tenant, user: "h"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("host:80", {"a": "host", "p": 80}),
        ("[::1]:80", {"a": "::1", "p": 80}),
        ("::1", {"a": "::1"}),
        ("host", {"a": "host"}),
        ("", {"a": ""}),
    ],
)
def test_addresses_are_split_from_ports(text: str, expected: Values) -> None:
    values: Values = {}
    put_address(values, text, "a", "p")
    assert values == expected
