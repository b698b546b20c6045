"""What changed, told without what has to be hidden."""

from typing import Any

from hypothesis import given

from gateway.events import markers
from gateway.events.changes import Change, Shown, changes, covered
from gateway.events.redact import Redactor
from gateway.types.json import Json
from gateway.types.tools import Sensitivity
from tests.events.values import JSON

REDACTOR = Redactor(lambda tenant: tenant.encode())
SECRET = markers.erased("secret")


def shown(value: Json, **tags: Sensitivity) -> Shown:
    """Redact; each tag names a member of the value."""
    patterns = {f"/{name}": kind for name, kind in tags.items()}
    return Shown(raw=value, kept=REDACTOR.value(value, tenant="acme", tags=patterns).value)


def told(old: Json, new: Json, sent: Json = None) -> dict[str, Any]:
    before = None if old is None else shown(old)
    return {change.pointer: pair(change) for change in changes(before, shown(new), shown(sent))}


def pair(change: Change) -> tuple[Json, ...]:
    after = change.after.kept
    return (after,) if change.before is None else (change.before.kept, after)


def test_fields_that_differ_are_told_with_both_values() -> None:
    old: Json = {"status": "open", "tags": ["a"], "owner": {"id": 1, "name": "Sam"}}
    new: Json = {"status": "closed", "tags": ["a"], "owner": {"id": 2, "name": "Sam"}}
    assert told(old, new) == {"/status": ("open", "closed"), "/owner/id": (1, 2)}


def test_a_list_of_another_length_is_one_change() -> None:
    assert told({"tags": ["a"]}, {"tags": ["b", "a"]}) == {"/tags": (["a"], ["b", "a"])}
    assert told({"tags": ["a", "b"]}, {"tags": ["a", "c"]}) == {"/tags/1": ("b", "c")}
    assert told({"tags": ["a"]}, {"tags": []}) == {"/tags": (["a"], [])}


def test_a_field_that_became_something_else_is_one_change() -> None:
    assert told({"a": {"b": 1}}, {"a": 1}) == {"/a": ({"b": 1}, 1)}
    assert told({"a": 1}, {"a": {"b": 1}}) == {"/a": (1, {"b": 1})}
    assert told({"a": 1}, {"a": True}) == {"/a": (1, True)}
    assert told(1, 2) == {"": (1, 2)}


def test_without_a_value_before_only_what_repeats_an_argument_is_told() -> None:
    sent: Json = {"subject": "Help", "customer": {"id": "c1"}, "priority": 1}
    new: Json = {"id": "t1", "priority": True, "ticket": {"subject": "Help", "customer": "c1"}}
    assert told(None, new, sent) == {"/ticket/subject": ("Help",)}
    assert told({"id": "t1"}, new, sent) == {"/ticket/subject": ("Help",)}


def test_an_argument_is_recognised_by_its_whole_name() -> None:
    sent: Json = {"customer": {"id": "c1"}}
    assert told(None, {"ticket": {"customer": {"id": "c1"}}}, sent) == {
        "/ticket/customer/id": ("c1",)
    }
    assert told(None, {"id": "c1"}, sent) == {}
    assert told(None, "c1", "c1") == {}


def test_a_secret_flag_of_the_arguments_is_hidden_in_the_answer() -> None:
    sent = shown({"consent": True}, consent=Sensitivity.SECRET)
    (change,) = changes(None, shown({"consent": True}), sent)
    assert change.after.kept == SECRET


def test_that_a_hidden_field_changed_is_told_and_nothing_of_it() -> None:
    old, new = (shown({"pin": pin}, pin=Sensitivity.SECRET) for pin in ("MARK-1", "MARK-2"))
    (change,) = changes(old, new, shown({}))
    assert pair(change) == (SECRET, SECRET)


def test_what_is_hidden_at_one_place_is_hidden_at_all() -> None:
    tagged: Json = {"pin": "MARK-1", "code": 4711, "card": {"cvc": "MARK-2"}, "name": "Ann"}
    sent = shown(
        tagged,
        pin=Sensitivity.SECRET,
        code=Sensitivity.SECRET,
        card=Sensitivity.SECRET,
        name=Sensitivity.PERSONAL,
    )
    said: Json = {"text": "it is MARK-1.", "MARK-2": 1, "n": [4711, "4711", "MARK-2", "Ann"]}
    kept, other = covered([sent, shown(said)])
    assert kept.kept == sent.kept
    assert isinstance(sent.kept, dict)
    assert other.kept == {
        "text": SECRET,
        "[redacted:secret]": 1,
        "n": [SECRET, SECRET, SECRET, sent.kept["name"]],
    }


def test_keys_stay_apart_when_they_are_hidden() -> None:
    (kept,) = covered([shown({"MARK-1": 1, "MARK-2": 2})], secrets=("MARK-1", "MARK-2"))
    assert kept.kept == {"[redacted:secret]": 1, "2#[redacted:secret]": 2}


def test_a_secret_wins_over_a_personal_value() -> None:
    value: Json = {"a": "MARK-1", "b": "MARK-1"}
    tagged = shown(value, a=Sensitivity.SECRET, b=Sensitivity.PERSONAL)
    _, other = covered([tagged, shown({"c": "MARK-1"})])
    assert other.kept == {"c": SECRET}


def test_short_secrets_are_found_as_whole_values_only() -> None:
    (kept,) = covered([shown(["abc", "abcd"])], secrets=("abc",))
    assert kept.kept == [SECRET, "abcd"]


def test_nothing_is_hidden_where_nothing_is_secret() -> None:
    value = shown({"a": 1})
    assert covered([value], secrets=("",)) == [value]


def test_a_marker_that_a_server_sent_hides_nothing() -> None:
    value = shown({"a": {"$redacted": "secret"}, "b": "secret"})
    assert covered([value]) == [value]


@given(value=JSON)
def test_what_is_equal_did_not_change(value: Json) -> None:
    assert list(changes(shown(value), shown(value), shown({}))) == []


@given(old=JSON, new=JSON, sent=JSON)
def test_each_place_is_told_once(old: Json, new: Json, sent: Json) -> None:
    found = [each.pointer for each in changes(shown(old), shown(new), shown(sent))]
    assert len(found) == len(set(found))


def test_what_was_too_deep_to_look_at_is_not_taken_for_a_secret() -> None:
    deep: Json = "word"
    for _ in range(40):
        deep = [deep]
    value = shown(deep)
    (kept,) = covered([value], secrets=("MARK",))
    assert kept.kept == value.kept
    assert "depth" in str(kept.kept)
