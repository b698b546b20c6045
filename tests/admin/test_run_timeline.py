"""The timeline of a run."""

from typing import Any

import pytest

from gateway.actions.timeline import Line
from gateway.admin.run_timeline import lasted, timeline


def a_line(seq: int, kind: str, stage: str = "decided", **changes: Any) -> Line:
    """Return one thing that happened, as many seconds after nine as its number says."""
    values: dict[str, Any] = {
        "seq": seq,
        "at": f"2026-11-30T09:{seq // 60:02}:{seq % 60:02}.000000Z",
        "kind": kind,
        "stage": stage,
        "title": "weighed",
        "tool": "pay.refund" if kind != "run" else "",
        "outcome": "",
        "detail": "",
        "by": "ana",
        "call": "",
        "op": "",
        "approval": "",
        "phase": "acting",
    }
    return Line(**(values | changes))


def weighed(seq: int, outcome: str = "allow", call: str = "c", **more: Any) -> Line:
    return a_line(seq, "authorization", outcome=outcome, call=call, **more)


def ended(seq: int, outcome: str = "ok", call: str = "c", **more: Any) -> Line:
    return a_line(seq, "tool_call", "finished", outcome=outcome, call=call, **more)


def turned(seq: int, stage: str, phase: str = "acting", **more: Any) -> Line:
    return a_line(seq, "run", stage, phase=phase, **more)


def test_each_turn_of_a_run_begins_a_band_that_lasts_until_the_next() -> None:
    found = timeline(
        [
            turned(0, "started", "created"),
            turned(5, "moved", "retrieving"),
            weighed(6),
            turned(65, "paused", "retrieving", detail="wait", by="eve"),
            turned(185, "resumed", "retrieving"),
            turned(190, "stopped", "completed"),
        ]
    )
    assert [(each.phase, each.lasted) for each in found.bands] == [
        ("created", "5 s"),
        ("retrieving", "1 min"),
        ("paused", "2 min"),
        ("retrieving", "5 s"),
        ("completed", ""),
    ]
    assert (found.bands[2].by, found.bands[2].note) == ("eve", "wait")
    assert (found.until[11:19], found.lasted) == ("09:03:10", "3 min 10 s")
    assert found.said.startswith("begun for 5 s, then reading for 1 min, then paused for 2 min")


def test_a_call_is_one_thing_with_what_it_came_to() -> None:
    found = timeline(
        [
            weighed(1, call="a", rule="small"),
            weighed(2, "denied", call="b", detail="too much"),
            a_line(3, "retrieval", title="read", detail="3 documents", call="a"),
            ended(4, call="a"),
            a_line(5, "side_effect", title="effect", outcome="succeeded", call="a"),
        ]
    )
    [band] = found.bands
    first, second = band.entries
    assert (first.title, first.verdict.word, first.rule) == ("called", "done", "small")
    assert [each.title for each in first.steps] == ["read", "effect"]
    assert (second.title, second.verdict.tone, second.detail) == ("wanted", "no", "too much")
    assert (band.calls, band.refused) == (2, 1)


@pytest.mark.parametrize(
    ("outcome", "tone"), [("approved", "yes"), ("denied", "no"), ("pending", "ask")]
)
def test_a_call_that_people_decide_about_shows_their_word(outcome: str, tone: str) -> None:
    asked = weighed(1, "require_approval")
    said = a_line(2, "approval", outcome=outcome, call="c", approval="apr_1", by="eve")
    [entry] = timeline([asked, said]).bands[0].entries
    assert (entry.verdict.tone, entry.approval) == (tone, "apr_1")
    assert [each.by for each in entry.steps] == ["eve"]


def test_what_is_no_call_stands_by_itself() -> None:
    changed = turned(2, "changed", title="the run was changed", detail="`a` from `user`")
    [band] = timeline([turned(1, "started"), changed, changed]).bands
    assert [(each.title, each.is_call) for each in band.entries] == [
        ("the run was changed", False)
    ] * 2


def test_a_page_that_begins_within_a_phase_has_its_band() -> None:
    [band] = timeline([weighed(7), ended(8)]).bands
    assert (band.phase, band.words, band.by) == ("acting", "acting", "")


def test_the_strip_holds_all_bands_and_all_calls_in_order() -> None:
    lines = [turned(0, "started", "created"), turned(1, "moved", "acting")]
    lines += [weighed(2, call=f"c{number}") for number in range(5)]
    lines += [turned(100, "stopped", "completed")]
    found = timeline(lines)
    assert found.bars[0].x == 0
    assert sum(each.width for each in found.bars) == pytest.approx(1000, abs=0.1)
    assert min(each.width for each in found.bars) >= 99
    places = [each.x for each in found.ticks]
    assert places == sorted(set(places))
    begin = found.bars[1].x
    assert all(begin < each < begin + found.bars[1].width for each in places)


def test_nothing_has_no_bands() -> None:
    found = timeline([])
    assert (found.bands, found.bars, found.ticks) == ([], [], [])


def test_words_from_outside_hide_nothing() -> None:
    [band] = timeline([weighed(1, tool="a\u202eb", detail="x\u200by", rule="r\u202e")]).bands
    [entry] = band.entries
    assert not {"\u202e", "\u200b"} & {*entry.tool, *entry.detail, *entry.rule}


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.4, ""),
        (1, "1 s"),
        (61, "1 min 1 s"),
        (3600, "1 h"),
        (3661, "1 h 1 min"),
        (90_000, "1 d 1 h"),
        (86_405, "1 d"),
    ],
)
def test_how_long_it_lasted_has_two_units_at_most(seconds: float, said: str) -> None:
    assert lasted(seconds) == said
