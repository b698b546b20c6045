"""The pages of the event log."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from gateway import ids
from gateway.admin.guard import HEADERS
from gateway.events.checkpoints import Checkpoint
from gateway.events.notes import Signer
from gateway.store.events import EventFilter
from gateway.types.events import EventKind, Stage
from tests.admin.house import PEOPLE, House, open_house
from tests.helpers.events import an_event

ALL: dict[str, Any] = {
    "admin": {
        **PEOPLE["admin"],
        "auditors": [{"tenant": "acme", "roles": ["controller"], "sees": ["*"]}],
    }
}


async def keep(house: House, *events: Any) -> None:
    """Keep some events."""
    house.store.events.append(events)
    await house.store.events.kept()


def denied(**changes: Any) -> Any:
    body = {"tool": "pay.refund", "decision": "deny", "rule": "large", "reason": "too much"}
    values: dict[str, Any] = {"kind": EventKind.AUTHORIZATION, "stage": Stage.DECIDED, "body": body}
    return an_event(**(values | changes))


async def reads(house: House) -> list[dict[str, Any]]:
    """Return what the log says of who read it."""
    await house.store.events.kept()
    found = await house.store.events.query(EventFilter(kind="admin", limit=1_000))
    bodies: list[Any] = [each.json()["body"] for each in found]
    return [each for each in bodies if each["action"] == "log_read"]


async def test_events_are_listed_the_newest_first_with_who_what_and_why(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        event = denied(run="run_1")
        await keep(house, an_event(body={"tool": "crm.old", "status": "ok"}), event)
        page = await (await house.logged_in()).get("/events")
        assert page.status == 200
        for shown in ("wanted", "pay.refund", "denied", "large", "too much", f"/events/{event.id}"):
            assert shown in page.text
        assert page.text.index("pay.refund</bdi>") < page.text.index("crm.old</bdi>")
        assert "/events?run=run_1" in page.text
        assert page.headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]
        assert "<script" not in page.text
        assert "style=" not in page.text


@pytest.mark.parametrize(
    ("query", "is_there"),
    [
        ("tool=pay.refund", True),
        ("tool=pay.other", False),
        ("decision=deny", True),
        ("decision=allow", False),
        ("rule=large", True),
        ("kind=authorization&actor=sam", True),
        ("actor=nobody", False),
        ("run=run_1", True),
        ("call=call_1", True),
        ("status=ok", False),
        ("since=2026-11-30T08:00&until=2026-11-30T10:00", True),
        ("until=2026-11-30T08:00", False),
    ],
)
async def test_a_search_finds_what_fits(tmp_path: Path, query: str, is_there: bool) -> None:
    async with open_house(tmp_path) as house:
        event = denied(run="run_1")
        await keep(house, event)
        page = (await (await house.logged_in()).get(f"/events?{query}")).text
        assert (f"/events/{event.id}" in page) == is_there
        assert is_there or "Nothing matches" in page


async def test_a_search_with_a_fault_keeps_what_was_typed_and_is_not_made(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await keep(house, denied())
        page = await (await house.logged_in()).get("/events?decision=dance&since=soon&tool=pay.x")
        assert page.status == 400
        for shown in ("is none of", "is neither a time", 'value="soon"', 'value="pay.x"', "dance"):
            assert shown in page.text
        assert "large" not in page.text
        assert await reads(house) == []
        assert (await (await house.logged_in()).get("/events/download?since=soon")).status == 400


async def test_each_search_is_in_the_log_and_its_further_pages_are_not(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        events = [denied(id=ids.ulid(), call=f"call_{number}") for number in range(120)]
        await keep(house, *events)
        ann, seen = await house.logged_in(), set[str]()
        path = "/events?tool=pay.refund"
        for _ in range(3):
            page = (await ann.get(path)).text
            found = {*re.findall(r'/events/(01[0-9A-Z]+)"', page)}
            assert not found & seen
            seen |= found
            following = re.search(r'rel="next" href="([^"]+)"', page)
            path = following[1].replace("&amp;", "&") if following else ""
        assert (len(seen), path) == (120, "")
        [read] = await reads(house)
        assert (read["how"], read["by"], read["asked"]) == (
            "page /events",
            "ann",
            {"tool": "pay.refund"},
        )
        await ann.get("/events?tool=pay.refund&page=60.forged")
        await ann.get("/events?tool=pay.refund")
        assert len(await reads(house)) == 3


async def test_the_mark_of_a_next_page_leads_to_that_page_alone(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await keep(house, *(denied(id=ids.ulid()) for _ in range(60)))
        ann = await house.logged_in()
        found = re.search(r"page=(\d+)\.([0-9a-f]+)", (await ann.get("/events")).text)
        assert found is not None
        await ann.get(f"/events?page={found[1]}.{found[2]}")
        assert len(await reads(house)) == 1
        later = denied(id=ids.ulid())
        await keep(house, later)
        for count, at in enumerate(("99999999999", str(int(found[1]) + 1)), 2):
            page = await ann.get(f"/events?page={at}.{found[2]}")
            assert (later.id in page.text) == (at == "99999999999")
            assert len(await reads(house)) == count


async def test_nobody_sees_what_belongs_to_another_tenant_or_to_the_gateway(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        other = denied(tenant="globex", id=ids.ulid(), run="run_9", call="call_9")
        own = an_event(kind=EventKind.ADMIN, tenant="", body={"action": "gateway_started"})
        await keep(house, other, own)
        ann = await house.logged_in()
        for query in ("", "?tenant=globex", "?run=run_9", "?call=call_9", "?tenant=*", "?tenant="):
            page = await ann.get(f"/events{query}")
            assert page.status == 200
            assert other.id not in page.text
            assert own.id not in page.text
        gone = (await ann.get("/events/01ARZ3NDEKTSV4RRFFQ69G5FAV")).text
        for name in (other.id, own.id, "1", "2", "0", "999999"):
            page = await ann.get(f"/events/{name}")
            assert (page.status, page.text) == (404, gone)
        for form in ("csv", "json"):
            for query in ("", "&tenant=globex", "&run=run_9"):
                file = await ann.get(f"/events/download?format={form}{query}")
                assert (other.id in file.text, own.id in file.text) == (False, False)


async def test_an_auditor_sees_other_tenants_and_stands_among_their_events(tmp_path: Path) -> None:
    async with open_house(tmp_path, ALL) as house:
        other = denied(tenant="globex", id=ids.ulid())
        await keep(house, other)
        ann, ben = await house.logged_in(), await house.logged_in("ben")
        assert other.id not in (await ann.get("/events?tenant=globex")).text
        assert other.id in (await ben.get("/events?tenant=globex")).text
        assert other.id in (await ben.get("/events")).text
        assert (await ben.get(f"/events/{other.id}")).status == 200
        eve = await house.logged_in("eve", "globex")
        assert "ben of acme" in (await eve.get("/events?kind=admin")).text


async def test_one_event_is_shown_whole_with_what_belongs_to_it(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        body = {
            "tool": "pay.refund",
            "decision": "deny",
            "rule": "large",
            "place": "rules.yaml:7",
            "arguments": {"amount": 7, "iban": {"$redacted": "secret"}},
        }
        event = denied(run="run_1", trace_id="ab" * 16, body=body, masked=("/arguments/iban",))
        await keep(house, event)
        ann = await house.logged_in()
        page = (await ann.get(f"/events/{event.id}")).text
        for shown in (
            "rules.yaml:7",
            "/runs/run_1",
            "/events?call=call_1",
            "/events?trace=abab",
            "$redacted",
            "/arguments/iban masked",
            "not covered yet",
        ):
            assert shown in page
        assert (await ann.get("/events/1")).text == page
        assert [each["asked"] for each in await reads(house)] == [{"event": event.id}] * 2


async def test_an_event_that_a_checkpoint_covers_is_proven(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        event = denied()
        await keep(house, event)
        signer = Signer(name="example.com/log", seed=bytes(32))

        def sign(size: int, root: bytes) -> str:
            return Checkpoint(origin=signer.name, size=size, root=root).signed([signer])

        made = await house.store.checkpoints.make(sign)
        assert made is not None
        ann = await house.logged_in()
        page = (await ann.get(f"/events/{event.id}")).text
        assert "proven</span>" in page
        assert made.root.hex() in page
        assert made.root.hex()[:16] in (await ann.get("/events")).text


async def test_words_from_outside_are_words(tmp_path: Path) -> None:
    odd = "<script>alert(1)</script>\u202egnirts"
    async with open_house(tmp_path) as house:
        body = {
            "tool": odd,
            "decision": "deny",
            "rule": odd,
            "reason": odd,
            "arguments": {odd: odd},
        }
        event = denied(body=body, run=odd, call=odd)
        await keep(house, event)
        ann = await house.logged_in()
        for path in (
            "/events",
            f"/events/{event.id}",
            "/events?tool=%3Cscript%3E&rule=%22%3E%3Cb%3E",
        ):
            page = (await ann.get(path)).text
            assert "<script" not in page
            assert "<b>" not in page
            assert "\u202e" not in page
        assert "202E" in (await ann.get("/events")).text


async def test_a_search_is_a_file_for_programs_and_for_spreadsheets(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        formula = {"tool": "=1+1", "decision": "deny", "reason": 'a,\n"b"'}
        await keep(house, an_event(), denied(id=ids.ulid(), body=formula))
        ann = await house.logged_in()
        lines = await ann.get("/events/download?format=json&decision=deny")
        assert lines.headers["Content-Disposition"] == 'attachment; filename="events.jsonl"'
        [found] = [json.loads(each) for each in lines.text.splitlines()]
        assert (found["seq"], found["body"]["tool"]) == (2, "=1+1")
        table = await ann.get("/events/download?format=csv")
        rows = [*csv.DictReader(io.StringIO(table.text))]
        assert table.headers["Content-Type"].startswith("text/csv")
        own = [each for each in rows if each["call"] == "call_1"]
        assert [each["tool"] for each in own] == ["'=1+1", "crm.find"]
        assert own[0]["detail"] == 'a,\\u{a}"b"'
        assert [each["how"] for each in await reads(house)] == [
            "page /events, as json",
            "page /events, as csv",
        ]
        assert (await ann.get("/events/download?format=xml")).status == 400


async def test_without_a_login_or_with_an_agents_key_nothing_is_told(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await keep(house, denied())
        for path in ("/events", "/events/1", "/events/download"):
            assert (await house.browser().get(path)).status == 401
            key = await (await house.logged_in()).get(path, Authorization="Bearer wb_agent")
            assert key.status == 403
        assert await reads(house) == []
        assert not await house.store.events.query(EventFilter(kind="x"))


async def test_what_cannot_be_logged_is_not_told(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        event = denied()
        await keep(house, event)
        ann = await house.logged_in()
        await house.store.events.kept()
        house.store.events.close(timeout_s=1)
        for path in ("/events", f"/events/{event.id}", "/events/download"):
            page = await ann.get(path)
            assert page.status == 503
            assert "too much" not in page.text
