"""Made-up callers: what they are allowed, what they do, and what comes of it."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random
from typing import Any, Final

from gateway.case import Case, Facts, Origin
from gateway.contracts.draft import draft
from gateway.crossing.ticket import Ticket
from gateway.events import approvals
from gateway.events.approvals import Word
from gateway.judging import CHECKS_FOR, judge
from gateway.revision import Revision
from gateway.runs import origins
from gateway.steps import gate, provenance
from gateway.steps.resolve import contract_of
from gateway.store.times import microseconds
from gateway.types.actors import Actor
from gateway.types.approvals import ApprovalState, Cast, Choice, Ruling
from gateway.types.calls import Nobody, actor_of
from gateway.types.decisions import DecisionEffect
from gateway.types.events import Stage
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Peer
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.records import CallRecord
from gateway.types.runs import BindingKind, Collected, Mode, Phase, Run, Trust
from gateway.types.tools import Contract, Effect, SourceTrust, Tool
from gateway.types.values import replaced
from tests.helpers.approvals import an_approval, an_approver
from tests.helpers.cases import a_call, a_principal
from tests.helpers.ledgers import Books, Clock, Counters, MemoryLog
from tests.helpers.wishes import Wishes
from tests.helpers.worlds import World, tools

_PEER: Final = Peer(transport="http", version="2026-07-28")
_TENANTS: Final = ("acme", "globex", "initech")
_ROLES: Final = ("support", "viewer", "operator", "lead")
_MOSTLY: Final = ("support", "support", "support", "viewer", "lead")
_PHASES: Final = (
    *(Phase.ACTING, Phase.ACTING, Phase.RETRIEVING, Phase.RETRIEVING),
    *(Phase.CREATED, Phase.PLANNING, Phase.FINALIZING),
)
_MODES: Final = (Mode.AUTO, Mode.AUTO, Mode.AGENT, Mode.HOST)
_SCOPES: Final = ("crm:read", "pay:write", "mail:tainted")
_QUIET: Final = 3  # of so many runs, one is no run at all: calls of somebody without one


@dataclass
class Company:
    """Where callers act: rules, published tools, and what they leave behind."""

    seed: int = 1
    is_able: bool = False  # callers may do most of what they try
    only: tuple[str, ...] = ()  # tools that are called; empty: all
    world: World = field(default_factory=World)
    log: MemoryLog = field(default_factory=MemoryLog)
    calls: int = 0

    def __post_init__(self) -> None:
        """Compile the company's rules once."""
        self.revision: Revision = self.world.revision()
        self.clock = Clock()
        self.books = Books(self.log, self.clock)
        self.counters = Counters()
        self.tools = tools(self.world.contracts)
        self.definitions: dict[str, JsonObject] = {
            each.pin: each.definition for each in self.tools.values()
        }


class Caller:
    """Somebody who makes a few calls, most of them in a run."""

    def __init__(self, history: Company, random: Random, number: int) -> None:
        self.history, self.random, self.number = history, random, number
        self.principal = a_principal(
            tenant=random.choice(_TENANTS),
            user=random.choice(("sam", "ana", "guest", "kim")),
            roles=self._roles(),
            scopes=self._scopes(),
        )
        self.is_tainted = False
        self.wishes = Wishes(stage=history, random=random, tenant=self.principal.tenant)
        self.run = self._begun() if random.randrange(_QUIET) else None

    @property
    def seen(self) -> dict[str, list[Origin]]:
        """What was shown to it, by its text."""
        return self.wishes.seen

    @property
    def run(self) -> Run | None:
        """The run it works in."""
        return self.wishes.run

    @run.setter
    def run(self, run: Run | None) -> None:
        self.wishes.run = run

    def _roles(self) -> frozenset[str]:
        random = self.random
        if self.history.is_able:
            return frozenset({"lead" if random.randrange(5) == 0 else "support"})
        return frozenset({random.choice(_ROLES), random.choice(_MOSTLY)})

    def _scopes(self) -> frozenset[str]:
        if not self.history.is_able:
            return frozenset(self.random.sample(_SCOPES, self.random.choice((1, 2, 3, 3, 3, 3))))
        some = ("pay:write", "crm:read") if self.random.randrange(5) else ("pay:write",)
        return frozenset((*some, *(("mail:tainted",) if self.random.randrange(4) == 0 else ())))

    def _phase(self) -> Phase:
        if self.history.is_able:
            return self.random.choice((Phase.ACTING, Phase.RETRIEVING))
        return self.random.choice(_PHASES)

    def _begun(self) -> Run:
        random = self.random
        is_able = self.history.is_able
        template = random.choice(("refund", "refund", "" if is_able else "triage", ""))
        at = microseconds(self.history.clock.at)
        return Run(
            run_id=f"run_{self.number:08}",
            tenant=self.principal.tenant,
            owner="0",
            user=self.principal.user,
            template=template,
            mode=Mode.AUTO if self.history.is_able else random.choice(_MODES),
            phase=self._phase(),
            objective="help jane@example.org",
            created_at=at,
            active_at=at,
            ends_at=at + 3_600_000_000 if template == "refund" else 0,
            evidence=0 if is_able else random.choice((0, 0, 1, 2)),
            fields={"customer_id": _of_host(f"c-{random.randrange(30)}", at)}
            if is_able or random.randrange(2)
            else {},
            version=1,
        )

    async def works(self) -> None:
        """Make the calls."""
        for step in range(self.random.randrange(2, 8)):
            self.history.clock.at += timedelta(seconds=self.random.expovariate(1 / 40))
            await self._called(step)
            if self.run is not None:
                self._lived(self.run)

    def _lived(self, run: Run) -> None:
        """Have something happen to the run between two calls."""
        random = self.random
        match random.randrange(40 if self.history.is_able else 10):
            case 0:
                self._collected(run, "customer_id", f"c-{random.randrange(30)}", "host", Trust.HOST)
            case 1:
                self._collected(
                    run, "ticket", random.choice(("T-1", "ana@example.org")), "user", Trust.HOST
                )
            case 2:
                mood = random.choice(("angry", "calm"))
                self._collected(run, "mood", mood, "model", Trust.MODEL)
            case 3:
                phase = random.choice((Phase.ACTING, Phase.RETRIEVING, Phase.FINALIZING))
                self._changed(run, phase=phase)
            case 4 if run.is_paused or random.randrange(4) == 0:
                self._changed(run, is_paused=not run.is_paused)
            case 5 if random.randrange(4) == 0:
                self._changed(run, phase=Phase.AWAITING_APPROVAL, resume_phase=Phase.ACTING)
            case 6:
                self.run = replaced(run, tokens=run.tokens + 900)
            case _:
                return

    def _collected(self, run: Run, name: str, value: Json, source: str, trust: Trust) -> None:
        found = Collected(value=value, trust=trust, source=source, at=run.active_at)
        self._changed(run, fields={**run.fields, name: found})

    def _changed(self, run: Run, **changes: Any) -> None:
        self.run = replaced(run, version=run.version + 1, **changes)

    async def _called(self, step: int) -> None:
        method, tool, arguments = self.wishes.wish()
        history = self.history
        call = a_call(
            tool.exposed_name,
            arguments,
            call_id=f"call_{self.number:08}_{step}",
            principal=self.principal,
            caller=Nobody(),
            received_at=history.clock.now(),
            method=method,
            cause="compensation" if tool.key == "pay.cancel" and self.random.randrange(3) else "",
            input_error="not JSON" if self.random.randrange(200) == 0 else "",
        )
        history.clock.now()
        history.calls += 1
        case = self._case(call, tool)
        if case is None:
            return
        ticket = self._ticket(call)
        verdict = judge(case, CHECKS_FOR[method])
        ticket.judged(verdict)
        if verdict.refusal is not None:
            ticket.closed(verdict.refusal)
            return
        await self._goes(ticket, verdict.case)

    def _ticket(self, call: Any) -> Ticket:
        record = CallRecord(
            call=call,
            parent=None,
            trace_id="",
            server_span="",
            authorize_span="",
            client_span="",
            received_ns=self.history.clock.time_ns(),
            actor=actor_of(call.principal),
        )
        return Ticket(owner=self.history.books, record=record, traceparent="")

    def _case(self, call: Any, tool: Tool) -> Case | None:
        revision = self.history.revision
        contract = contract_of(tool, revision, lambda unknown: draft(unknown).contract)
        if contract is None:
            return None
        run = self.run
        actor: Actor = actor_of(call.principal)
        case = Case(
            call=call,
            tool=tool,
            contract=contract,
            actor=actor,
            phase=run.phase if run is not None else Phase.ACTING,
            facts=Facts(now=call.received_at),
            revision=revision,
            run_id=run.run_id if run is not None else "",
            run=self._counted(run, contract) if run is not None else None,
            bound_by=self.random.choice((BindingKind.META, BindingKind.PRINCIPAL))
            if run is not None
            else None,
        )
        if not (contract.asks_origins or revision.reads_taint):
            return case
        asked = provenance.asked(case)
        minds = contract.when_tainted is not None or revision.reads_taint
        facts = replaced(
            case.facts,
            origins={at: found for at, each in asked.items() if (found := self._found(each))},
            is_tainted=minds and self.is_tainted,
        )
        return replaced(case, facts=facts)

    def _counted(self, run: Run, contract: Contract) -> Run:
        """Return a run as it is read: what is open is counted for calls that may write."""
        if contract.effect is Effect.READ and not contract.raises:
            return replaced(run, open_ops=0, pending_approvals=0, verified=(), succeeded=())
        return run

    def _found(self, asked: origins.Asked) -> tuple[Origin, ...]:
        text = str(asked.value)
        return tuple(
            each for each in self.seen.get(text, ()) if not asked.types or each.type in asked.types
        )

    async def _goes(self, ticket: Ticket, case: Case) -> None:
        """Carry a call out as far as it goes."""
        history, random, decision = self.history, self.random, case.decision
        call_id = case.call.call_id
        if decision.effect is DecisionEffect.REQUIRE_APPROVAL and not self._has_approved(case):
            ticket.closed(_refusal(Status.APPROVAL_PENDING, decision.rule))
            return
        now = microseconds(history.clock.now())
        exceeded = history.counters.take(call_id, decision.limits, now)
        if exceeded:
            ticket.closed(gate.exceeded(decision, exceeded, 1.0))
            return
        self._entered(case)
        await ticket.started(case, _PEER)
        if random.randrange(40) == 0:
            ticket.closed(_refusal(Status.UNAVAILABLE))
            history.counters.release(call_id)
            return
        result = self._result(case)
        ticket.answered(Delivered(result=result, size=100))
        ticket.closed(Answer(result=result))
        self._learned(case)

    def _has_approved(self, case: Case) -> bool:
        """Ask people: some say yes at once, some no, some nothing."""
        history, random = self.history, self.random
        approval = an_approval(
            approval_id=f"apr_{case.call.call_id}",
            call_id=case.call.call_id,
            tenant=self.principal.tenant,
            rule=case.decision.rule,
            run_id=case.run_id,
        )
        self._tells(approval, Stage.REQUESTED, None)
        said = random.choice((None, Choice.APPROVE, Choice.DENY))
        if said is None:
            return False
        is_yes = said is Choice.APPROVE
        state = ApprovalState.APPROVED if is_yes else ApprovalState.DENIED
        decided = replace(approval, state=state)
        cast = Cast.APPROVED if is_yes else Cast.DENIED
        word = Word(
            approver=an_approver(tenant=self.principal.tenant),
            ruling=Ruling(cast=cast, approval=decided),
            choice=said,
        )
        self._tells(decided, Stage.DECIDED, word)
        del history
        return is_yes

    def _tells(self, approval: Any, stage: Stage, word: Word | None) -> None:
        clock, redactor = self.history.clock, self.history.books.redactor
        id = f"e{len(self.history.log.kept)}"
        event = approvals.event(approval, stage, redactor, id=id, at=clock.now(), word=word)
        self.history.log.add(event)

    def _entered(self, case: Case) -> None:
        if self.run is not None and case.passage is not None and case.passage.move_to is not None:
            self._changed(self.run, phase=case.passage.move_to)

    def _result(self, case: Case) -> JsonObject:
        customers: list[Json] = [
            {"id": f"c-{self.random.randrange(30)}", "tenant": case.actor.tenant} for _ in range(3)
        ]
        return {"content": [], "structuredContent": {"customers": customers}}

    def _learned(self, case: Case) -> None:
        """Remember what a result brings into play."""
        random, run = self.random, self.run
        if case.tool.key == "crm.find":
            for place in range(3):
                origin = Origin(
                    type="crm.customer_id",
                    record=f"{case.call.call_id}/customers/{place}",
                    tool="crm.find",
                    trust=random.choice((SourceTrust.TENANT, SourceTrust.SYSTEM)),
                )
                self.seen.setdefault(f"c-{random.randrange(30)}", []).append(origin)
            if run is not None:
                self.run = run = replaced(run, evidence=run.evidence + 1)
        if case.taints:
            self.is_tainted = True
            if run is not None:
                self.run = run = replaced(run, is_tainted=True)
        if run is not None and case.effect is not Effect.READ:
            self.run = replaced(run, succeeded=(*run.succeeded, case.tool.key)[-5:])


def _of_host(value: Json, at: int) -> Collected:
    return Collected(value=value, trust=Trust.HOST, source="host", at=at)


def _refusal(status: Status, rule: str = "") -> Refusal:
    return Refusal(status=status, code=str(status), reason="made up", rule=rule)
