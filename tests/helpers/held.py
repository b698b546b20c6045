"""A pipeline with one tool that people decide about, over a real store."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gateway.app.approving import Approving, Around, approving
from gateway.app.asked_after import AskedAfter
from gateway.case import Case
from gateway.clock import SystemClock
from gateway.config.approvals import ApprovalsSettings
from gateway.crossing.recall import Recall
from gateway.events.redact import Redactor
from gateway.relay.tools import OwnTools
from gateway.store.store import Store
from gateway.types.approvals import Approval, Approver, Choice, Ruling
from gateway.types.calls import ProposedCall
from gateway.types.json import JsonObject
from gateway.types.operations import Operation
from gateway.types.outcomes import Answer, Finished, Refusal
from tests.helpers.approvals import an_approver
from tests.helpers.cases import a_revision
from tests.helpers.shelves import Law
from tests.helpers.writes import PUT, Counting, Writes, outcome_of, writes

ASK = """rules:
  - id: ask
    decision: require_approval
    reason: it moves money
    match: {tools: ["crm.put"]}
    approval: {approvers: {roles: [lead]}, expires: 1h}
"""


@dataclass(frozen=True, kw_only=True)
class House:
    """The pipeline, its people, and a law that can be changed."""

    writes: Writes
    people: Approving
    law: Law

    @property
    def server(self) -> Counting:
        return self.writes.server

    async def call(self, arguments: JsonObject | None = None, **changes: Any) -> Finished:
        return await self.writes.call(arguments, **changes)

    async def approval(self, finished: Finished) -> Approval:
        """Return the request that a result names."""
        found = await self.writes.store.approvals.get(outcome_of(finished)["approval_id"])
        assert found is not None
        return found

    async def decide(
        self,
        finished: Finished,
        choice: Choice = Choice.APPROVE,
        approver: Approver | None = None,
        **more: Any,
    ) -> Ruling:
        """Decide about the request that a result names."""
        approval = await self.approval(finished)
        who = approver or an_approver()
        return await self.people.deciding.decide(
            who, approval.approval_id, choice, approval.binding, **more
        )

    def rule(self, policy: str, **contract: Any) -> None:
        """Change the policy, as a reload does."""
        contracts: Mapping[str, Any] = self.law.revision.contracts
        changed = [replace(each, **contract) for each in contracts.values()]
        self.law.revision = a_revision(changed, policy)

    def repinned(self, pin: str) -> None:
        """Have the tool changed, and reviewed as it is now."""
        shelf: Any = self.writes.pipeline.resolve.catalogue
        shelf.held = tuple(replace(each, pin=pin) for each in shelf.held)
        contracts: Mapping[str, Any] = self.law.revision.contracts
        self.law.revision = replace(
            self.law.revision,
            contracts={key: replace(each, pin=pin) for key, each in contracts.items()},
            schemas={pin: next(iter(self.law.revision.schemas.values()))},
        )


def a_house(
    store: Store,
    server: Counting | None = None,
    *,
    policy: str = ASK,
    settings: Mapping[str, Any] | None = None,
    hold_s: float = 0.0,
    own_tools: bool = False,
    **contract: Any,
) -> House:
    """Return a house whose calls are held for `hold_s` seconds."""
    made: list[Approving] = []
    inner = writes(store, server, policy=policy, **contract)
    values = {"hold": {"default": f"{hold_s}s"}, **(settings or {})}
    pipeline = inner.pipeline

    def window_s(case: Case) -> float:
        return pipeline.claim.window_s(case)

    def answer(call: ProposedCall, operation: Operation) -> Answer | Refusal:
        return asked_after(call, operation)

    people = approving(
        store,
        ApprovalsSettings.model_validate(values),
        Around(
            redactor=Redactor(lambda tenant: tenant.encode()),
            clock=SystemClock(),
            states=pipeline.states,
            window_s=window_s,
            own=lambda tool, arguments: arguments,
            faults=lambda tool, arguments: (),
            answer=answer,
        ),
    )
    made.append(people)
    claim = replace(pipeline.claim, people=people.people, vault=people.people.vault)
    operate = replace(pipeline.operate, vault=people.people.vault)
    own = OwnTools(tools=(people.wait.tool(lambda: own_tools),), errands=people.holding.errands)
    changed = replace(pipeline, claim=claim, operate=operate, holding=people.holding, own_tools=own)
    law = _law_of(changed)
    recall = Recall(
        vault=claim.vault,
        case_for=changed.resolve.case_for,
        tool=lambda key: None,  # as when its server is away
        clock=SystemClock(),
    )
    asked_after = AskedAfter(case=recall.case, recorded=claim.recorded)
    return House(writes=replace(inner, pipeline=changed), people=people, law=law)


def _law_of(pipeline: Any) -> Law:
    revision = pipeline.resolve.revision
    law = Law(revision())
    object.__setattr__(pipeline.resolve, "revision", lambda: law.revision)
    return law


__all__ = ["ASK", "PUT", "House", "a_house"]
