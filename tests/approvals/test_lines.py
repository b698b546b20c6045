"""What approvers read, line by line."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import jsontext
from gateway.approvals.lines import Group, Row, Unreadable, rows
from gateway.approvals.marks import Kind
from gateway.approvals.visible import is_hidden
from gateway.types.approvals import ApprovalNotes
from gateway.types.json import Json, JsonObject
from tests.approvals.spoofs import SPOOFS, Spoof
from tests.helpers.cases import a_contract
from tests.helpers.presenting import a_document, a_sight


def of(document: JsonObject, group: Group) -> list[tuple[str, str]]:
    return [(row.label, row.text) for row in rows(document) if row.group is group]


def the_row(value: Json) -> Row:
    (row,) = [row for row in rows(a_document({"x": value})) if row.group is Group.ARGUMENTS]
    return row


def test_everything_is_told_in_the_order_of_need() -> None:
    document = a_document(
        {"amount": 5},
        contract=a_contract(approval=ApprovalNotes(show={"Sum": "/amount", "Gone": "/gone"})),
        before=a_sight({"amount": 4, "old": True}),
        provenance=("`/to` is doubtful",),
        note="please",
    )
    assert [(row.group.value, row.label, row.text) for row in rows(document)] == [
        ("summary", "Request", "Call crm.find (write) with amount"),
        ("top", "Sum", "5"),
        ("top", "Gone", "(not there)"),
        ("call", "Server", "crm"),
        ("call", "Tool", "crm.find"),
        ("call", "Effect", "write"),
        ("call", "Risk", "high (contract)"),
        ("call", "Undo", "unknown: nobody has said whether it can be undone"),
        ("changes", "amount (before)", "4"),
        ("changes", "amount (now)", "5"),
        ("changes", "old (before)", "true"),
        ("changes", "old (now)", "(not there)"),
        ("arguments", "amount", "5"),
        ("requester", "Asked by", "sam"),
        ("requester", "Roles", "support"),
        ("requester", "Tenant", "acme"),
        ("requester", "Client", "test"),
        ("requester", "Run", "run_1 (acting)"),
        ("rule", "Rule", "crm.large"),
        ("rule", "Reason", "large ones need a person"),
        ("rule", "Origin", "`/to` is doubtful"),
        ("note", "The agent says", "please"),
    ]


@pytest.mark.parametrize("spoof", SPOOFS, ids=lambda each: each.name)
def test_a_spoof_is_seen_for_what_it_is(spoof: Spoof) -> None:
    row = the_row(spoof.value)
    seen = "\n".join((row.text, row.whole, *row.marks.notes))
    assert all(each in seen for each in spoof.seen)
    assert not set(spoof.hidden) & (set(row.text) | set(row.whole))
    assert row.marks.kinds == spoof.kinds


@pytest.mark.parametrize("spoof", SPOOFS, ids=lambda each: each.name)
def test_a_spoof_does_no_more_in_words_of_the_agent_and_names(spoof: Spoof) -> None:
    names: JsonObject = {spoof.value: {spoof.value: 1}}
    document = a_document(names, note=spoof.value, run_id=spoof.value, rule=spoof.value)
    for row in rows(document):
        texts = (row.label, row.text, row.whole, *row.marks.notes)
        assert not any(is_hidden(each) for text in texts for each in text)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (400, "400"),
        ("400", '"400"'),
        ("-1", '"-1"'),
        (None, "null"),
        ("null", '"null"'),
        (True, "true"),
        ("true", '"true"'),
        ([], "[]"),
        ("[]", '"[]"'),
        ("{}", '"{}"'),
        ('"quoted"', '""quoted""'),
        ("c-1001", "c-1001"),
        (1e300, "1e+300"),
        (10**20, "100000000000000000000"),
    ],
)
def test_a_text_can_t_be_taken_for_another_value(value: Json, shown: str) -> None:
    assert the_row(value).text == shown


def test_each_place_has_a_row() -> None:
    arguments: JsonObject = {"to": {"a/b": [1, {"c": "x"}]}, "none": {}, "": 2}
    assert of(a_document(arguments), Group.ARGUMENTS) == [
        ("to/a~1b/0", "1"),
        ("to/a~1b/1/c", "x"),
        ("none", "{}"),
        ("Arguments", "2"),
    ]
    assert of(a_document({}), Group.ARGUMENTS) == [("Arguments", "(none)")]


def test_many_places_are_told_as_json() -> None:
    many: JsonObject = {"list": [*range(300)], "x": "a\u202eb"}
    shown = of(a_document(many), Group.ARGUMENTS)
    assert shown[0][1].startswith("[0,1,2,")
    assert shown[1] == ("x", "a\\u{202E}b")
    names: JsonObject = {f"k{number}": "\u200b" for number in range(300)}
    (row,) = [row for row in rows(a_document(names)) if row.group is Group.ARGUMENTS]
    assert '"k299":"\\u{200B}"' in row.whole
    assert row.marks.kinds == (Kind.ZERO_WIDTH,)


def test_a_long_value_is_folded_and_nothing_of_it_is_lost() -> None:
    value = "head" + "x" * 5000 + "tail"
    row = the_row(value)
    assert row.long
    assert row.whole == value
    assert row.length == 5008
    assert row.digest == f"sha256:{hashlib.sha256(value.encode()).hexdigest()}"
    assert row.text.startswith("head")
    assert row.text.endswith("tail")
    assert "5,008 characters in all" in row.text
    assert row.digest.removeprefix("sha256:") in row.text
    assert len(row.text) < 2000


def test_a_short_value_that_becomes_long_when_it_is_written_out_is_folded() -> None:
    row = the_row("\u200b\u200d" * 1000)
    assert row.long
    assert row.length == 2000


def test_a_value_of_four_kilobytes_is_whole() -> None:
    row = the_row("x" * 4096)
    assert not row.long
    assert row.text == "x" * 4096


def test_a_secret_is_told_by_its_length_and_digest() -> None:
    document = a_document(
        a_sight(
            {"pin": "s3cret", "note": "use s3cret!"},
            pin="[redacted:secret]",
            note="use [redacted:secret]!",
        ),
        before=a_sight({"pin": "s3cret-0"}, pin="[redacted:secret]"),
        contract=a_contract(approval=ApprovalNotes(show={"Pin": "/pin"})),
    )
    told = dict(of(document, Group.ARGUMENTS))
    assert told["pin"].startswith("(hidden: 6 characters, hmac-sha256:")
    assert told["note"].startswith("use [redacted:secret]! (in parts hidden: 11 characters, hmac")
    assert of(document, Group.TOP) == [("Pin", "(hidden)")]
    changed = dict(of(document, Group.CHANGES))
    assert changed["pin (before)"].startswith("(hidden: 8 characters")
    assert changed["pin (now)"].startswith("(hidden: 6 characters")
    assert "s3cret" not in str(rows(document))


def test_a_value_that_spells_a_mask_is_shown_as_the_value_that_it_is() -> None:
    assert of(a_document({"x": {"$masked": "secret", "length": 3}}), Group.ARGUMENTS) == [
        ("x/$masked", "secret"),
        ("x/length", "3"),
    ]


@pytest.mark.parametrize(
    ("undo", "words"),
    [
        ({"kind": "not_needed"}, "not needed: it changes nothing"),
        ({"kind": "irreversible", "reason": "gone"}, "can't be undone (gone)"),
        ({"kind": "pivot", "reason": "paid out"}, "can't be undone (paid out)"),
        (
            {"kind": "compensatable", "tool": "crm.undo", "deadline_s": 2592000.0},
            "can be undone by crm.undo, for 30 days",
        ),
        ({"kind": "retriable", "tool": "crm.undo", "deadline_s": 90.5}, "for 90.5 seconds"),
        ({"kind": "compensatable", "tool": "u.u", "deadline_s": 5400.0}, "for 90 minutes"),
        ({"kind": "later"}, "unknown: nobody has said whether it can be undone"),
    ],
)
def test_it_says_whether_the_call_can_be_undone(undo: JsonObject, words: str) -> None:
    assert words in dict(of({**a_document(), "undo": undo}, Group.CALL))["Undo"]


def test_what_nobody_said_has_no_row() -> None:
    document = a_document(reason="", rule="", run_id="")
    assert of(document, Group.RULE) == [("Rule", "(none)")]
    assert of(document, Group.NOTE) == []
    assert dict(of(document, Group.REQUESTER))["Run"] == "none of its own (acting)"


def test_it_says_where_a_key_is_added() -> None:
    document = a_document()
    document["injected"] = {"where": "header", "name": "Idempotency-Key"}
    said = dict(of(document, Group.CALL))["Added when sent"]
    assert said == "a key against repeats, as header Idempotency-Key"


@pytest.mark.parametrize("document", [{}, {"v": 2}, {"v": "1"}])
def test_a_document_of_another_version_is_not_guessed_at(document: JsonObject) -> None:
    with pytest.raises(Unreadable):
        rows(document)


VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_nothing_hides_in_any_row(arguments: JsonObject) -> None:
    document = jsontext.parse(jsontext.dump(a_document(arguments, note=str(arguments))))
    assert isinstance(document, dict)
    for row in rows(document):
        texts = (row.label, row.text, row.whole, *row.marks.notes)
        assert not any(is_hidden(each) for text in texts for each in text)
