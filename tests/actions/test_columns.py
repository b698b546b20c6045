"""Columns: what each says of which event, under names that stay."""

from typing import Any

import pytest

from gateway.actions import columns
from gateway.events.envelope import to_bytes
from gateway.store.events import StoredEvent
from gateway.types.events import EventKind, Stage
from tests.events.test_schemas import EVENTS
from tests.helpers.cases import an_actor
from tests.helpers.databases import ORIGIN
from tests.helpers.events import an_event

# Whoever reads files of ours goes by these; new ones come at the end.
KEPT_FOR_GOOD = (
    *("seq", "time", "id", "kind", "stage", "tenant", "who", "user", "client", "auth", "roles"),
    *("method", "server", "tool", "effect", "risk", "outcome", "decision", "status", "code"),
    *("rule", "reason", "revision", "executed", "approval", "channel", "assurance", "op", "run"),
    *("template", "phase", "by", "action", "detail", "call", "parent", "trace", "duration_us"),
    *("arguments_digest", "masked", "erased", "instance"),
)


def cells(event: Any, *names: str) -> tuple[str, ...]:
    return columns.cells(StoredEvent(seq=7, body=to_bytes(event, ORIGIN)), names)


def test_names_and_their_order_stay() -> None:
    assert tuple(columns.COLUMNS)[: len(KEPT_FOR_GOOD)] == KEPT_FOR_GOOD


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: f"{event.kind}-{event.stage}")
def test_every_event_says_something_in_every_column_without_a_fault(event: Any) -> None:
    found = dict(zip(columns.COLUMNS, cells(event, *columns.COLUMNS), strict=True))
    assert (found["seq"], found["kind"], found["stage"]) == ("7", event.kind, event.stage)
    assert found["time"].endswith("Z")


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"body": {"status": "timeout"}}, "timeout"),
        ({"kind": EventKind.AUTHORIZATION, "body": {"decision": "deny"}}, "deny"),
        ({"kind": EventKind.AUTHORIZATION, "body": {"decision": "allow", "outcome": "no"}}, "no"),
        (
            {
                "kind": EventKind.AUTHORIZATION,
                "body": {"decision": "deny", "observed": {"would": "deny"}},
            },
            "observed: deny",
        ),
        ({"kind": EventKind.APPROVAL, "body": {"status": "pending", "cast": "late"}}, "late"),
        ({"kind": EventKind.APPROVAL, "body": {"status": "expired"}}, "expired"),
        ({"kind": EventKind.RUN, "phase": "acting", "body": {}}, "acting"),
        ({"kind": EventKind.RUN, "phase": "failed", "body": {"stop_reason": "failed"}}, "failed"),
        ({"kind": EventKind.SIDE_EFFECT, "body": {"state": "succeeded"}}, "succeeded"),
        ({"kind": EventKind.ADMIN, "body": {"action": "log_read"}}, "log_read"),
        (
            {"kind": EventKind.ADMIN, "body": {"action": "log_read", "how": "tail"}},
            "log_read tail",
        ),
        ({"stage": Stage.STARTED, "body": {}}, "started"),
        ({"kind": EventKind.RETRIEVAL, "body": {"count": 2}}, "2 documents"),
        ({"kind": EventKind.RETRIEVAL, "body": {"count": 1}}, "1 document"),
        ({"kind": EventKind.RETRIEVAL, "body": {"count": 0}}, "nothing"),
        ({"kind": EventKind.MODEL_TURN, "body": {"model": "m-1"}}, "m-1"),
        ({"kind": EventKind.MODEL_TURN, "body": {"model": "m-1", "error": "x"}}, "failed"),
    ],
)
def test_one_word_says_what_came_of_it(changes: dict[str, Any], outcome: str) -> None:
    assert cells(an_event(**changes), "outcome") == (outcome,)


def test_numbers_flags_and_lists_are_texts_and_nothing_is_empty() -> None:
    event = an_event(
        body={"duration_us": 12, "reason": True, "code": False, "op": None},
        actor=an_actor(roles=frozenset({"b", "a"})),
        masked=("/a", "/b"),
    )
    names = ("duration_us", "reason", "code", "op", "roles", "masked", "run")
    assert cells(event, *names) == ("12", "yes", "", "", "a b", "/a /b", "")


@pytest.mark.parametrize(
    ("user", "cast", "who"),
    [
        ("lea", "approved", "lea for Sam"),
        ("sam", "approved", "sam for Sam (self)"),
        ("sam", "", "for Sam"),
    ],
)
def test_of_a_request_it_is_told_who_and_for_whom(user: str, cast: str, who: str) -> None:
    body: dict[str, Any] = {"requester": {"user": "Sam"}} | ({"cast": cast} if cast else {})
    event = an_event(
        kind=EventKind.APPROVAL, stage=Stage.DECIDED, body=body, actor=an_actor(user=user)
    )
    assert cells(event, "who") == (who,)


def test_of_what_a_gateway_notes_it_is_told_who_brought_it_about() -> None:
    for body, who in (({"account": "root", "by": "ada"}, "ada"), ({"account": "root"}, "root")):
        event = an_event(kind=EventKind.ADMIN, stage=Stage.RECORDED, body=body, actor=None)
        assert cells(event, "who") == (who,)


def test_people_see_other_columns_of_requests_and_of_runs() -> None:
    assert columns.usual(["approval"]) == columns.OF_APPROVALS
    assert columns.usual(["run"]) == columns.OF_RUNS
    assert columns.usual(["run", "approval"]) == columns.usual([]) == columns.SHORT
