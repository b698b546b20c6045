"""The page of changes that wait for people."""

import re
from datetime import UTC, datetime
from pathlib import Path

from gateway.store.revisions import StoredRevision
from gateway.types.proposals import Proposal, ProposalState
from tests.admin.house import PEOPLE, Answer, Browser, House, open_house
from tests.helpers.proposals import a_proposal, somebody

RULE = {"people": 2, "tenant": "acme", "roles": ["finance-lead", "controller"]}
SHARED = {**PEOPLE, "activation": RULE}
OLD, NEW = "rules:\n  - {id: a}\n", "rules:\n  - {id: b}\n  - {id: '<script>'}\n"


async def proposed(house: House, **changes: object) -> Proposal:
    """Propose a change of what is in force."""
    made = a_proposal(**({"texts": {"policy.yaml": NEW}, "change": {"wider": 3}} | changes))
    base = StoredRevision(
        id=made.base,
        at=datetime(2026, 11, 30, tzinfo=UTC),
        activated_by="start",
        texts={"policy.yaml": OLD},
    )
    await house.store.revisions.save(base)
    await house.store.proposals.propose(made)
    return made


async def sent(browser: Browser, page: Answer, made: Proposal, verb: str, **fields: str) -> Answer:
    path = f"/proposals/{made.id}/{verb}"
    return await browser.post(path, {"token": page.tokens[path], **fields})


async def state(house: House) -> str:
    (only,) = await house.store.proposals.latest()
    return only.state.value


async def test_two_people_agree_on_the_page_and_it_takes_force(tmp_path: Path) -> None:
    async with open_house(tmp_path, SHARED) as house:
        made = await proposed(house)
        ann, ben = await house.logged_in("ann"), await house.logged_in("ben")
        page = await ann.get("/proposals")
        assert (page.status, made.revision[7:19] in page.text) == (200, True)
        assert "2 more people have to agree" in page.text
        assert "3 wider" in page.text
        assert re.search(r'diff-added">.*id: b', page.text)
        assert "<script>" not in page.text
        first = await sent(ann, page, made, "agree", revision=made.revision)
        assert first.status == 303
        again = await ann.get("/proposals")
        assert "ann has agreed already" in again.text
        assert f"/proposals/{made.id}/agree" not in again.text
        last = await sent(
            ben, await ben.get("/proposals"), made, "agree", revision=made.revision, reason="fine"
        )
        assert (last.status, await state(house)) == (303, ProposalState.AGREED)
        told = await house.events("policy_approved")
        assert [(each["by"], each["channel"], each["lacks"]) for each in told] == [
            ("ann", "page", 1),
            ("ben", "page", 0),
        ]
        over = await ann.get("/proposals")
        assert "Nothing waits for people to agree." in over.text
        assert "agreed" in over.text


async def test_what_is_agreed_with_is_what_was_shown(tmp_path: Path) -> None:
    async with open_house(tmp_path, SHARED) as house:
        made = await proposed(house)
        ann = await house.logged_in("ann")
        page = await ann.get("/proposals")
        other = await sent(ann, page, made, "agree", revision="sha256:" + "00" * 32)
        assert (other.status, "it does not wait any more" in other.text) == (409, True)
        assert await house.store.proposals.backings(made.id) == ()


async def test_a_change_is_turned_down_with_a_reason_alone(tmp_path: Path) -> None:
    async with open_house(tmp_path, SHARED) as house:
        made = await proposed(house)
        ann = await house.logged_in("ann")
        page = await ann.get("/proposals")
        bare = await sent(ann, page, made, "reject", reason=" ")
        assert (bare.status, await state(house)) == (400, ProposalState.OPEN)
        token = "token=ghp_" + "aB3d" * 9
        done = await sent(ann, page, made, "reject", reason=f"no, {token}")
        assert (done.status, await state(house)) == (303, ProposalState.REJECTED)
        (told,) = await house.events("policy_rejected")
        assert "no, " in told["reason"]
        assert "aB3d" not in told["reason"]
        late = await sent(ann, page, made, "reject", reason="again")
        assert (late.status, "it is rejected already" in late.text) == (409, True)


async def test_who_may_not_agree_sees_nothing(tmp_path: Path) -> None:
    settings = {**SHARED}
    nobody = {"user": "zoe", "tenant": "acme", "roles": ["viewer"]}
    settings["admin"] = {"accounts": [*PEOPLE["admin"]["accounts"], nobody]}
    async with open_house(tmp_path, settings) as house:
        made = await proposed(house)
        zoe = await house.logged_in("zoe")
        page = await zoe.get("/proposals")
        assert (page.status, "no role that may agree" in page.text) == (403, True)
        assert made.revision[7:19] not in page.text
        assert "/proposals" not in (await zoe.get("/approvals")).text
        ann = await house.logged_in("ann")
        assert 'href="/proposals"' in (await ann.get("/approvals")).text
        missing = await ann.post("/proposals/prop_none/reject", {"token": "x", "reason": "no"})
        assert missing.status == 403  # a form that no page of ours has made


async def test_people_of_another_tenant_neither_see_nor_decide_whatever_their_roles(
    tmp_path: Path,
) -> None:
    settings = {**SHARED}
    eve = {"user": "eve", "tenant": "evilcorp", "roles": ["controller", "finance-lead"]}
    settings["admin"] = {"accounts": [*PEOPLE["admin"]["accounts"], eve]}
    async with open_house(tmp_path, settings) as house:
        made = await proposed(house)
        browser = await house.logged_in("eve", "evilcorp")
        page = await browser.get("/proposals")
        assert (page.status, "whose people have no say in it" in page.text) == (403, True)
        assert "acme" not in page.text
        assert made.revision[7:19] not in page.text
        assert "/proposals" not in (await browser.get("/approvals")).text
        say = house.settings.say
        person = somebody("eve", tenant="evilcorp", roles=frozenset({"controller"}))
        assert (await house.store.proposals.agree(made.id, person, say=say)).obstacle
        assert (await house.store.proposals.reject(made.id, person, say=say, reason="x")).obstacle


async def test_links_of_one_account_of_the_machine_are_one_person(tmp_path: Path) -> None:
    async with open_house(tmp_path, SHARED) as house:
        made = await proposed(house)
        ann = await house.logged_in("ann", account="root")
        page = await ann.get("/proposals")
        assert (await sent(ann, page, made, "agree", revision=made.revision)).status == 303
        ben = await house.logged_in("ben", account="root")
        page = await ben.get("/proposals")
        assert "from the same account of this machine, `root`" in page.text
        assert f"/proposals/{made.id}/agree" not in page.text
        own = await house.logged_in("ben", account="ben")
        page = await own.get("/proposals")
        assert (await sent(own, page, made, "agree", revision=made.revision)).status == 303
        assert await state(house) == ProposalState.AGREED
        told = await house.events("policy_approved")
        assert [each["issuer"] for each in told] == ["os:root", "os:ben"]


async def test_where_a_file_is_enough_nobody_is_led_there(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        ann = await house.logged_in("ann")
        assert "/proposals" not in (await ann.get("/approvals")).text
