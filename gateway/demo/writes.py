"""The part of the script about writes: each happens once, and what nobody knows is found out."""

from typing import Final

from gateway.demo.scene import ACME, OP, Command, Cue, Line, Step, Surprise
from gateway.types.json import JsonObject
from gateway.types.operations import OpState
from gateway.types.outcomes import Status

_TICKET: Final[JsonObject] = {
    "customer_id": "c-1004",
    "subject": "Wrong parcel",
    "note": "He got somebody else's boots.",
}
_REFUND: Final[JsonObject] = {
    "customer_id": "c-1003",
    "amount": 40,
    "currency": "EUR",
    "reason": "parcel lost",
}


def _ticket(result: JsonObject) -> str:
    return f"ticket {result.get('id')} for {result.get('customer_id')}"


def _the_refund(result: JsonObject, expected: str) -> str:
    rows = result.get("refunds")
    found = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    said = "; ".join(
        f"refund {row.get('refund_id')}: {row.get('amount')} {row.get('currency')}, "
        f"{row.get('status')}"
        for row in found
    )
    if len(found) != 1 or found[0].get("status") != expected:
        raise Surprise(f"expected one refund that is {expected}, got: {said or 'none'}")
    return said


def _booked(result: JsonObject) -> str:
    return _the_refund(result, "booked")


def _cancelled(result: JsonObject) -> str:
    return _the_refund(result, "cancelled")


def _listed(row: JsonObject) -> str:
    return f"{row.get('op_id')}, {row.get('tool')} for {row.get('user')}@{row.get('tenant')}"


def _undone(row: JsonObject) -> str:
    return f"{row.get('op_id')}, undone by {row.get('undo')}"


_LOST_TICKET: Final = (
    Step(
        tenant=ACME,
        shows="the desk opens the ticket, and the connection breaks before its answer is back",
        tool="desk__open_ticket",
        arguments=_TICKET,
        status=Status.INDETERMINATE,
        code="downstream_closed",
        cue=Cue.LOSE_THE_TICKETS_ANSWER,
    ),
    Step(
        tenant=ACME,
        shows="the agent tries again: it is sent with the same key, by which the desk knows it",
        tool="desk__open_ticket",
        arguments=_TICKET,
        rule="desk.ticket.open",
        observe=_ticket,
    ),
    Step(
        tenant=ACME,
        shows="and again in other words, as models do: that makes no second ticket",
        tool="desk__open_ticket",
        arguments={**_TICKET, "note": "Omar was sent the boots of another customer."},
        status=Status.VARIANT_OF,
    ),
    Step(
        tenant=ACME,
        shows="in the same words it is told the same answer, and nothing is sent",
        tool="desk__open_ticket",
        arguments=_TICKET,
        replayed=True,
        observe=_ticket,
        shows_books=True,
    ),
)
_LOST_REFUND: Final[tuple[Line, ...]] = (
    Step(
        tenant=ACME,
        shows="the desk dies after it has booked a refund: nobody can know, and so it is said",
        tool="desk__refund",
        arguments=_REFUND,
        status=Status.INDETERMINATE,
        code="downstream_closed",
        cue=Cue.DIE_IN_THE_REFUND,
    ),
    Command(
        shows="people see of which operations nobody knows",
        words=("ops", "list", "--state", "indeterminate"),
        status=OpState.INDETERMINATE,
        observe=_listed,
    ),
    Step(
        tenant=ACME,
        shows="the desk is back: the gateway looks the reference up there, finds the refund and "
        "doesn't pay again; `result_invalid` says that there is no answer to give, not that it "
        "failed",
        tool="desk__refund",
        arguments=_REFUND,
        status=Status.RESULT_INVALID,
        code="answer_lost",
        replayed=True,
        cue=Cue.RESTART_THE_DESK,
    ),
    Step(
        tenant=ACME,
        shows="so the agent reads what it made",
        tool="desk__find_refunds",
        arguments={"customer_id": "c-1003"},
        rule="desk.refunds",
        observe=_booked,
        shows_books=True,
    ),
)
_UNDONE_REFUND: Final[tuple[Line, ...]] = (
    Command(
        shows="the parcel turned up: a person has the refund undone, in the way of its contract",
        words=("ops", "compensate", OP, "--execute", "--wait", "60s"),
        status=OpState.COMPENSATED,
        observe=_undone,
    ),
    Step(
        tenant=ACME,
        shows="it is cancelled, and was read back",
        tool="desk__find_refunds",
        arguments={"customer_id": "c-1003"},
        rule="desk.refunds",
        observe=_cancelled,
        shows_books=True,
    ),
)
WRITES: Final[tuple[Line, ...]] = (*_LOST_TICKET, *_LOST_REFUND, *_UNDONE_REFUND)
