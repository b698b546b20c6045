"""What must not turn up in events of a call."""

from gateway.events import build, hiding
from gateway.events.redact import Redactor
from gateway.types.audit import Level
from gateway.types.calls import ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Sensitivity
from tests.events.test_build import a_record
from tests.events.test_effects import an_effect
from tests.helpers.cases import NOW, a_call, a_contract

REDACTOR = Redactor(lambda tenant: tenant.encode())
SECRET: JsonObject = {"$redacted": "secret"}
TWICE: JsonObject = {
    "password": "hyacinth-ninety",
    "note": "log in with hyacinth-ninety",
    "again": ["hyacinth-ninety"],
}


def a_login(**changes: Json) -> ProposedCall:
    return a_call(arguments={**TWICE, **changes})


def test_what_a_key_calls_secret_is_hidden_with_what_a_contract_does() -> None:
    tagged = a_contract(sensitive={"/id": Sensitivity.PERSONAL})
    record = a_record(call=a_login(id="c-4711"), contract=tagged)
    assert hiding.tagged(record) == {"c-4711": Sensitivity.PERSONAL}
    assert hiding.hidden(record) == {
        "hyacinth-ninety": Sensitivity.SECRET,
        "c-4711": Sensitivity.PERSONAL,
    }


def test_a_secret_that_is_said_twice_is_in_no_event_of_its_call() -> None:
    record = a_record(call=a_login())
    judged = build.authorization(record, REDACTOR, refusal=None, id="e", at=NOW)
    assert judged.body["arguments"] == {
        **{"password": SECRET, "again": [SECRET]},
        "note": "log in with [redacted:secret]",
    }
    assert set(judged.erased) == {"/arguments/password", "/arguments/again/0"}
    assert judged.masked == ("/arguments/note",)
    effect = an_effect(
        {"saved": "hyacinth-ninety", "said": "for hyacinth-ninety"},
        arguments=record.call.arguments,
        evidence="found hyacinth-ninety",
    )
    events = [
        build.started(record, REDACTOR, id="e", at=NOW, arguments={"to": "hyacinth-ninety"}),
        build.side_effect(record, REDACTOR, id="e", at=NOW, effect=effect),
        build.ended(record, REDACTOR, id="e", at=NOW, reason="no", next_step="ask hyacinth-ninety"),
    ]
    assert [event.kind for event in events if "hyacinth" in str(event)] == []
    assert events[-1].body["next"] == "ask [redacted:secret]"


def test_where_there_is_too_much_to_look_for_nothing_is_kept() -> None:
    many: Json = [{"password": f"secret-{number}"} for number in range(300)]
    record = a_record(call=a_login(logins=many))
    assert hiding.hidden(record) is None
    assert hiding.text(record, REDACTOR, "no secret-7") == "[redacted:size]"
    judged = build.authorization(record, REDACTOR, refusal=None, id="e", at=NOW)
    assert judged.body["arguments"] == {"$redacted": "size"}


def test_a_reason_may_quote_a_server_but_where_only_metadata_is_kept() -> None:
    sent = a_record(sent_ns=1, level=Level.METADATA)
    assert hiding.may_quote(sent)
    assert not hiding.may_quote(a_record(sent_ns=1))
    assert not hiding.may_quote(a_record(level=Level.METADATA))
