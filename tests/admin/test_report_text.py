"""A report goes from one process to another whole, or not at all."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from gateway import jsontext
from gateway.admin import report_text
from gateway.replay.examples import Example
from gateway.replay.report import Group, Report, Sum
from gateway.replay.tool_reports import ToolReport
from gateway.replay.types import Counters, Subject
from gateway.types.json import JsonObject
from gateway.types.leans import Lean

AT = datetime(2026, 11, 30, 9, 0, 0, 5, tzinfo=UTC)
FIRST = Example(call="call_1", run="", seq=3, at=AT, user="ann", tenant="acme")
GROUP = Group(
    lean=Lean.WIDER,
    tool="pay.refund",
    before="deny",
    after="allow",
    was="a",
    now="b",
    money=(Sum(amount=0.1 + 0.2, currency="EUR"), Sum(amount=3, currency="")),
    first=FIRST,
)
REPORT = Report(
    subject=Subject(revision="sha256:1", counters=Counters.SIMULATED, since=AT),
    calls=3,
    last=AT,
    groups=(GROUP,),
    idle=(("a", "rules.yaml:3"),),
    tools=(ToolReport(tool="pay.refund", fate="same", results={"fits": 2}),),
)


def told() -> JsonObject:
    found = jsontext.parse_result(report_text.written(REPORT))
    assert isinstance(found, dict)
    return found


def test_what_is_written_is_read_as_the_same_report() -> None:
    found = report_text.read(report_text.written(REPORT))
    assert found == REPORT
    assert type(found.groups[0].lean) is Lean


CHANGES: list[JsonObject] = [
    {"one_more": 1},
    {"calls": "3"},
    {"calls": True},
    {"last": "soon"},
    {"idle": [["a"]]},
    {"groups": [{}]},
    {"groups": None},
    {"subject": None},
]


def test_every_field_of_a_report_is_of_a_kind_that_can_be_read() -> None:
    known, plain = set[Any](), set[Any]()

    def look(kind: Any) -> None:
        if get_origin(kind) is not None or isinstance(kind, UnionType):
            assert get_origin(kind) in (Union, UnionType, tuple, frozenset, Mapping)
            for each in get_args(kind):
                look(each)
        elif is_dataclass(kind):
            if kind not in known:
                known.add(kind)
                for each in fields(kind):
                    look(get_type_hints(kind)[each.name])
        elif not (isinstance(kind, type) and issubclass(kind, Enum)):
            plain.add(kind)

    look(Report)
    assert plain <= {str, int, float, bool, datetime, type(None), ...}


@pytest.mark.parametrize("change", CHANGES)
def test_what_another_version_wrote_is_no_report(change: JsonObject) -> None:
    with pytest.raises(ValueError, match="no report of this version"):
        report_text.read(jsontext.dump(told() | change))


@pytest.mark.parametrize("data", [b"", b"[]", b"\x80\x04}", b'{"calls":1}'])
def test_what_is_none_is_no_report(data: bytes) -> None:
    with pytest.raises(ValueError, match="no report of this version"):
        report_text.read(data)
