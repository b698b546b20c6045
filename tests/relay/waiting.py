"""Calls that wait for people: a caller that can be asked, and what a test waits for itself."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gateway.errors import AskRefused
from gateway.store.approvals import ApprovalFilter
from gateway.store.store import Store
from gateway.types.calls import Era
from gateway.types.json import Json, JsonObject
from tests.helpers.cases import AbsentCaller
from tests.helpers.held import House

_OPEN = ApprovalFilter(is_open=True)


SELF = """rules:
  - id: confirm
    decision: require_approval
    match: {tools: ["crm.put"]}
    approval: {approvers: {users: [self]}, expires: 1h}
"""


@dataclass(kw_only=True)
class Asked(AbsentCaller):
    """A client that shows forms, and answers them from a list."""

    answers: list[JsonObject | AskRefused] = field(default_factory=list[JsonObject | AskRefused])
    asked: list[JsonObject] = field(default_factory=list[JsonObject])
    told: list[str] = field(default_factory=list[str])
    era: Era = Era.LEGACY
    wants_progress: bool = True
    form: JsonObject = field(default_factory=dict[str, Json])

    @property
    def capabilities(self) -> JsonObject:
        return {"elicitation": self.form}

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        self.told.append(message or "")

    async def ask(self, method: str, params: JsonObject, *, within_s: float) -> JsonObject:
        assert method == "elicitation/create"
        assert within_s <= 600
        self.asked.append(params)
        answer = self.answers.pop(0)
        if isinstance(answer, AskRefused):
            raise answer
        return answer


def accepted(**content: Json) -> JsonObject:
    return {"action": "accept", "content": content}


def back(asked: Any, answer: JsonObject) -> JsonObject:
    """Return the params of the next round."""
    return {
        "requestState": asked.result["requestState"],
        "inputResponses": {"confirm": answer},
    }


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(15):
        while not condition():
            await asyncio.sleep(0.01)


async def votes(house: House) -> Any:
    [approval] = await house.writes.store.approvals.find(ApprovalFilter())
    return await house.writes.store.approvals.votes(approval.approval_id)


async def until_asked(store: Store) -> list[str]:
    async with asyncio.timeout(15):
        while True:
            found = await store.approvals.find(_OPEN)
            if found:
                return [each.approval_id for each in found]
            await asyncio.sleep(0.01)


async def binding(store: Store, approval_id: str) -> str:
    found = await store.approvals.get(approval_id)
    assert found is not None
    return found.binding
