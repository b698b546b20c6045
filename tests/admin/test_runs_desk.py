"""The pages on which people look after runs."""

import re
from pathlib import Path
from typing import Any

import pytest

from gateway import ids
from gateway.runs.templates import FieldRule, Template
from gateway.store.events import EventFilter
from gateway.types.operations import OpState
from gateway.types.runs import Evidence, Phase, Run
from tests.admin.house import PEOPLE, House, open_house
from tests.helpers.events import an_event
from tests.helpers.operations import claim, settle, wanted
from tests.helpers.runs import a_field, begun

REFUND = Template(name="refund", fields={"customer_id": FieldRule(required=True)})


async def kept(house: House, **changes: Any) -> Run:
    """Keep a run that has something of everything."""
    run = await begun(
        house.store,
        **{"objective": "give it back", "fields": {"order": a_field(7)}, **changes},
    )
    op = await claim(house.store, wanted(run_id=run.run_id, shown='{"amount": 12}'))
    await settle(house.store, op.operation, OpState.INDETERMINATE)
    await house.store.runs.add_evidence(run.run_id, [Evidence(source="kb://1", version="3")])
    return run


async def test_people_see_the_runs_of_their_tenant_and_what_happened_in_one(tmp_path: Path) -> None:
    async with open_house(tmp_path, templates=[REFUND]) as house:
        run, ann = await kept(house, template="refund"), await house.logged_in()
        listed = (await ann.get("/runs")).text
        assert f'href="/runs/{run.run_id}"' in listed
        assert "give it back" in listed
        page = (await ann.get(f"/runs/{run.run_id}")).text
        for shown in (
            "nobody knows",
            "find out whether",
            "desk.refund",
            "amount",
            "order",
            "kb://1 · 3",
            "<h3>begun</h3>",
        ):
            assert shown in page


async def test_who_looks_at_what_happened_in_a_run_is_in_the_log(tmp_path: Path) -> None:
    async with open_house(tmp_path, templates=[REFUND]) as house:
        run, ann = await kept(house), await house.logged_in()
        await ann.get("/runs")  # tells of no event
        await ann.get(f"/runs/{run.run_id}")
        found = await house.store.events.query(EventFilter(kind="admin", tenant="acme"))
        bodies: list[Any] = [event.json()["body"] for event in found]
        (body,) = [each for each in bodies if each["action"] == "log_read"]
        assert (body["how"], body["by"]) == ("page /runs/…", "ann")
        assert body["asked"] == {"run": run.run_id}


async def test_lists_are_narrowed(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        run, ann = await kept(house, phase=Phase.ACTING), await house.logged_in()
        for query, is_there in (
            ("phase=acting", True),
            ("phase=failed", False),
            ("phase=dancing", True),
            ("user=ana", True),
            ("user=eve", False),
            ("template=refund", False),
            ("limit=x", True),
        ):
            assert (run.run_id in (await ann.get(f"/runs?{query}")).text) == is_there, query
        assert "Nothing matches" in (await ann.get("/runs?phase=failed")).text
        await kept(house)
        assert "Show more" in (await ann.get("/runs?limit=1")).text


async def test_what_happened_is_told_page_by_page(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        run, ann = await kept(house), await house.logged_in()
        events = [
            an_event(
                id=ids.ulid(), tenant=run.tenant, run=run.run_id, body={"reason": f"no. {number}."}
            )
            for number in range(501)
        ]
        house.store.events.append(events)
        await house.store.events.kept()
        path = f"/runs/{run.run_id}"
        newest = (await ann.get(path)).text
        assert ("no. 500." in newest, "no. 0." in newest) == (True, False)
        older = (await ann.get(f"{path}?before={re.findall(r'before=([0-9]+)', newest)[0]}")).text
        assert ("no. 0." in older, "<h3>begun</h3>" in older, "no. 500." in older) == (
            True,
            True,
            False,
        )
        assert ("The newest" in older, ">Older<" in older) == (True, False)
        newer = (await ann.get(f"{path}?after={re.findall(r'after=([0-9]+)', older)[0]}")).text
        assert ("no. 500." in newer, ">Newer<" in newer, ">Older<" in newer) == (True, False, True)
        for nonsense in ("before=x", "before=-1", f"before={'9' * 40}", "after=x"):
            assert "no. 500." in (await ann.get(f"{path}?{nonsense}")).text
        assert "Nothing yet." in (await ann.get(f"{path}?after=99999")).text


async def test_without_a_login_there_is_nothing_to_see(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        run, browser = await kept(house), house.browser()
        for path in ("/runs", f"/runs/{run.run_id}"):
            assert (await browser.get(path)).status == 401
        assert (await browser.post(f"/runs/{run.run_id}/pause", {"reason": "x"})).status == 401


async def test_a_run_of_another_tenant_is_not_there(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        run, eve = await kept(house), await house.logged_in("eve", "globex")
        own = await begun(house.store, tenant="globex")
        tokens = (await eve.get(f"/runs/{own.run_id}")).tokens
        assert run.run_id not in (await eve.get("/runs")).text
        assert (await eve.get(f"/runs/{run.run_id}")).status == 404
        for action in ("pause", "handoff"):
            token = tokens[f"/runs/{own.run_id}/{action}"]
            answer = await eve.post(f"/runs/{run.run_id}/{action}", {"token": token, "reason": "x"})
            assert answer.status == 403  # the token is of another form
        assert (await house.store.runs.get(run.run_id) or run).version == run.version


async def test_a_run_is_paused_and_goes_on_by_hand(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        run, ann = await kept(house, phase=Phase.ACTING), await house.logged_in()
        path = f"/runs/{run.run_id}"
        page = await ann.get(path)
        assert f"{path}/resume" not in page.tokens
        token = page.tokens[f"{path}/pause"]
        silent = await ann.post(f"{path}/pause", {"token": token, "reason": " "})
        assert (silent.status, "say why" in silent.text) == (400, True)
        done = await ann.post(f"{path}/pause", {"token": token, "reason": "wrong customer"})
        assert (done.status, done.headers["Location"]) == (303, path)
        twice = await ann.post(f"{path}/pause", {"token": token, "reason": "wrong customer"})
        assert (twice.status, "paused already" in twice.text) == (409, True)
        paused = await ann.get(path)
        assert ">paused<" in paused.text
        assert "wrong customer" in paused.text
        await ann.post(f"{path}/resume", {"token": paused.tokens[f"{path}/resume"]})
        after = await house.store.runs.get(run.run_id)
        assert after is not None
        assert (after.is_paused, after.phase) == (False, Phase.ACTING)
        found = await house.store.events.query(EventFilter(run=run.run_id, kind="run"))
        told: Any = found[1].json()
        assert (told["stage"], told["body"]["by"]) == ("paused", "person")
        assert told["actor"]["user"] == "ann"


async def test_only_who_has_the_role_for_it_changes_runs(tmp_path: Path) -> None:
    settings = {**PEOPLE, "runs": {"operators": ["controller"]}}
    async with open_house(tmp_path, settings) as house:
        run = await kept(house, phase=Phase.ACTING)
        path = f"/runs/{run.run_id}"
        ann, ben = await house.logged_in("ann"), await house.logged_in("ben")
        seen = await ann.get(path)
        assert (seen.status, [form for form in seen.tokens if form.startswith(path)]) == (200, [])
        tokens = (await ben.get(path)).tokens
        for action in ("pause", "resume", "handoff"):
            answer = await ann.post(f"{path}/{action}", {"reason": "x"})
            assert (answer.status, "none of your roles" in answer.text) == (403, True)
        assert (await house.store.runs.get(run.run_id) or run).version == run.version
        paused = await ben.post(f"{path}/pause", {"token": tokens[f"{path}/pause"], "reason": "x"})
        assert paused.status == 303


async def test_whoever_takes_a_run_over_ends_it_for_its_agent(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        run, ann = await kept(house), await house.logged_in()
        path = f"/runs/{run.run_id}"
        token = (await ann.get(path)).tokens[f"{path}/handoff"]
        await ann.post(f"{path}/handoff", {"token": token, "reason": "he is angry"})
        over = await ann.get(path)
        assert "for ann: he is angry" in over.text
        assert [form for form in over.tokens if form.startswith(path)] == [f"{path}/resume"]


@pytest.mark.parametrize("action", ["pause", "resume", "handoff"])
async def test_a_form_from_elsewhere_does_nothing(tmp_path: Path, action: str) -> None:
    async with open_house(tmp_path) as house:
        run, ann = await kept(house), await house.logged_in()
        path = f"/runs/{run.run_id}"
        token = (await ann.get(path)).tokens[f"{path}/pause"]
        fields = {"token": token, "reason": "x"}
        foreign = {"Origin": "http://127.0.0.1:3000"}
        assert (await ann.post(f"{path}/{action}", fields, foreign)).status == 403
        assert (await ann.post(f"{path}/{action}", {"reason": "x"})).status == 403
        assert (await ann.get(f"{path}/{action}")).status == 405
        assert (await house.store.runs.get(run.run_id) or run).version == run.version


async def test_words_of_agents_are_shown_as_words(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        odd = "<script>alert(1)</script>\u202egnirts"
        run = await kept(house, objective=odd, template="t<b>", fields={"f": a_field({"<i>": odd})})
        ann = await house.logged_in()
        for path in ("/runs", f"/runs/{run.run_id}"):
            page = (await ann.get(path)).text
            assert "<script>" not in page
            assert "<i>" not in page
            assert "\u202e" not in page
            assert "{202E}" in page
