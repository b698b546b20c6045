from gateway.cli.proven import checkpoint_lines, checkpoint_problems
from gateway.types.json import JsonObject

FINE: JsonObject = {
    "off": "",
    "problem": "",
    "size": 12,
    "at": "2026-11-30T09:00:00+00:00",
    "since": 0,
    "age_s": 0,
    "to": [],
}


def said(**changes: object) -> tuple[list[str], list[str]]:
    status: JsonObject = {"checkpoints": {**FINE, **changes}}  # type: ignore[dict-item]
    return list(checkpoint_lines(status)), list(checkpoint_problems(status))


def test_it_says_how_far_checkpoints_go() -> None:
    assert said() == (
        ["the checkpoint of 2026-11-30T09:00:00+00:00 covers 12 events; those are all"],
        [],
    )
    ((line,), _) = said(since=3, age_s=7)
    assert line.endswith("covers 12 events; 3 later ones wait, the oldest for 7 s")
    assert said(size=0) == (["no events yet"], [])
    assert said(size=0, since=2)[0] == ["no checkpoint yet; 2 events wait"]


def test_it_says_what_each_place_was_handed() -> None:
    places = [
        {"name": "a", "size": 12, "waiting": 0, "problem": ""},
        {"name": "b", "size": 0, "waiting": 2, "problem": "HTTP 503"},
    ]
    lines, problems = said(to=places)
    assert lines[1:] == ["`a` was handed that of 12", "`b` was handed none since the start"]
    assert problems == ["`b` can't be handed checkpoints: HTTP 503"]


def test_a_log_without_checkpoints_is_a_problem_and_says_why() -> None:
    assert said(off="there are none") == ([], ["there are none"])
    assert said(problem="no key")[1] == ["no key"]


def test_a_gateway_of_an_earlier_version_says_nothing() -> None:
    assert list(checkpoint_lines({})) == []
    assert list(checkpoint_problems({})) == []
