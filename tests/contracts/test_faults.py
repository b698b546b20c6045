"""What is wrong with an entry as a whole, and where."""

import pytest

from gateway.contracts import files
from gateway.contracts.faults import definition
from gateway.contracts.pins import pin
from gateway.errors import FilesError
from gateway.yamltext import load

PIN = pin({"name": "pay"})


def told(*lines: str, effect: str = "write") -> list[str]:
    """Return what is said of an entry with these lines, the first of which is line 5."""
    text = "\n".join(
        [
            "tools:",
            "  desk.pay:",
            f"    pin: {PIN}",
            f"    effect: {effect}",
            *(f"    {line}" for line in lines),
            "    risk: low",
            "    definition: {name: pay}",
        ]
    )
    try:
        files.load(text, file="c.yaml")
    except FilesError as error:
        return [str(each) for each in error.errors]
    return []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("idempotency: {retry: read}", "5:19: a write can't be repeated like a read"),
        ("idempotency: {retry: keyed}", "5:19: `keyed` needs `inject`, or the server gets no"),
        ("idempotency: {retry: query}", "5:19: `query` needs `lookup`, which shows whether"),
        ("compensation: {args: {id: 1}}", "5:5: needs the `tool` that undoes it, or `class: irr"),
        ("compensation: {}", "5:5: needs the `tool` that undoes it"),
        ("compensation: {class: compensatable, reason: x}", "5:5: needs the `tool`"),
        ("compensation: {class: retriable, reason: x}", "5:5: needs the `tool`"),
        ("compensation: {class: irreversible}", "5:5: `irreversible` without a tool needs a"),
        ("compensation: {class: pivot}", "5:5: `pivot` without a tool needs a `reason`"),
        ("compensation: {tool: desk.undo, class: irreversible, reason: x}",
         "5:37: what has a `tool` to undo it is not irreversible"),
        ("compensation: {class: pivot, reason: x, deadline: 30d}",
         "5:45: `deadline` has no use without a `tool`"),
        ("compensation: {class: pivot, reason: x, capture: [/id]}", "`capture` has no use"),
        ("compensation: {class: pivot, reason: x, idempotent: true}", "`idempotent` has no use"),
    ],
)  # fmt: skip
def test_a_promise_that_can_t_be_kept_is_told(line: str, message: str) -> None:
    (said,) = [each for each in told(line) if "`args` has no use" not in each]
    assert f"c.yaml:{message}" in said or message in said


@pytest.mark.parametrize(
    "line",
    [
        "idempotency: {}",
        "idempotency: {retry: keyed, inject: {arg: /key}}",
        "idempotency: {retry: query, lookup: {tool: desk.find, found: 'true'}}",
        "idempotency: {retry: natural}",
        "compensation: {tool: desk.undo}",
        "compensation: {tool: desk.undo, class: pivot}",
        "compensation: {tool: desk.undo, class: retriable, reason: x}",
        "compensation: {class: irreversible, reason: a mail is gone}",
        "compensation: {class: pivot, reason: the parcel is gone}",
    ],
)
def test_what_can_be_kept_is_taken(line: str) -> None:
    assert told(line) == []


def test_a_read_is_repeated_like_a_read() -> None:
    assert told("idempotency: {retry: read}", effect="read") == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("compensation: {tool: a.b, args: {x: $5}}", "5:41: `$` is no reference: write `$args`"),
        ("compensation: {tool: a.b, args: {x: [1, {y: $op.state}]}}",
         "5:49: `$op.state` is nothing of an operation"),
        ("compensation: {tool: a.b, args: {x: for $old.id}}",
         "5:41: `$old.id` is not known here; say in `outcome.old` which read it is the result of"),
        ("compensation: {tool: a.b, verify: {tool: a.c, args: {x: $old.id}, expect: 'true'}}",
         "5:61: `$old.id` is not known here"),
        ("idempotency: {lookup: {tool: a.b, args: {x: $result.id}, found: 'true'}}",
         "5:49: `$result.id` is not known here"),
        ("outcome: {old: {tool: a.b, args: {x: $result.id}}}", "`$result.id` is not known here"),
        ("outcome: {old: {tool: a.b, args: {x: $old.id}}}", "`$old.id` is not known here"),
        ("outcome: {readback: {tool: a.b, args: {x: $foo}, expect: 'true'}}", "`$foo` is no ref"),
        ("outcome: {checksum: {of: $args.body, equals: $old.sum}}", "5:50: `$old.sum` is not kno"),
        ("outcome: {checksum: {of: body, equals: $result.sum}}",
         "5:30: should be one reference, such as `$args.body`"),
        ("outcome: {checksum: {of: $args.a$args.b, equals: $result.sum}}", "should be one ref"),
        ("outcome: {readback: {tool: a.b, expect: 'true', wait: {interval: 5s, max: 1s}}}",
         "`interval` is longer than `max`"),
        ("outcome: {object: {type: t, id: $5}}", "5:37: `$` is no reference"),
        ("outcome: {object: {type: t, id: n $old.id}}", "5:37: `$old.id` is not known here"),
    ],
)  # fmt: skip
def test_a_template_that_can_t_be_filled_is_told(line: str, message: str) -> None:
    (said,) = told(line)
    assert message in said


def test_a_read_before_the_call_is_known_after_it() -> None:
    assert (
        told(
            "outcome:",
            "  old: {tool: a.b, args: {x: $args.id, why: for $op.id, price: $$5}}",
            "  readback: {tool: a.b, args: {x: $old.id, y: $result.id}, expect: 'true'}",
            "  checksum: {of: $args.body, equals: $result.sha256}",
            "  object: {type: t, id: $old.kind/$result.id}",
            "compensation: {tool: a.c, args: {x: $old.status, y: $op.key}}",
        )
        == []
    )


def test_all_faults_of_an_entry_are_told_in_their_order() -> None:
    said = told(
        "idempotency: {retry: keyed}",
        "compensation: {class: pivot}",
        "outcome: {checksum: {of: x, equals: y}}",
        "risk_when: [{when: 'true', reason: x}]",
    )
    assert [each.split(":")[1] for each in said] == ["5", "6", "7", "7", "8"]


def test_a_definition_is_read_without_a_model_between() -> None:
    document = load("tools: {a.b: {definition: {n: 123456789012345678901}}}", file="c.yaml")
    assert definition(document, "a.b") == {"n": 123456789012345678901}
    assert definition(document, "a.c") == {}
