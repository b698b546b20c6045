"""What was denied or approved, by whom, and who looked."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from gateway import ids
from gateway.actions import answers_calls
from gateway.events import admin
from gateway.store.selection import Selection
from gateway.store.store import Store
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import Json, JsonObject
from tests.helpers.cases import NOW, an_actor
from tests.helpers.events import an_event


def weighed(call: str, decision: str = "deny", **more: Any) -> Event:
    body = {"tool": "crm.wipe", "decision": decision, "status": "denied", **more}
    return an_event(
        kind=EventKind.AUTHORIZATION, stage=Stage.DECIDED, call=call, body=body, actor=an_actor()
    )


def vote(approver: str, choice: str = "approve") -> JsonObject:
    return {"approver": approver, "choice": choice, "channel": "page", "assurance": "sso"}


def request(stage: Stage, status: str, by: str = "", **more: Any) -> Event:
    body: Any = {
        **{"approval": "apr_1", "tool": "crm.wipe", "status": status, "rule": "wiping"},
        **{"requester": {"user": "sam"}, "clause": {"factors": [{"count": 1}, {"count": 1}]}},
        **more,
    }
    return an_event(
        kind=EventKind.APPROVAL,
        stage=stage,
        call="call_2",
        body=body,
        actor=an_actor(user=by, roles=frozenset({"lead"})) if by else None,
    )


async def kept(store: Store, *events: Event) -> None:
    store.events.append(events)
    await store.events.kept()


async def rows(found: AsyncIterator[JsonObject]) -> list[Any]:
    return [row async for row in found]


async def test_a_denied_call_and_every_end_of_a_request_have_a_row_in_order(store: Store) -> None:
    await kept(
        store,
        weighed("call_0", "allow", status="ok"),
        request(Stage.REQUESTED, "pending"),
        weighed("call_1", rule="never", code="no", reason="because"),
        request(Stage.VOTED, "pending", "lea", cast="counted", choice="approve"),
        request(
            Stage.DECIDED,
            "approved",
            "bob",
            cast="approved",
            choice="approve",
            votes=[vote("lea"), vote("zed", "deny"), vote("bob")],
            reason="it is due",
        ),
        request(Stage.USED, "consumed", used_by="call_9"),
        request(Stage.EXPIRED, "expired", why="nobody decided in time"),
        weighed("call_3", code="schema"),
    )
    found = await rows(answers_calls.decided(store.events, Selection()))
    told = [(row["seq"], row["outcome"], row["by"], row["approvers"], row["call"]) for row in found]
    assert told == [
        (3, "denied", "rule", [], "call_1"),
        (5, "approved", "people", ["lea", "bob"], "call_2"),
        (6, "used", "rule", [], "call_9"),
        (7, "expired", "rule", [], "call_2"),
        (8, "denied", "gateway", [], "call_3"),
    ]
    assert [row["user"] for row in found] == ["sam"] * 5
    assert (found[0]["rule"], found[0]["reason"]) == ("never", "because")
    assert (found[1]["request"], found[1]["reason"]) == ("apr_1", "it is due")
    assert all(set(row) == set(answers_calls.DECIDED) for row in found)


async def test_a_call_that_was_only_judged_so_was_not_denied(store: Store) -> None:
    await kept(store, weighed("call_1", observed={"would": "deny"}), weighed("call_2"))
    found = await rows(answers_calls.decided(store.events, Selection()))
    assert [row["call"] for row in found] == ["call_2"]


async def test_people_deny_as_well(store: Store) -> None:
    denied = {"cast": "denied", "choice": "deny", "votes": [vote("lea"), vote("bob", "deny")]}
    await kept(store, request(Stage.DECIDED, "denied", "bob", **denied))
    (row,) = await rows(answers_calls.decided(store.events, Selection()))
    assert (row["outcome"], row["by"], row["approvers"]) == ("denied", "people", ["bob"])


async def test_rows_are_of_a_tenant_a_time_a_tool_and_who_asked(store: Store) -> None:
    await kept(
        store,
        weighed("call_1"),
        an_event(**{**_fields(weighed("call_2")), "tenant": "globex"}),
        an_event(**{**_fields(weighed("call_3")), "at": NOW + timedelta(days=2)}),
        request(Stage.DECIDED, "approved", "lea", cast="approved"),
    )

    async def calls(**fields: Any) -> list[str]:
        found = answers_calls.decided(store.events, Selection(**fields))
        return [row["call"] for row in await rows(found)]

    assert await calls(tenants=("globex",)) == ["call_2"]
    assert await calls(since=NOW + timedelta(days=1)) == ["call_3"]
    assert await calls(tools=("crm.find",)) == []
    assert await calls(actors=("lea",)) == []  # she decided, and asked for nothing
    assert await calls(actors=("sam",), tenants=("acme",)) == ["call_1", "call_3", "call_2"]
    found = answers_calls.decided(store.events, Selection(), ("approved",))
    assert [row["call"] for row in await rows(found)] == ["call_2"]


def _fields(event: Event) -> dict[str, Any]:
    names = ("kind", "stage", "call", "body", "actor", "at")
    return {name: getattr(event, name) for name in names}


@pytest.mark.parametrize(("by", "is_separate"), [("lea", True), ("Sam", False)])
async def test_who_decided_is_another_than_who_asked_or_not(
    store: Store, by: str, is_separate: bool
) -> None:
    word = {"cast": "approved", "choice": "approve", "votes": [vote("bob"), vote(by)]}
    await kept(
        store,
        request(
            Stage.DECIDED,
            "approved",
            by,
            **word,
            channel="page",
            assurance="sso",
            waited_us=90_500_000,
            reason="it is due",
        ),
    )
    (row,) = await rows(answers_calls.reviews(store.events, Selection()))
    assert (row["requester"], row["approvers"]) == ("sam", ["bob", by])
    assert (row["separate"], row["needed"], row["waited_s"]) == (is_separate, 2, 90)
    assert (row["roles"], row["channel"], row["reason"]) == (["lead"], "page", "it is due")
    assert set(row) == set(answers_calls.REVIEWS)
    breaches = await rows(answers_calls.reviews(store.events, Selection(), only_breaches=True))
    assert len(breaches) == (not is_separate)


async def test_who_read_the_log_is_told_with_what_for(store: Store) -> None:
    body: Any = {
        **{"action": "log_read", "how": "query", "by": "", "account": "root"},
        **{"asked": {"tenant": ["acme"]}, "events": 4},
    }
    kind, stage = EventKind.ADMIN, Stage.RECORDED
    await kept(
        store,
        an_event(kind=kind, stage=stage, body=body, actor=None),
        an_event(kind=kind, stage=stage, body={"action": "gateway_started"}, actor=None),
    )
    (row,) = await rows(answers_calls.readers(store.events, Selection()))
    assert row == {
        **{"time": "2026-11-30T09:00:00.000000Z", "how": "query", "by": "", "account": "root"},
        **{"tenant": "acme", "about": ["acme"], "asked": {"tenant": ["acme"]}},
        **{"events": 4, "seq": 1},
    }


async def test_whoever_read_all_tenants_or_one_call_is_among_the_readers_of_each(
    store: Store,
) -> None:
    def read(of: str, **asked: Json) -> Event:
        return admin.log_read(
            id=ids.ulid(), at=NOW, how="query", account="root", tenant=of, asked=asked
        )

    await kept(
        store,
        read("acme", tenant=["acme"]),
        read("globex", tenant=["globex"]),
        read(""),
        read("", call=["call_1"]),
        read("", tenant=["globex", "acme"]),
        read("", tenant=["globex", "initech"]),
    )
    found = await rows(answers_calls.readers(store.events, Selection(tenants=("acme",))))
    assert [(row["seq"], row["about"]) for row in found] == [
        *((1, ["acme"]), (3, ["any"]), (4, ["any"]), (5, ["globex", "acme"])),
    ]


async def test_the_log_has_one_digest_of_what_was_shown(store: Store) -> None:
    await kept(
        store,
        request(Stage.REQUESTED, "pending", presented_digest="sha256:a"),
        request(Stage.DECIDED, "approved", "lea", presented_digest="sha256:a"),
    )
    assert await answers_calls.presented(store.events, "apr_1") == {"sha256:a"}
    assert await answers_calls.presented(store.events, "apr_2") == frozenset()
