"""The part of the script about people: they decide about one exact call, which is made once."""

from typing import Final

from gateway.demo.scene import ACME, BINDING, REQUEST, Command, Line, Step, Surprise
from gateway.types.approvals import ApprovalState, Cast
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Status

LARGE: Final = 400


def refund_of(amount: Json, reason: str = "charged twice") -> JsonObject:
    """Return the arguments of a refund to the customer whose ticket it is about."""
    return {
        "customer_id": "c-1001",
        "amount": amount,
        "currency": "EUR",
        "reason": reason,
    }


def refund(result: JsonObject) -> str:
    """Put a refund in words."""
    return f"refund {result.get('refund_id')}: {result.get('amount')} {result.get('currency')}"


def _summary(row: JsonObject) -> str:
    """Say what people see first, which has to be the call that was held."""
    rows = row.get("rows")
    shown = [each for each in rows if isinstance(each, dict)] if isinstance(rows, list) else []
    texts = {str(each.get("label")): str(each.get("text")) for each in shown}
    summary = next((text for text in texts.values() if f"Pay {LARGE} EUR" in text), "")
    if not summary:
        raise Surprise("the request is about something else")
    return f"{row.get('approval_id')}, binding {row.get('binding_short')}: {summary}"


def _message(row: JsonObject) -> str:
    return str(row.get("message", ""))


def _closed(row: JsonObject) -> str:
    return f"{row.get('approval_id')}: {row.get('reason') or 'nobody decided in time'}"


def _approve(shows: str, who: str, status: Cast) -> Command:
    return Command(
        shows=shows,
        words=("approvals", "approve", REQUEST, "--as", who, "--binding", BINDING, "--yes"),
        status=status,
        observe=_message,
    )


def _held(shows: str, amount: int, *, events_of: str = "") -> Step:
    return Step(
        tenant=ACME,
        shows=shows,
        tool="desk__refund",
        arguments=refund_of(amount),
        status=Status.APPROVAL_PENDING,
        rule="desk.refund.large",
        code="approval_pending",
        events_of=events_of,
    )


_ASKED: Final[tuple[Line, ...]] = (
    _held(
        "a larger one waits for a person of finance; the agent is told, and may end its turn",
        LARGE,
        events_of="the one that was held",
    ),
    Command(
        shows="people see the call as it will be made, whole, and what their word is bound to",
        words=("approvals", "show", REQUEST),
        status=ApprovalState.PENDING,
        observe=_summary,
    ),
    _approve("ana has the role, but it is her own agent that asks", "ana", Cast.SELF_APPROVAL),
    _approve("fern of finance says yes; nothing is sent yet", "fern", Cast.APPROVED),
    _approve("a second approver comes too late", "ben", Cast.ALREADY_DECIDED),
)
_USED: Final[tuple[Line, ...]] = (
    _held("another amount is another call, about which people are asked anew", LARGE + 50),
    Step(
        tenant=ACME,
        shows="the agent makes the call that was approved: it is weighed anew, and paid",
        tool="desk__refund",
        arguments=refund_of(LARGE),
        rule="desk.refund.large",
        observe=refund,
    ),
    Step(
        tenant=ACME,
        shows="once more: the approval is used up, so this is the same answer, and nothing is sent",
        tool="desk__refund",
        arguments=refund_of(LARGE),
        replayed=True,
        observe=refund,
        shows_books=True,
    ),
)
_TOO_LATE: Final[tuple[Line, ...]] = (
    Step(
        tenant=ACME,
        shows="where nobody decides in time, that is a no (this rule waits for one second)",
        tool="desk__refund",
        arguments=refund_of(30, "goodwill"),
        status=Status.APPROVAL_EXPIRED,
        rule="demo.refund.goodwill",
    ),
    Command(
        shows="it is kept, with the reason",
        words=("approvals", "list", "--state", "expired"),
        status=ApprovalState.EXPIRED,
        observe=_closed,
    ),
    _approve("and no yes brings it back", "fern", Cast.TOO_LATE),
)
DECISIONS: Final[tuple[Line, ...]] = (*_ASKED, *_USED, *_TOO_LATE)
