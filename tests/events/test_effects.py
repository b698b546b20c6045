"""What is kept of side effects."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import jsontext
from gateway.events import effects
from gateway.events.effects import Effect
from gateway.events.redact import Redactor
from gateway.types.guarantees import (
    CallTemplate,
    Compensation,
    CompensationClass,
    WrittenObject,
)
from gateway.types.json import Json, JsonObject
from gateway.types.operations import (
    Execution,
    IntentKey,
    KeySource,
    Operation,
    OpState,
    RetryClass,
    VerificationState,
)
from gateway.types.outcomes import Status
from gateway.types.tools import Contract, Sensitivity
from tests.events.values import JSON
from tests.helpers.cases import a_contract

REDACTOR = Redactor(lambda tenant: tenant.encode())
TICKET = WrittenObject(type="crm.ticket", id="$result.id")
SECRET: Json = {"$redacted": "secret"}
KEY = IntentKey(
    key="sha256:k", source=KeySource.DERIVED, scope="sha256:s", intent="MARK-I", arguments="MARK-A"
)


def an_operation(**changes: Any) -> Operation:
    fields: dict[str, Any] = {
        "op_id": "op_1",
        "tenant": "acme",
        "server": "crm",
        "tool": "crm.update",
        "pin": "sha256:p",
        "revision": "sha256:r",
        "key": KEY,
        "retry": RetryClass.NEVER,
        "state": OpState.DISPATCHING,
        "epoch": 2,
    }
    return Operation(**(fields | changes))


def an_effect(data: Json = None, contract: Contract | None = None, **changes: Any) -> Effect:
    fields: dict[str, Any] = {
        "operation": an_operation(),
        "contract": contract or a_contract(),
        "executed": Execution.YES,
        "state": OpState.SUCCEEDED,
        "status": Status.OK,
        "arguments": {},
        "result": {"content": [], "structuredContent": data},
    }
    return Effect(**(fields | changes))


def described(effect: Effect) -> effects.Described:
    return effects.described(
        effect,
        redact=lambda value, tags: REDACTOR.value(value, tenant="acme", tags=tags),
        digest=lambda value: REDACTOR.digest(value, tenant="acme"),
        text=REDACTOR.text,
    )


def body(data: Json = None, contract: Contract | None = None, **changes: Any) -> JsonObject:
    return described(an_effect(data, contract, **changes)).body


def keyed(value: Json) -> str:
    return REDACTOR.digest(value, tenant="acme")


def test_a_known_outcome_is_told_with_its_operation() -> None:
    assert body() == {
        "op": "op_1",
        "key": {"source": "derived", "digest": keyed("MARK-I")},
        "attempt": 2,
        "outcome": "known",
        "executed": "yes",
        "state": "succeeded",
        "status": "ok",
        "verification": "not_declared",
        "object": {"type": "crm.update", "id": ""},
        "compensation": {"class": "not_declared"},
        "changes": [],
    }


def test_everything_else_is_there_where_there_is_something_to_tell() -> None:
    said = body(
        operation=an_operation(downstream_key="MARK-D", compensates="op_0"),
        evidence="late_answer",
        verification=VerificationState.PENDING,
        late=True,
    )
    assert said["downstream_key"] == keyed("MARK-D")
    assert (said["compensates"], said["evidence"]) == ("op_0", "late_answer")
    assert (said["verification"], said["late"]) == ("pending", True)


@pytest.mark.parametrize(
    ("executed", "state", "outcome"),
    [
        (Execution.YES, OpState.SUCCEEDED, "known"),
        (Execution.YES, OpState.FAILED_FINAL, "known"),
        (Execution.NO, OpState.FAILED_RETRYABLE, "known"),
        (Execution.UNKNOWN, OpState.INDETERMINATE, "unknown"),
        (Execution.YES, OpState.INDETERMINATE, "unknown"),
        (Execution.UNKNOWN, OpState.FAILED_RETRYABLE, "unknown"),
    ],
)
def test_an_outcome_is_known_only_if_all_of_it_is(
    executed: Execution, state: OpState, outcome: str
) -> None:
    assert body(executed=executed, state=state)["outcome"] == outcome


def test_an_unknown_outcome_has_no_changes_but_may_name_its_object() -> None:
    contract = a_contract(object=WrittenObject(type="crm.ticket", id="$args.id"))
    said = body(
        contract=contract, arguments={"id": "t1"}, result=None, old={"id": "t1", "status": "open"}
    )
    assert said["changes"] == []
    assert said["object"] == {"type": "crm.ticket", "id": "t1"}


@pytest.mark.parametrize(
    ("template", "id"),
    [
        ("$result.id", "t1"),
        ("tickets/$result.n", "tickets/7"),
        ("$result.items[0]", "i0"),
        ("$old.id", "t0"),
        ("$args.id", "a1"),
        ("$op.id", "op_1"),
        ("$op.key", ""),
        ("fixed", "fixed"),
        ("$result.missing", ""),
        ("$result.items[9]", ""),
        ("$result.yes", ""),
        ("$result.items", ""),
        ("$nonsense", ""),
    ],
)
def test_the_object_is_named_as_the_contract_says(template: str, id: str) -> None:
    contract = a_contract(object=WrittenObject(type="crm.ticket", id=template))
    data: Json = {"id": "t1", "n": 7, "items": ["i0"], "yes": True}
    said = body(data, contract, arguments={"id": "a1"}, old={"id": "t0"})
    assert said["object"] == {"type": "crm.ticket", "id": id}


def test_a_personal_id_is_the_digest_that_the_object_always_has() -> None:
    contract = a_contract(object=TICKET, sensitive_results={"/id": Sensitivity.PERSONAL})
    first, second = (body({"id": id}, contract)["object"] for id in ("Ann", "ANN"))
    assert first == second
    assert str(first).count("hmac-sha256:") == 1
    assert "Ann" not in str(first)


def test_a_secret_id_is_none() -> None:
    contract = a_contract(object=TICKET, sensitive={"/pin": Sensitivity.SECRET})
    said = body({"id": "MARK"}, contract, arguments={"pin": "MARK"})
    assert said["object"] == {"type": "crm.ticket", "id": ""}


def test_changes_are_told_from_the_read_before() -> None:
    said = body({"id": "t1", "status": "closed"}, old={"id": "t1", "status": "open"})
    assert said["changes"] == [{"pointer": "/status", "before": "open", "after": "closed"}]


def test_a_text_that_is_the_data_counts_as_data() -> None:
    text: JsonObject = {"content": [{"type": "text", "text": '{"status": "closed"}'}]}
    assert body(result=text, arguments={"status": "closed"})["changes"] == [
        {"pointer": "/status", "after": "closed"}
    ]
    for other in ("closed", "{"):
        prose: JsonObject = {"content": [{"type": "text", "text": other}]}
        assert body(result=prose, arguments={"status": "closed"})["changes"] == []


@pytest.mark.parametrize("result", [{}, {"content": []}, {"content": "odd"}])
def test_an_answer_without_data_tells_no_changes(result: JsonObject) -> None:
    assert body(result=result, old={"a": 1})["changes"] == []


def test_an_answer_that_says_no_tells_nothing_of_an_object() -> None:
    failed: JsonObject = {"isError": True, "structuredContent": {"status": "denied"}}
    assert body(result=failed, old={"status": "open"})["changes"] == []


def test_many_changes_are_cut_off_and_counted() -> None:
    old: JsonObject = {f"f{n}": 0 for n in range(80)}
    new: JsonObject = {f"f{n}": 1 for n in range(80)}
    said = body(new, old=old)
    assert isinstance(said["changes"], list)
    assert len(said["changes"]) == effects.MOST_CHANGES
    assert said["changes_left_off"] == 30


def test_long_values_and_names_are_cut_and_all_of_it_fits() -> None:
    old: JsonObject = {f"f{n}" + "k" * 5_000: "a" for n in range(60)}
    new: JsonObject = dict.fromkeys(old, "word " * 2_000)
    said = body(new, old=old)
    changes = said["changes"]
    assert isinstance(changes, list)
    first = changes[0]
    assert isinstance(first, dict)
    assert isinstance(first["after"], dict)
    assert first["after"].keys() == {"$cut"}
    assert len(str(first["pointer"])) == 1_000
    assert said["changes_left_off"] == 60 - len(changes)
    assert len(jsontext.dump(changes)) < 20_000


def test_tagged_values_are_hidden_in_changes_and_the_places_are_listed() -> None:
    contract = a_contract(
        sensitive={"/note": Sensitivity.PERSONAL, "/pin": Sensitivity.SECRET},
        sensitive_results={"/note": Sensitivity.PERSONAL},
    )
    told = described(
        an_effect(
            {"note": "Ann is ill", "pin": "MARK-2", "text": "to a@x.org"},
            contract,
            arguments={"pin": "MARK-2"},
            old={"note": "Bob is ill", "pin": "MARK-1", "text": ""},
        )
    )
    changes = told.body["changes"]
    assert isinstance(changes, list)
    assert changes[1] == {"pointer": "/pin", "before": SECRET, "after": SECRET}
    assert told.erased == ("/changes/1/before", "/changes/1/after")
    assert set(told.masked) == {
        "/changes/0/before",
        "/changes/0/after",
        "/changes/2/after",
    }
    assert not any(word in str(told.body) for word in ("MARK", " ill", "a@x"))


def test_a_secret_is_one_even_where_results_call_it_personal() -> None:
    contract = a_contract(
        sensitive={"/pin": Sensitivity.SECRET}, sensitive_results={"/pin": Sensitivity.PERSONAL}
    )
    said = body({"pin": "MARK-2"}, contract, old={"pin": "MARK-1"})
    assert said["changes"] == [{"pointer": "/pin", "before": SECRET, "after": SECRET}]


def test_the_key_for_the_server_is_kept_as_a_digest_only() -> None:
    said = body(
        {"idempotency_key": "MARK-D", "note": "key MARK-D"},
        arguments={"idempotency_key": "MARK-D", "note": "key MARK-D"},
        operation=an_operation(downstream_key="MARK-D"),
    )
    assert "MARK" not in str(said)
    assert isinstance(said["changes"], list)
    assert len(said["changes"]) == 2


def test_of_what_has_no_digest_nothing_is_kept() -> None:
    contract = a_contract(sensitive_results={"/name": Sensitivity.PERSONAL})
    said = body({"name": ["\ud800"], "id": 2}, contract, old={"name": ["a"], "id": 1})
    assert jsontext.get(said, "/changes/0/pointer") == ""
    assert jsontext.get(said, "/changes/0/after") == SECRET


@pytest.mark.parametrize("kind", CompensationClass)
def test_the_way_back_is_named_by_class_and_tool(kind: CompensationClass) -> None:
    none = a_contract(compensation=Compensation(kind=kind, reason="r"))
    assert body(contract=none)["compensation"] == {"class": kind.value}
    call = CallTemplate(tool="crm.reopen")
    some = a_contract(compensation=Compensation(kind=kind, call=call))
    assert body(contract=some)["compensation"] == {"class": kind.value, "tool": "crm.reopen"}


PLACES = st.sampled_from(["/a", "/id", "/*", "/a/*", "/*/id", "/0", ""])
TAGS = st.dictionaries(PLACES.filter(bool), st.sampled_from(Sensitivity), max_size=3)


@given(
    old=JSON,
    data=JSON,
    sent=st.dictionaries(st.sampled_from(["id", "a", "0"]), JSON),
    tags=TAGS,
    result_tags=TAGS,
    template=st.sampled_from(["$result.id", "$args.a", "$old", "x$args.id"]) | st.text(max_size=5),
)
def test_whatever_comes_is_described(
    old: Json, data: Json, sent: JsonObject, tags: Any, result_tags: Any, template: str
) -> None:
    contract = a_contract(
        sensitive=tags,
        sensitive_results=result_tags,
        object=WrittenObject(type="t", id=template),
    )
    told = described(an_effect(data, contract, arguments=sent, old=old))
    for place in (*told.masked, *told.erased):
        assert jsontext.get(told.body, place) is not None
    plain = an_effect(contract=contract, arguments=sent, old=old, result={"content": data})
    assert described(plain).body["changes"] == []


SECRETS = st.integers(10**8, 10**9 - 1)


@given(
    old=JSON,
    data=JSON,
    secret=SECRETS,
    is_text=st.booleans(),
    place=st.sampled_from(["a", "id", "other", "MARK"]),
    words=st.sampled_from(["{}", "to {}.", '{{"a": "{}"}}', "x{}y"]),
    nested=st.booleans(),
)
def test_no_secret_comes_through(
    old: Json, data: Json, secret: int, is_text: bool, place: str, words: str, nested: bool
) -> None:
    """case: OBS-01"""
    value: Json = f"MARK{secret}" if is_text else secret
    sent: JsonObject = {"pin": [value] if nested else value}
    repeated: Json = {place: value, "text": words.format(value), f"is {value}": 1, "deep": [data]}
    contract = a_contract(
        sensitive={"/pin": Sensitivity.SECRET},
        object=WrittenObject(type="t", id=f"$result.{place}"),
    )
    before: Json = {place: old, "text": words.format(value), f"is {value}": 2}
    told = described(an_effect(repeated, contract, arguments={**sent, place: value}, old=before))
    assert str(value) not in str(told)
