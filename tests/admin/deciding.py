"""Pressing the buttons of the desk: what a browser sends, and which votes came of it."""

from gateway.types.approvals import Approval
from tests.admin.house import Answer, Browser, House


def page_of(approval: Approval) -> str:
    return f"/approvals/{approval.approval_id}"


async def vote(
    browser: Browser, approval: Approval, choice: str = "approve", **fields: str
) -> Answer:
    """Open the page of a request, fill its form and send it."""
    path = f"{page_of(approval)}/decide"
    tokens = (await browser.get(page_of(approval))).tokens
    form = {"token": tokens.get(path, ""), "binding": approval.binding, "choice": choice}
    reason = {} if choice == "approve" else {"reason": "not now"}
    return await browser.post(path, form | reason | fields)


async def press(browser: Browser, approval: Approval, action: str) -> Answer:
    path = f"{page_of(approval)}/{action}"
    tokens = (await browser.get(page_of(approval))).tokens
    return await browser.post(path, {"token": tokens.get(path, "")})


async def votes(house: House, approval: Approval) -> list[tuple[str, str]]:
    found = await house.store.approvals.votes(approval.approval_id)
    return [(each.user, each.choice.value) for each in found]
