"""What a call asks for: the row of its operation."""

from dataclasses import replace

from gateway import jsontext
from gateway.case import Case
from gateway.crossing import wanted
from gateway.store.keys import TenantKeys
from gateway.store.vault import Vault
from gateway.types.guarantees import (
    Compensation,
    CompensationClass,
    Idempotency,
    Injection,
    InjectPlace,
)
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Operation, OpState, RetryClass
from gateway.types.tools import Contract, Effect
from tests.helpers.cases import a_call, a_case, a_contract, a_tool

VAULT = Vault(TenantKeys(b"s" * 32).operations)
COMPENSATION = Compensation(kind=CompensationClass.IRREVERSIBLE, reason="mail has left")
KEPT = Idempotency(
    retry=RetryClass.QUERY, inject=Injection(place=InjectPlace.HEADER, name="Idempotency-Key")
)


def asked(case: Case) -> Operation:
    return wanted.operation(case, vault=VAULT, shown=lambda case: f"shown: {case.tool.name}")


def a_write(
    contract: Contract | None = None, meta: JsonObject | None = None, call: str = "1"
) -> Case:
    contract = contract or a_contract(effect=Effect.WRITE)
    proposed = a_call(a_tool().exposed_name, {"v": 1}, call_id=f"call_{call}", meta=meta or {})
    return a_case(contract=contract, call=proposed, arguments={"v": 1}, effect=Effect.WRITE)


def test_it_says_what_its_contract_says_of_it() -> None:
    contract = a_contract(effect=Effect.WRITE, idempotency=KEPT, compensation=COMPENSATION)
    row = asked(a_write(contract))
    assert (row.state, row.epoch, row.call_id) == (OpState.READY, 0, "call_1")
    assert (row.retry, row.compensation) == (RetryClass.QUERY, "irreversible")
    assert row.downstream_key
    assert row.shown == "shown: find"
    assert asked(a_write()).downstream_key == asked(a_write()).compensation == ""


def test_what_was_asked_for_is_sealed_along_with_who_asked() -> None:
    row = asked(a_write())
    assert "sam" not in row.arguments
    body = jsontext.parse(VAULT.open(row.tenant, row.key.key, row.arguments))
    assert isinstance(body, dict)
    assert body["arguments"] == {"v": 1}
    assert body["principal"] == {
        "issuer": "keys",
        "subject": "sam-key",
        "client": "test",
        "tenant": "acme",
        "user": "sam",
        "roles": ["support"],
        "scopes": ["crm:read"],
        "method": "api_key",
    }


def test_the_same_use_of_a_tool_is_recognised_by_the_id_that_its_host_gave_it() -> None:
    for name in ("claudecode/toolUseId", "callId", "codex/callId"):
        one, same, other = (asked(a_write(meta={name: use})) for use in ("a", "a", "b"))
        assert one.key.transport == same.key.transport != other.key.transport
        assert one.key.key == other.key.key
    assert asked(a_write(meta={"callId": 7})).key.transport == asked(a_write()).key.transport


def test_every_call_of_an_unreviewed_tool_is_one_of_its_own_unless_its_caller_says_otherwise() -> (
    None
):
    unreviewed = a_contract(effect=Effect.WRITE, reviewed=False)
    assert asked(a_write()).key == asked(a_write(call="2")).key
    one, other = asked(a_write(unreviewed)), asked(a_write(unreviewed, call="2"))
    assert one.key.key != other.key.key
    named: JsonObject = {"weighbridge/idempotencyKey": "k"}
    one, other = asked(a_write(unreviewed, named)), asked(a_write(unreviewed, named, "2"))
    assert one.key.key == other.key.key


def test_a_row_that_is_there_is_asked_for_under_its_own_key() -> None:
    there = replace(asked(a_write()), state=OpState.SUCCEEDED, pin="sha256:old", call_id="call_0")
    case = a_write(call="2")
    row = asked(replace(case, call=replace(case.call, operation=there)))
    assert (row.op_id, row.key) == (there.op_id, there.key)
    assert (row.state, row.pin, row.call_id) == (OpState.READY, case.contract.pin, "call_2")
    assert row.revision == case.revision.id


def test_no_secret_can_be_found_from_what_a_row_says_of_its_key() -> None:
    row = asked(a_write())
    kept = row.key
    guesses: list[Json] = [{"v": 1}, ["v1", "intent", row.server, row.tool, {"": {"v": 1}}]]
    assert {kept.arguments, kept.intent, kept.key}.isdisjoint(map(jsontext.digest, guesses))
    assert kept.arguments == VAULT.digest("acme", {"v": 1})
