"""One judgement beside another, line by line: for pages and for terminals."""

from collections.abc import Iterable, Iterator
from typing import Final, Literal

from gateway.replay.tally import effect
from gateway.replay.types import Judgement
from gateway.types.values import value

NONE: Final = "–"  # of a line of which a judgement says nothing
UNKNOWN: Final = "?"
Change = Literal["same", "first", "more"]
_PLACE: Final = "place"  # a rule that moved within its file decides as before


@value
class Line:
    """One line of a judgement."""

    name: str
    text: str
    is_code: bool = False  # as rules and contracts write it


@value
class Side:
    """One line of both judgements."""

    name: str
    before: str
    after: str
    change: Change
    is_code: bool


def lines(judged: Judgement) -> Iterator[Line]:
    """Yield the lines of one judgement; every judgement has the same names in the same order."""
    does = f"{judged.does} {judged.risk}" if judged.does and judged.risk else NONE
    limits = (f"{each.id} takes {_number(each.amount)}" for each in judged.limits)
    for name, text, is_code in (
        ("decision", effect(judged), False),
        ("by", judged.rule or judged.code, True),
        ("code", judged.code, True),
        ("reason", judged.reason, False),
        ("rules held", _joined(judged.matched), True),
        ("class", does, False),
        ("phase", judged.phase, False),
        ("people", judged.people, False),
        (
            "constraints",
            _joined(f"{each.kind} {each.pointer}" for each in judged.constraints),
            True,
        ),
        ("limits", _joined(limits), True),
        ("no room in", judged.exceeded, True),
        ("keeps", _joined(judged.keep), True),
        ("redacts", _joined(f"{path} as {form}" for path, form in judged.redact.items()), True),
        ("rows", _joined(each.where for each in judged.rows), True),
        (_PLACE, judged.place, True),
    ):
        yield Line(name=name, text=text or NONE, is_code=is_code)


def beside(before: Judgement, after: Judgement | None) -> Iterator[Side]:
    """Yield the lines in which a judgement says something; `UNKNOWN` for what nobody can know."""
    is_first = True
    others = [each.text for each in lines(after)] if after is not None else []
    for number, line in enumerate(lines(before)):
        other = others[number] if others else UNKNOWN
        if line.text == NONE and (not others or other == NONE):
            continue
        change: Change = "same"
        if others and line.text != other and line.name != _PLACE:
            change, is_first = ("first" if is_first else "more"), False
        yield Side(
            name=line.name, before=line.text, after=other, change=change, is_code=line.is_code
        )


def _joined(texts: Iterable[str]) -> str:
    return ", ".join(texts)


def _number(amount: float | None) -> str:
    return "?" if amount is None else f"{amount:g}"
