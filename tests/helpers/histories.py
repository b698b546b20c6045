"""Logs of made-up callers over a made-up company, the same for the same seed.

Whatever decides and writes is the gateway's own: judging, tickets, events and their redaction. Made
up are servers, counters of limits and the rows of runs, which are kept in memory.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

from gateway import jsontext
from gateway.case import Case, Facts, Origin
from gateway.contracts.draft import draft
from gateway.crossing.ticket import Ticket
from gateway.events import approvals
from gateway.events.approvals import Word
from gateway.events.envelope import Origin as Writer
from gateway.events.envelope import to_bytes
from gateway.events.redact import Redactor
from gateway.pipeline import CHECKS_FOR, judge
from gateway.revision import Revision
from gateway.runs import origins
from gateway.steps import gate, provenance
from gateway.steps.resolve import contract_of
from gateway.store.events import EventFilter, StoredEvent
from gateway.store.times import microseconds
from gateway.telemetry.options import TelemetryOptions
from gateway.telemetry.telemetry import Telemetry
from gateway.types.actors import Actor
from gateway.types.approvals import ApprovalState, Cast, Choice, Ruling
from gateway.types.calls import Method, Nobody, actor_of
from gateway.types.decisions import DecisionEffect, Limit
from gateway.types.events import Event, Stage
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Peer
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.records import CallRecord
from gateway.types.runs import BindingKind, Collected, Mode, Phase, Run, Trust
from gateway.types.tools import Contract, Effect, Kind, Quarantine, SourceTrust, Tool
from gateway.types.values import replaced
from tests.helpers.approvals import an_approval, an_approver
from tests.helpers.cases import NOW, a_call, a_principal
from tests.helpers.worlds import World, tools

WRITER: Final = Writer(instance="made-up", version="0")
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
_OFTEN: Final = (
    *("crm.find", "crm.find", "crm.note", "crm.note"),
    *("pay.refund", "pay.refund", "mail.send", "mail.send", "web.fetch"),
)
_QUIET: Final = 3  # of so many runs, one is no run at all: calls of somebody without one


@dataclass
class MemoryLog:
    """A log that is read as the store's is; kept in memory."""

    kept: list[StoredEvent] = field(default_factory=list[StoredEvent])
    of_calls: dict[str, list[StoredEvent]] = field(
        default_factory=lambda: defaultdict[str, list[StoredEvent]](list)
    )

    def add(self, event: Event) -> None:
        """Keep one event."""
        stored = StoredEvent(seq=len(self.kept) + 1, body=to_bytes(event, WRITER))
        self.kept.append(stored)
        self.of_calls[event.call].append(stored)

    async def query(self, wanted: EventFilter) -> list[StoredEvent]:
        """Return the events after a number, or those of a call."""
        if wanted.call:
            return self.of_calls[wanted.call][: wanted.limit]
        return self.kept[wanted.after : wanted.after + wanted.limit]

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return sum(len(each.body) for each in self.kept)


@dataclass
class _Clock:
    at: datetime = NOW

    def now(self) -> datetime:
        self.at += timedelta(microseconds=137)
        return self.at

    def time_ns(self) -> int:
        return microseconds(self.at) * 1000

    def monotonic(self) -> float:
        return self.time_ns() / 1e9


@dataclass
class _Journal:
    log: MemoryLog
    failing: str = ""

    def append(self, events: Sequence[Event], *, durable: bool = False, owed: bool = False) -> None:
        del durable, owed
        for event in events:
            self.log.add(event)

    async def kept(self) -> None:
        """Everything is."""


class _Untraced:
    def __init__(self) -> None:
        self._telemetry = Telemetry.start(TelemetryOptions(), {})
        self.is_traced = False
        self.trace_for = self._telemetry.trace_for
        self.outgoing = self._telemetry.outgoing

    def record(self, record: CallRecord) -> None:
        del record


class _Books:
    """What tickets are written with."""

    def __init__(self, log: MemoryLog, clock: _Clock) -> None:
        self.journal = _Journal(log)
        self.telemetry = _Untraced()
        self.redactor = Redactor(lambda tenant: tenant.encode())
        self.clock = clock
        self.reads_wait_for_log = False

    def digest(self, tenant: str, value: Json) -> str:
        """Return what stands for a value."""
        return jsontext.digest([tenant, value])


@dataclass
class _Counters:
    """Limits as the store counts them."""

    taken: dict[tuple[str, str], list[tuple[float, int, str]]] = field(
        default_factory=lambda: defaultdict[tuple[str, str], list[tuple[float, int, str]]](list)
    )

    def take(self, call: str, limits: Sequence[Limit], now: int) -> str:
        """Take of all limits or of none, and say which had no room."""
        for limit in limits:
            rows = [each for each in self.taken[limit.id, limit.key] if each[1] > now]
            self.taken[limit.id, limit.key] = rows
            most = limit.maximum + abs(limit.maximum) * 1e-9
            if sum(amount for amount, *_ in rows) + limit.amount > most:
                return limit.id
        for limit in limits:
            until = now + round(limit.window_s * 1_000_000)
            self.taken[limit.id, limit.key].append((limit.amount, until, call))
        return ""

    def release(self, call: str) -> None:
        """Give back what a call took."""
        for place, rows in self.taken.items():
            self.taken[place] = [each for each in rows if each[2] != call]


@dataclass
class History:
    """Makes a log, one run after the other."""

    seed: int = 1
    is_able: bool = False  # callers may do most of what they try
    only: tuple[str, ...] = ()  # tools that are called; empty: all
    world: World = field(default_factory=World)
    log: MemoryLog = field(default_factory=MemoryLog)
    calls: int = 0

    def __post_init__(self) -> None:
        """Compile the company's rules once."""
        self.revision: Revision = self.world.revision()
        self.clock = _Clock()
        self.books = _Books(self.log, self.clock)
        self.counters = _Counters()
        self.tools = tools(self.world.contracts)
        self.definitions: dict[str, JsonObject] = {
            each.pin: each.definition for each in self.tools.values()
        }

    async def runs(self, first: int, many: int) -> None:
        """Add some runs, by their numbers."""
        for number in range(first, first + many):
            await _Caller(self, Random(f"{self.seed}:{number}"), number).works()

    def forget(self) -> None:
        """Drop the log that there is so far; counters go on."""
        self.log = MemoryLog()
        self.books.journal.log = self.log


class _Caller:
    """Somebody who makes a few calls, most of them in a run."""

    def __init__(self, history: History, random: Random, number: int) -> None:
        self.history, self.random, self.number = history, random, number
        self.principal = a_principal(
            tenant=random.choice(_TENANTS),
            user=random.choice(("sam", "ana", "guest", "kim")),
            roles=self._roles(),
            scopes=self._scopes(),
        )
        self.seen: dict[str, list[Origin]] = {}
        self.is_tainted = False
        self.run: Run | None = self._begun() if random.randrange(_QUIET) else None

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

    # --- one call ---------------------------------------------------------------------------------

    async def _called(self, step: int) -> None:
        method, tool, arguments = self._wish()
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

    # --- wishes -----------------------------------------------------------------------------------

    def _wish(self) -> tuple[Method, Tool, JsonObject]:
        random = self.random
        if self.history.only:
            key = random.choice(self.history.only)
            return Method.CALL_TOOL, self._published(key), self._arguments(key)
        match random.randrange(20):
            case 0:
                return self._resource()
            case 1:
                return self._prompt()
            case 2:
                method = random.choice((Method.GET_TASK, Method.CANCEL_TASK, Method.UPDATE_TASK))
                return method, self.history.tools["files.index"], {}
            case _:
                key = random.choice([*self.history.tools, *_OFTEN])
                return Method.CALL_TOOL, self._published(key), self._arguments(key)

    def _published(self, key: str) -> Tool:
        tool = self.history.tools[key]
        match self.random.randrange(60):
            case 0 if key != "shell.run_command":
                return replace(tool, pin="sha256:other")
            case 1 if key != "shell.run_command":
                return replace(tool, quarantine=Quarantine(reason="odd"))
            case _:
                return tool

    def _resource(self) -> tuple[Method, Tool, JsonObject]:
        random = self.random
        uri = random.choice(
            (
                "file:///handbook/travel.md",
                "file:///handbook/secret.md",
                "file:///handbook/../etc/passwd",
                "file:///handbook/jane.doe@example.org.md",
                "file:///other.md",
            )
        )
        definition: JsonObject = {"uri": uri, "name": uri}
        tool = Tool(
            server=random.choice(("files", "crm")),
            name=uri,
            exposed_name=uri,
            definition=definition if random.randrange(2) else {"uriTemplate": "file:///{+path}"},
            pin="sha256:resource",
            kind=Kind.RESOURCE,
        )
        return random.choice((Method.READ_RESOURCE, Method.SUBSCRIBE, Method.COMPLETE)), tool, {}

    def _prompt(self) -> tuple[Method, Tool, JsonObject]:
        random = self.random
        tool = Tool(
            server="files",
            name="reply",
            exposed_name="files__reply",
            definition={"name": "reply"},
            pin="sha256:prompt",
            kind=Kind.PROMPT,
        )
        tone = random.choice(("kind", "rude", "jane@example.org"))
        arguments: JsonObject = {"tone": tone} if random.randrange(3) else {}
        return random.choice((Method.GET_PROMPT, Method.COMPLETE)), tool, arguments

    def _arguments(self, key: str) -> JsonObject:  # noqa: C901 - one case for each tool
        random = self.random
        known = [*self.seen]
        is_known = bool(known) and random.randrange(4) > 0
        customer = random.choice(known) if is_known else f"c-{random.randrange(30)}"
        tenant = random.choice(("", "", self.principal.tenant, "globex"))
        match key:
            case "crm.find":
                query = random.choice(("x", "jane", "jane.doe@example.org", "+49 170 1234567"))
                made: JsonObject = {"query": query, "tenant": tenant}
                if random.randrange(2):
                    made["limit"] = random.choice((1, 5, 500, "many"))
                return made
            case "crm.get":
                return {"id": customer} if random.randrange(20) else {"id": 7}
            case "crm.note":
                texts = ("called", "as said", "see http://x.example", "n" * 200, "t" * 500)
                text = random.choice(texts)
                return {"customer_id": customer, "text": text}
            case "crm.delete":
                return {"customer_id": customer}
            case "pay.refund":
                return self._refund(customer, tenant)
            case "pay.cancel":
                return {"reference": f"r-{random.randrange(9)}"}
            case "mail.send":
                return self._mail()
            case "web.fetch":
                urls = ("https://example.org/a", "https://bad.example", "no url")
                url = urls[0] if self.history.is_able else random.choice(urls)
                return {"url": url + random.choice(("", "?token=s3cr3tABCDEFGH123456"))}
            case "shell.run_command":
                command = random.choice(("ls -l", "rm -rf /", "ls " + "x" * 40))
                return {"command": command, "api_key": "sk-1234567890abcdefghij"}
            case _:
                return {"folder": "/a"}

    def _refund(self, customer: str, tenant: str) -> JsonObject:
        random = self.random
        known = self.run.fields.get("customer_id") if self.run is not None else None
        if known is not None and (self.history.is_able or random.randrange(2)):
            customer = str(known.value)
        made: JsonObject = {
            "customer_id": customer,
            "amount": random.choice((10, 50.5, 99.0, 150.0, 450, 700.0, 1500)),
            "currency": random.choice(("EUR", "EUR", "USD", "GBP")),
        }
        if self.history.is_able:
            return {**made, "currency": "EUR", "amount": random.choice((30.0, 60.0, 150.0, 450))}
        if tenant:
            made["tenant"] = tenant
        if random.randrange(2):
            made["iban"] = random.choice(("DE89370400440532013000", "x"))
        if random.randrange(2):
            made["note"] = random.choice(("urgent please", "as agreed"))
        return made

    def _mail(self) -> JsonObject:
        random = self.random
        everybody = ("ana@example.org", "bob@example.org", "eve@evil.example", "no address")
        to = (
            random.sample(everybody, random.randrange(1, 4))
            if random.randrange(2)
            else ["ana@example.org"]
        )
        return {"to": [*to], "subject": "hi", "body": "dear all"}


def _of_host(value: Json, at: int) -> Collected:
    return Collected(value=value, trust=Trust.HOST, source="host", at=at)


def _refusal(status: Status, rule: str = "") -> Refusal:
    return Refusal(status=status, code=str(status), reason="made up", rule=rule)


def kinds(log: MemoryLog) -> dict[str, int]:
    """Count the events of a log by kind and stage."""
    found: dict[str, int] = defaultdict(int)
    for each in log.kept:
        event = each.json()
        found[f"{event['kind']} {event['stage']}"] += 1
    return dict(found)
