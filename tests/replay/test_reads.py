import pytest

from gateway.replay import reads
from gateway.replay.reads import Path

NOTE: Path = ("args", "note")
ITEM: Path = ("args", "items", "0", "iban")


@pytest.mark.parametrize(
    "text",
    [
        "args.note == 'x'",
        "size(args.note) > 2",
        "args['note'] == 'x'",
        'args["note"].startsWith("a")',
        "has(args.note)",
        "args == {}",
        "args.exists(key, key == 'a')",
        "args[identity.user] == 1",
        "'a' in args",
        "true || args . note == 1",
        ".args.note == 1",
        "args.`note` == 1",
        "args.note.matches('a')",
        "args.?note.orValue('')",
        "args[?'note'].hasValue()",
    ],
)
def test_an_expression_that_may_read_a_value_is_found(text: str) -> None:
    assert reads.read(text, [NOTE]) == (NOTE,)


@pytest.mark.parametrize(
    "text",
    [
        "args.amount > 1",
        "args.notes == 'x'",
        "args['notes'] == 'x'",
        "identity.user == 'args.note'",
        "true // args.note",
        '"""args.note""" == run.id',
        "r'\\args.note' == run.id",
        "run.fields.note == 'x'",
    ],
)
def test_an_expression_that_reads_others_does_not_read_it(text: str) -> None:
    assert reads.read(text, [NOTE]) == ()


def test_a_list_is_read_as_a_whole_unless_an_item_is_written_out() -> None:
    assert reads.read("args.items.all(each, each.iban != '')", [ITEM])
    assert reads.read("args.items[0].iban == ''", [ITEM])
    assert not reads.read("args.items[1].iban == ''", [ITEM])


def test_fields_of_a_run_are_read_by_their_names() -> None:
    ticket = ("run", "fields", "ticket")
    assert reads.read("run.fields.ticket == 'T'", [ticket]) == (ticket,)
    assert reads.read("has(run.fields.other)", [ticket]) == ()
    assert reads.read("'ticket' in run.fields", [ticket]) == (ticket,)


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("args.note == 'x' || args.amount > 1", True),
        ("args.note.size() > 1", True),
        ("has(args.note.more)", True),
        ("has(args.note) && args.note == 'x'", False),
        ("args == {'note': 'x'}", False),
        ("size(args) == 1", False),
        ("args.amount > 1", True),
    ],
)
def test_only_what_is_used_and_never_asked_for_may_be_left_out(text: str, may: bool) -> None:
    assert reads.may_be_left_out(text, NOTE) is may
