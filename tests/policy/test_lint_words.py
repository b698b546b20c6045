import pytest

from gateway.policy.lint_words import SETS, slips
from gateway.policy.request import VARIABLES


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'request.cause == "compensaton"',
            "`request.cause` is never `compensaton`; did you mean `compensation`?",
        ),
        (
            "'verificaton' != request.cause && true",
            "`request.cause` is never `verificaton`; did you mean `verification`?",
        ),
        (
            'has(args.x) && request.cause in ["lookup", "look_up"]',
            "`request.cause` is never `look_up`; did you mean `lookup`?",
        ),
        ('tool.risk == "severe"', "`tool.risk` is never `severe`"),
        ('tool.effect=="Write"', "`tool.effect` is never `Write`; did you mean `write`?"),
        (
            'run.phase in ["retrieval"]',
            "`run.phase` is never `retrieval`; did you mean `retrieving`?",
        ),
        (
            'request.method == "tools/calls"',
            "`request.method` is never `tools/calls`; did you mean `tools/call`?",
        ),
    ],
)
def test_a_word_that_its_set_does_not_have_is_told_with_the_nearest(text: str, said: str) -> None:
    [slip] = slips(text)
    assert slip.message == said
    assert text[slip.offset + 1 :].startswith(slip.word)


@pytest.mark.parametrize(
    "text",
    [
        'request.cause == "compensation" || "caller" == request.cause',
        'request.cause in ["lookup", "verification"] && args.note == "anything"',
        'args.request.cause == "flood"',
        "args.note == \"request.cause == 'flood'\"",
        'args.kind == "x" && tool.risk == tool.effect',
        'request.cause in sets.causes && args.note in ["anything"]',
        "request.cause",
    ],
)
def test_what_is_no_slip_is_not_told(text: str) -> None:
    assert [*slips(text)] == []


def test_every_word_of_a_set_is_one() -> None:
    for name, words in SETS.items():
        assert [*slips(f"{name} in [{', '.join(map(repr, map(str, words)))}]")] == []


def test_every_set_is_of_a_name_that_conditions_may_use() -> None:
    assert SETS.keys() <= VARIABLES.keys()


def test_other_sets_can_be_looked_at() -> None:
    [slip] = slips("run.template == 'refnd'", {"run.template": ("refund", "lookup")})
    assert slip.message == "`run.template` is never `refnd`; did you mean `refund`?"
