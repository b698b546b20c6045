"""The part of the script about runs: work whose phase binds, whoever asks for the call."""

from typing import Final

from gateway.client import AsyncClient, Package, RunState
from gateway.demo.scene import (
    ACME,
    OP,
    RUN,
    Command,
    Cue,
    Line,
    Request,
    Stands,
    Step,
    Surprise,
)
from gateway.types.json import JsonObject
from gateway.types.operations import OpState
from gateway.types.outcomes import Status
from gateway.types.runs import Phase

TEMPLATE: Final = "refund"  # of `policies/runs`
_CUSTOMER: Final = "c-1002"
_REFUND: Final[JsonObject] = {
    "customer_id": _CUSTOMER,
    "amount": 20,
    "currency": "EUR",
    "reason": "return postage",
}
_SWAP: Final[JsonObject] = {"customer_id": _CUSTOMER, "subject": "Swap the boots for size 43"}
_BOOTS: Final[JsonObject] = {"customer_id": "c-1004", "subject": "Boots not sent back"}


def _found(result: JsonObject) -> str:
    rows = result.get("customers")
    found = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    if len(found) != 1:
        raise Surprise(f"expected one customer, got {len(found)}")
    return f"{found[0].get('name')}, {found[0].get('id')}"


def _ticket(result: JsonObject) -> str:
    return f"ticket {result.get('id')} for {result.get('customer_id')}"


def _refund(result: JsonObject) -> str:
    return f"refund {result.get('refund_id')}: {result.get('amount')} {result.get('currency')}"


def _lacks(said: JsonObject, phase: Phase) -> list[str]:
    missing = said.get("missing")
    lacks = missing.get(phase.value) if isinstance(missing, dict) else None
    return [str(each) for each in lacks] if isinstance(lacks, list) else []


def _kept(result: JsonObject) -> str:
    """Say what a run has collected, which has to be enough for acting."""
    lacks = _lacks(result, Phase.ACTING)
    if lacks:
        raise Surprise(f"acting still needs {', '.join(lacks)}")
    fields = result.get("fields")
    told = [f"{name}={value}" for name, value in fields.items()] if isinstance(fields, dict) else []
    return f"{', '.join(told)}, with {result.get('evidence')} reference; acting lacks nothing now"


def _stands(result: JsonObject) -> str:
    return f"{result.get('run_id')} is {result.get('phase')}"


def _of_command(row: JsonObject) -> str:
    return f"in {row.get('phase')}; {row.get('note')}"


def _settled(row: JsonObject) -> str:
    return f"{row.get('op_id')}: {row.get('evidence')}"


async def _start(host: AsyncClient, run: str) -> RunState:
    """Begin the first run, as the host that knows for whom its agent works."""
    del run
    return await host.start(
        template=TEMPLATE, user="ana", objective="swap boots that are too small", task_id="t-2"
    )


def _begun(reply: RunState | Package) -> str:
    lacks = reply.missing.get(Phase.ACTING, []) if isinstance(reply, RunState) else []
    if not lacks:
        raise Surprise("nothing is missing for acting")
    return f"{reply.run_id}; acting needs {', '.join(lacks)}"


async def _package(host: AsyncClient, run: str) -> Package:
    return await host.package(run)


def _handed_over(reply: RunState | Package) -> str:
    """Say what a package begins with, which has to be the write of which nobody knows."""
    if not isinstance(reply, Package) or len(reply.unknown) != 1 or not reply.next:
        raise Surprise("expected one operation of which nobody knows, and what to do")
    (first,) = reply.unknown
    if first.arguments is not None or not reply.withheld:
        raise Surprise("it shows arguments of a tool for which the host has no scope")
    return (
        f"{reply.reason}; unknown {len(reply.unknown)} ({first.tool}), "
        f"references {len(reply.evidence)}, withheld {reply.withheld}; next: {reply.next[0]}"
    )


_GUARDED: Final[tuple[Line, ...]] = (
    Request(
        shows="the program around the agent begins a run: what it is for, and by which template",
        asks=f"POST /v1/runs template={TEMPLATE}, user=ana",
        ask=_start,
        status=Phase.CREATED,
        observe=_begun,
    ),
    Step(
        tenant=ACME,
        shows="a read takes it to `retrieving`, and what is found is evidence; the host names the "
        "run beside each call, where the model doesn't see it",
        tool="crm__search_customers",
        arguments={"query": "marek"},
        rule="crm.search",
        in_run=True,
        observe=_found,
    ),
    Step(
        tenant=ACME,
        shows="no money in `retrieving` as long as the run doesn't say for whom",
        tool="desk__refund",
        arguments=_REFUND,
        status=Status.PHASE_BLOCKED,
        code="phase_blocked",
        in_run=True,
    ),
    Step(
        tenant=ACME,
        shows="an id that the model made up: it is looked for among the results of this run",
        tool="run_set_field",
        arguments={"name": "customer_id", "value": "c-1020", "source": "crm.customer_id"},
        status=Status.PROVENANCE_FAILED,
        code="not_seen",
        in_run=True,
    ),
    Step(
        tenant=ACME,
        shows="the right one is there",
        tool="run_set_field",
        arguments={"name": "customer_id", "value": _CUSTOMER, "source": "crm.customer_id"},
        in_run=True,
        observe=_kept,
    ),
    Step(
        tenant=ACME,
        shows="evidence and field are there now, so the same refund takes its run on to `acting`",
        tool="desk__refund",
        arguments=_REFUND,
        rule="desk.refund.small",
        in_run=True,
        observe=_refund,
        events_of="the refund that moved its run",
    ),
)
_PAUSED: Final[tuple[Line, ...]] = (
    Command(
        shows="a person wants a look before anything else is done",
        words=("runs", "pause", RUN, "--reason", "are they in stock?"),
        status=Stands.PAUSED,
        observe=_of_command,
    ),
    Step(
        tenant=ACME,
        shows="the gateway is restarted meanwhile, and the run is as paused as before",
        tool="desk__open_ticket",
        arguments=_SWAP,
        status=Status.PHASE_BLOCKED,
        code="phase_blocked",
        in_run=True,
        cue=Cue.RESTART_THE_GATEWAY,
    ),
    Command(
        shows="they are; the run goes on in the phase that it had",
        words=("runs", "resume", RUN, "--reason", "43 is in stock"),
        status=Phase.ACTING,
        observe=_of_command,
    ),
    Step(
        tenant=ACME,
        shows="the same call passes now",
        tool="desk__open_ticket",
        arguments=_SWAP,
        rule="desk.ticket.open",
        in_run=True,
        observe=_ticket,
    ),
    Step(
        tenant=ACME,
        shows="it may be called completed, since the refund was found in the desk's books",
        tool="run_finish",
        arguments={"outcome": "completed", "note": "postage paid back, swap is on its way"},
        in_run=True,
        observe=_stands,
        shows_books=True,
    ),
)
_HANDED_OVER: Final[tuple[Line, ...]] = (
    Step(
        tenant=ACME,
        shows="another run, which the agent begins by itself; its calls belong to it from now on",
        tool="run_start",
        arguments={"objective": "get Omar Haddad his own boots"},
        observe=_stands,
    ),
    Step(
        tenant=ACME,
        shows="whom it is about",
        tool="crm__search_customers",
        arguments={"query": "omar"},
        rule="crm.search",
        observe=_found,
    ),
    Step(
        tenant=ACME,
        shows="the answer is lost, as before; this time the agent doesn't try again",
        tool="desk__open_ticket",
        arguments=_BOOTS,
        status=Status.INDETERMINATE,
        code="downstream_closed",
        cue=Cue.LOSE_THE_TICKETS_ANSWER,
    ),
    Step(
        tenant=ACME,
        shows="it gives the rest to people, and can change nothing more",
        tool="run_handoff",
        arguments={"reason": "is the ticket open or not?", "to": "tier 2"},
        observe=_stands,
    ),
    Request(
        shows="what tier 2 is given: first that of which nobody knows; no arguments of the desk's, "
        "for which this program has no scope",
        asks="GET /v1/runs/RUN/package",
        ask=_package,
        status=Phase.HANDOFF,
        observe=_handed_over,
    ),
    Command(
        shows="tier 2 looks, finds the ticket, and says so",
        words=("ops", "resolve", OP, "--happened", "--evidence", "the desk has it, t-6"),
        status=OpState.SUCCEEDED,
        observe=_settled,
        shows_books=True,
    ),
)
RUNS: Final[tuple[Line, ...]] = (*_GUARDED, *_PAUSED, *_HANDED_OVER)
