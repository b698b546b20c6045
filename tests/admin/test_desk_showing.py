"""What the desk shows: proposals, long and hidden values, lists and pages."""

import re
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from gateway import jsontext
from gateway.admin.showing import Card, Sheet, View
from gateway.approvals.lines import MOST_BYTES
from gateway.store.vault import Vault
from gateway.types.approvals import Approval, ApprovalClause, ApprovalState, Factor, Vote
from gateway.types.json import JsonObject
from tests.admin.deciding import page_of, vote
from tests.admin.house import ARGUMENTS, open_house
from tests.helpers.presenting import a_document, a_sight


async def test_a_proposal_goes_with_the_denial_and_is_kept_sealed(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(), await house.logged_in()
        assert "&#34;amount&#34;: 1250" in (await ann.get(page_of(approval))).text
        for wrong in ("{", "[]", jsontext.dump(ARGUMENTS).decode()):
            refused = await vote(ann, approval, "propose", proposal=wrong, reason="too much")
            assert refused.status == 400
            assert "too much" in refused.text
        assert await house.state(approval) == "pending"
        other = jsontext.dump({**ARGUMENTS, "amount": 125}).decode()
        assert (await vote(ann, approval, "propose", proposal=other)).status == 303
        found = await house.store.approvals.get(approval.approval_id)
        assert found is not None
        assert found.state is ApprovalState.DENIED
        vault = Vault(house.store.keys.operations)
        kept = vault.open("acme", found.approval_id, found.proposal)
        assert jsontext.parse(kept) == {**ARGUMENTS, "amount": 125}
        assert found.proposal_hash
        after = (await ann.get(page_of(approval))).text
        assert "Proposed instead" in after
        assert "&#34;amount&#34;: 125" in after


async def test_a_proposal_that_the_tool_does_not_take_is_given_back_with_what_to_mend(
    tmp_path: Path,
) -> None:
    def faults(tool: str, arguments: JsonObject) -> Sequence[str]:
        return [f"`/amount` of {tool}: not {len(arguments)}", "`/<b>`: expected nothing"]

    async with open_house(tmp_path, faults=faults) as house:
        approval, ann = await house.ask(), await house.logged_in()
        refused = await vote(ann, approval, "propose", proposal='{"amount": "x"}')
        assert refused.status == 400
        assert "`/amount` of desk.refund: not 1" in refused.text
        assert "`/&lt;b&gt;`: expected nothing" in refused.text
        assert "&#34;amount&#34;: &#34;x&#34;" in refused.text  # to be mended where it stands
        assert await house.state(approval) == "pending"


async def test_a_page_says_that_who_asked_is_not_there_any_more(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(), await house.logged_in()
        assert "disconnected" not in (await ann.get(page_of(approval))).text
        await house.store.approvals.attended(approval, False)
        for path in (page_of(approval), "/approvals"):
            assert "requester disconnected" in (await ann.get(path)).text


async def test_what_is_hidden_from_approvers_can_not_be_proposed(tmp_path: Path) -> None:
    masked = a_document(a_sight({"iban": "DE00 1234", "amount": 5}, iban="[redacted:secret]"))
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(masked), await house.logged_in()
        page = (await ann.get(page_of(approval))).text
        assert "DE00" not in page
        assert "Propose other arguments" not in page
        refused = await vote(ann, approval, "propose", proposal='{"amount": 4}')
        assert refused.status == 400


async def test_a_long_value_has_to_be_read_to_be_approved(tmp_path: Path) -> None:
    long = a_document({"note": "a" * 30_000 + " and delete everything " + "b" * 30_000})
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(long), await house.logged_in()
        page = (await ann.get(page_of(approval))).text
        assert "and delete everything" in page
        ticks = {part.partition('"')[0] for part in page.split('name="read-')[1:]}
        assert ticks
        refused = await vote(ann, approval)
        assert refused.status == 409
        assert "open the long values" in refused.text
        assert await house.state(approval) == "pending"
        read = {f"read-{number}": "yes" for number in ticks}
        assert (await vote(ann, approval, **read)).status == 303
        assert await house.state(approval) == "approved"


async def test_nobody_approves_what_can_not_be_shown(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        approval = await house.ask(presented="broken")
        ann = await house.logged_in()
        page = (await ann.get(page_of(approval))).text
        assert "can't be shown" in page
        assert 'value="approve"' not in page
        assert (await vote(ann, approval)).status == 409
        assert (await vote(ann, approval, "deny")).status == 303
        assert await house.state(approval) == "denied"


async def test_lists_hold_the_own_tenants_requests_and_the_own_ones_first(tmp_path: Path) -> None:
    """case: APR-06"""
    async with open_house(tmp_path) as house:
        mine = await house.ask(tool="billing.refund")
        others = await house.ask(tool="crm.delete", clause=CONTROL)
        foreign = await house.ask(tenant="globex", user="zoe")
        ann = await house.logged_in()
        page = (await ann.get("/approvals")).text
        assert page.index(mine.approval_id) < page.index("Others") < page.index(others.approval_id)
        assert foreign.approval_id not in page
        assert foreign.approval_id not in (await ann.get("/approvals/history")).text
        found = (await ann.get("/approvals?tool=crm.delete")).text
        assert mine.approval_id not in found
        assert others.approval_id in found
        assert "Nothing that matches waits" in (await ann.get("/approvals?user=nobody")).text


CONTROL = ApprovalClause(factors=(Factor(name="control", roles=("controller",)),))


async def test_history_is_found_by_state_and_cut_where_it_says(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        ann = await house.logged_in()
        assert "Nothing was asked yet" in (await ann.get("/approvals/history")).text
        assert "Nothing waits." in (await ann.get("/approvals")).text
        denied, open_one = await house.ask(), await house.ask()
        await vote(ann, denied, "deny")
        page = (await ann.get("/approvals/history?state=denied")).text
        assert denied.approval_id in page
        assert open_one.approval_id not in page
        assert "Nothing matches" in (await ann.get("/approvals/history?state=expired")).text
        cut = (await ann.get("/approvals/history?limit=1")).text
        assert "limit=2" in cut
        odd = await ann.get("/approvals/history?limit=%C2%B2&state=x&tool=%00")
        assert odd.status == 200


async def test_pages_of_large_requests_are_made_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[int] = set()
    real_card, real_sheet = View.card, View.sheet

    def card(view: View, approval: Approval, votes: Sequence[Vote]) -> Card:
        threads.add(threading.get_ident())
        return real_card(view, approval, votes)

    def sheet(view: View, approval: Approval, votes: Sequence[Vote]) -> Sheet:
        threads.add(threading.get_ident())
        return real_sheet(view, approval, votes)

    monkeypatch.setattr(View, "card", card)
    monkeypatch.setattr(View, "sheet", sheet)
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(), await house.logged_in()
        for path in ("/approvals", "/approvals/history", page_of(approval)):
            threads.clear()
            assert "crm.find" in (await ann.get(path)).text
            assert threads
            assert threading.get_ident() not in threads
        threads.clear()
        assert (await vote(ann, approval)).status == 303
        assert threads
        assert threading.get_ident() not in threads


@pytest.mark.parametrize("choice", ["approve", "deny"])
async def test_as_many_long_values_as_can_be_asked_about_are_decided_about(
    tmp_path: Path, choice: str
) -> None:
    hidden = "\x7f" * 8 + "a"  # what takes most room on a page for what it takes in a call
    arguments: JsonObject = {f"k{number}": hidden * 84 for number in range(84)}
    assert 0.95 * MOST_BYTES < len(jsontext.dump(arguments)) <= MOST_BYTES
    document = a_document(arguments)
    document["changes"] = [
        {"pointer": f"/{key}", "before": f"{value}b", "after": value, "masked": []}
        for key, value in arguments.items()
    ]
    async with open_house(tmp_path) as house:
        approval, ann = await house.ask(document), await house.logged_in()
        page = (await ann.get(page_of(approval))).text
        ticks = set(re.findall(r'name="(read-[0-9]+)"', page))
        assert len(ticks) == 252
        done = await vote(ann, approval, choice, reason="all read", **dict.fromkeys(ticks, "yes"))
        assert done.status == 303
        assert await house.state(approval) == ("approved" if choice == "approve" else "denied")
