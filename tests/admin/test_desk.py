"""Deciding on the page: who may, about what, and what does nothing."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway import jsontext
from gateway.admin import csrf
from gateway.types.approvals import Approval, ApprovalClause, ApprovalState, Assurance, Factor
from tests.admin.deciding import page_of, press, vote, votes
from tests.admin.house import ARGUMENTS, BOTH, LEADS, Answer, Browser, open_house
from tests.helpers.approvals import OTHER_BINDING
from tests.helpers.issuer import HandClock


async def test_a_lead_approves_what_she_sees(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(), await house.logged_in()
        shown = (await ann.get(page_of(approval))).text
        for text in ("customer_id", "c-1001", "1250", "EUR", "asked for", "sam"):
            assert text in shown
        assert approval.binding in shown
        done = await vote(ann, approval, reason="checked with the customer")
        assert (done.status, done.headers["Location"]) == (303, page_of(approval))
        assert await house.state(approval) == "approved"
        (kept,) = await house.store.approvals.votes(approval.approval_id)
        assert (kept.user, kept.channel, kept.assurance) == ("ann", "page", Assurance.LOCAL)
        assert kept.reason == "checked with the customer"
        after = (await ann.get(page_of(approval))).text
        assert "approved, not sent yet" in after
        assert "checked with the customer" in after


async def test_a_no_reaches_the_agent_with_its_reason(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(), await house.logged_in()
        assert (await vote(ann, approval, "deny", reason="wrong customer")).status == 303
        found = await house.store.approvals.get(approval.approval_id)
        assert found is not None
        assert found.state is ApprovalState.DENIED
        assert "wrong customer" in (await ann.get(page_of(approval))).text


@pytest.mark.parametrize("choice", ["deny", "propose"])
async def test_a_no_needs_a_reason_as_in_the_terminal(tmp_path: Path, choice: str) -> None:
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(), await house.logged_in()
        other = jsontext.dump({**ARGUMENTS, "amount": 125}).decode()
        for reason in ("", " \n"):
            refused = await vote(ann, approval, choice, reason=reason, proposal=other)
            assert refused.status == 400
            assert "say why, so that the caller can do better" in refused.text
            assert "&#34;amount&#34;:125" in refused.text  # what was typed is still there
            assert ('<details class="proposing" open>' in refused.text) == (choice == "propose")
        assert await house.state(approval) == "pending"
        assert await votes(house, approval) == []
        assert (await vote(ann, approval, choice, reason="x", proposal=other)).status == 303
        assert await house.state(approval) == "denied"


@pytest.mark.parametrize(
    ("user", "tenant", "status", "why"),
    [
        ("sam", "acme", 403, "you asked for it yourself"),  # a lead too, but the one who asks
        ("ben", "acme", 403, "you may not do that"),
        ("eve", "globex", 404, "there is nothing here"),
    ],
)
@pytest.mark.parametrize("choice", ["approve", "deny"])
async def test_who_may_not_decide_does_not(
    tmp_path: Path, user: str, tenant: str, status: int, why: str, choice: str
) -> None:
    """case: APR-03, APR-06, APR-10"""
    async with open_house(tmp_path) as house:
        approval, browser = await house.ask(), await house.logged_in(user, tenant)
        path = f"{page_of(approval)}/decide"
        shown = await browser.get(page_of(approval))
        assert shown.status == (404 if status == 404 else 200)
        assert path not in shown.tokens
        other = await house.ask(tenant=tenant, user="zoe", clause=OPEN_TO_ALL)
        tokens = (await browser.get(page_of(other))).tokens
        for token in ("", *tokens.values()):
            refused = await browser.post(
                path,
                {"token": token, "binding": approval.binding, "choice": choice},
                {"X-User": "ann", "X-Forwarded-User": "ann", "X-Tenant-ID": "acme"},
            )
            assert refused.status in (403, 404)
        assert why in (await sent_with_own_token(browser, path, approval, choice)).text
        assert await house.state(approval) == "pending"
        assert await votes(house, approval) == []


OPEN_TO_ALL = ApprovalClause(
    factors=(Factor(name="all", roles=("finance-lead", "controller"), users=("ben",)),)
)


async def sent_with_own_token(
    browser: Browser, path: str, approval: Approval, choice: str
) -> Answer:
    """Send the form that the page did not show, as somebody who knows how tokens are made would."""
    secret = {each.key: each.value for each in browser.session.cookie_jar}["weighbridge"]
    fields = {"binding": approval.binding, "choice": choice, "user": "ann", "tenant": "acme"}
    return await browser.post(path, {**fields, "token": csrf.token(secret, path)})


async def test_a_decision_about_something_else_is_none(tmp_path: Path) -> None:
    """case: APR-01"""
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(), await house.logged_in()
        for binding in (OTHER_BINDING, "", "sha256:", approval.binding[:10]):
            refused = await vote(ann, approval, binding=binding)
            assert refused.status == 409
            assert "not the binding of this request" in refused.text
        assert await house.state(approval) == "pending"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:3000"},
        {"Origin": "null"},
        {"Origin": "", "Sec-Fetch-Site": "cross-site"},
        {"Origin": ""},
    ],
)
async def test_a_form_of_another_page_decides_nothing(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(), await house.logged_in()
        path = f"{page_of(approval)}/decide"
        token = (await ann.get(page_of(approval))).tokens[path]
        form = {"token": token, "binding": approval.binding, "choice": "approve"}
        assert (await ann.post(path, form, headers)).status == 403
        for wrong in ("", "0" * 32, token[:-1]):
            assert (await ann.post(path, {**form, "token": wrong})).status == 403
        assert await house.state(approval) == "pending"
        assert (await ann.post(path, form)).status == 303


async def test_a_thousand_previews_decide_nothing(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(), await house.logged_in()
        paths = [
            page_of(approval),
            *(f"{page_of(approval)}/{each}" for each in ("decide", "cancel", "reopen")),
            f"{page_of(approval)}/decide?choice=approve&binding={approval.binding}",
        ]

        async def prefetch(number: int) -> int:
            path, method = paths[number % 5], ("GET", "HEAD", "OPTIONS", "PUT")[number % 4]
            return (await ann.get(path, method, Purpose="prefetch")).status

        seen = {status for number in range(0, 1000, 50) for status in await many(prefetch, number)}
        assert seen == {200, 405}
        assert await house.state(approval) == "pending"
        assert await votes(house, approval) == []


async def many(prefetch: Any, first: int) -> list[int]:
    return [*await asyncio.gather(*(prefetch(number) for number in range(first, first + 50)))]


async def test_two_people_of_two_groups_are_needed_and_the_same_one_counts_once(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(clause=BOTH), await house.logged_in()
        assert (await vote(ann, approval)).status == 303
        assert await house.state(approval) == "pending"
        page = (await ann.get(page_of(approval))).text
        assert "1 more of controller" in page
        again = await sent_with_own_token(ann, f"{page_of(approval)}/decide", approval, "approve")
        assert again.status == 409
        assert "you have voted on it already" in again.text
        assert (await vote(await house.logged_in("ben"), approval)).status == 303
        assert await house.state(approval) == "approved"


async def test_a_vote_can_be_taken_back_while_nothing_is_decided(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(clause=BOTH), await house.logged_in()
        await vote(ann, approval)
        assert (await press(ann, approval, "withdraw")).status == 303
        assert await votes(house, approval) == []
        assert (await vote(ann, approval, "deny")).status == 303
        assert await house.state(approval) == "denied"


async def test_an_approval_can_be_taken_back_until_it_is_used(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(), await house.logged_in()
        await vote(ann, approval)
        assert "Take it back" in (await ann.get(page_of(approval))).text
        assert (await vote(ann, approval, "deny")).status == 303
        assert await house.state(approval) == "cancelled"


async def test_who_asked_may_cancel_and_a_no_may_be_reopened(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        approval, sam = await house.ask(), await house.logged_in("sam")
        assert (await press(sam, approval, "cancel")).status == 303
        assert await house.state(approval) == "cancelled"
        denied, ann = await house.ask(), await house.logged_in()
        await vote(ann, denied, "deny")
        assert (await press(ann, denied, "reopen")).status == 303
        assert (await press(sam, denied, "cancel")).status == 403


async def test_what_is_over_can_not_be_decided(tmp_path: Path) -> None:
    clock = HandClock()
    async with open_house(tmp_path, clock=clock) as house:
        approval, ann = await house.ask(), await house.logged_in()
        path = f"{page_of(approval)}/decide"
        token = (await ann.get(page_of(approval))).tokens[path]
        clock.move(1801)
        ann = await house.logged_in()
        page = await ann.get(page_of(approval))
        assert path not in page.tokens
        assert "its time is over" in page.text
        late = await sent_with_own_token(ann, path, approval, "approve")
        assert late.status == 409
        assert "its time is over" in late.text
        assert token


async def test_time_to_think_is_for_yes_alone(tmp_path: Path) -> None:
    clause = leads(not_before_s=60.0)
    async with open_house(tmp_path) as house:
        soon = (await house.ask()).decide_by
        approval, ann = await house.ask(clause=clause, not_before=soon), await house.logged_in()
        page = (await ann.get(page_of(approval))).text
        assert 'value="deny"' in page
        assert 'value="approve"' not in page
        assert "time to think" in page
        early = await vote(ann, approval)
        assert early.status == 409
        assert "nobody can approve it before" in early.text


def leads(**changes: Any) -> ApprovalClause:
    return replace(LEADS, **changes)


async def test_a_rule_may_want_a_surer_login_than_a_link(tmp_path: Path) -> None:
    clause = leads(min_assurance=Assurance.AUTHENTICATED)
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(clause=clause), await house.logged_in()
        assert "a login at the identity provider" in (await ann.get(page_of(approval))).text
        path = f"{page_of(approval)}/decide"
        assert (await sent_with_own_token(ann, path, approval, "approve")).status == 403


@pytest.mark.parametrize("choice", ["", "yes", "APPROVE"])
async def test_a_choice_that_is_none_is_refused(tmp_path: Path, choice: str) -> None:
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(), await house.logged_in()
        assert (await vote(ann, approval, choice)).status == 400
        assert await house.state(approval) == "pending"
